// SPDX-License-Identifier: Apache-2.0
// commands/output_file.hpp — early check of the option `--output`.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "base/output_file.hpp"

namespace commands {

/// Checks that the file can be written. Called before a long computation, whose results would be
/// lost.
/// Throws: std::invalid_argument that names `--output` if the file cannot be written.
inline void check_output(const std::string& file) {
  try {
    base::check_can_write(file);
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(fmt::format("--output: {}", error.what()));
  }
}

}  // namespace commands
