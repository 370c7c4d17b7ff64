// SPDX-License-Identifier: Apache-2.0
// commands/output_file.hpp — writing of output files, and the early check of `--output`.
#pragma once
#include <fmt/format.h>

#include <iostream>
#include <stdexcept>
#include <string>

#include "base/output_file.hpp"

namespace commands {

/// Checks that the file can be written. Commands call this function before a long computation,
/// because its results would otherwise be lost.
/// Throws: std::invalid_argument that names `--output` if the file cannot be written.
inline void check_output(const std::string& file) {
  try {
    base::check_can_write(file);
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(fmt::format("--output: {}", error.what()));
  }
}

/// Writes text to a file, or to the standard output if the name is "-".
inline void write_text(const std::string& name, const std::string& text) {
  if (name == "-")
    std::cout << text;
  else
    base::write_file(name, text);
}

}  // namespace commands
