// SPDX-License-Identifier: Apache-2.0
// commands/output_file.hpp — the option `--output` of commands that work for long.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "base/output_file.hpp"

namespace commands {

/// Throws std::invalid_argument, which names `--output`, if the file could not be written: known
/// before the work.
inline void check_output(const std::string& file) {
  try {
    base::check_can_write(file);
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(fmt::format("--output: {}", error.what()));
  }
}

}  // namespace commands
