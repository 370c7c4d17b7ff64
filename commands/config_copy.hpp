// SPDX-License-Identifier: Apache-2.0
// commands/config_copy.hpp — a config that is read once, for several processes.
#pragma once
#include <string>

#include "base/descriptor.hpp"
#include "base/settings.hpp"

namespace commands {

/// A config file that is read only once. A pipe or standard input cannot be read again, so started
/// processes get a copy of it.
///
/// Owns: the copy, which the kernel removes when the last process closes it.
class ConfigCopy {
 public:
  /// Throws: ConfigError if the file cannot be read or is not YAML; std::system_error if the copy
  ///         cannot be made.
  explicit ConfigCopy(const std::string& file);
  const base::Settings& settings() const { return settings_; }
  /// Returns the file for processes that this one starts: the given file, or the copy of it.
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  base::Descriptor copy_;
  base::Settings settings_;
};

}  // namespace commands
