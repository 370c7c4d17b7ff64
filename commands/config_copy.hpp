// SPDX-License-Identifier: Apache-2.0
// commands/config_copy.hpp — config file that is read once, for use by several processes.
#pragma once
#include <string>

#include "base/descriptor.hpp"
#include "base/settings.hpp"

namespace commands {

/// A config file that is read only once. If the file is a pipe or the standard input, it cannot be
/// read again. The processes that this process starts then read a copy.
///
/// Owns: the copy, an unlinked file. The kernel removes it when the last process closes it.
class ConfigCopy {
 public:
  /// Throws: ConfigError if the file cannot be read or is not YAML; std::system_error if the copy
  ///         cannot be made.
  explicit ConfigCopy(const std::string& file);
  const base::Settings& settings() const { return settings_; }
  /// Returns the name of the file that started processes can read: the given file, or its copy.
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  base::Descriptor copy_;
  base::Settings settings_;
};

}  // namespace commands
