// SPDX-License-Identifier: Apache-2.0
// commands/config_copy.hpp — a config that can be read once, for processes that all read it.
#pragma once
#include <string>

#include "base/descriptor.hpp"
#include "base/settings.hpp"

namespace commands {

/// Reads a config's file once. A pipe or standard input cannot be read again, so processes that are
/// started get a copy.
///
/// Owns: the copy, which goes with the last process that has it open.
class ConfigCopy {
 public:
  /// Throws ConfigError when the file cannot be read or is not YAML, and std::system_error when no
  /// copy can be made.
  explicit ConfigCopy(const std::string& file);
  const base::Settings& settings() const { return settings_; }
  /// The file for processes that this one starts: the one that was given, or the copy.
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  base::Descriptor copy_;
  base::Settings settings_;
};

}  // namespace commands
