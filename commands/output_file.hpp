// SPDX-License-Identifier: Apache-2.0
// commands/output_file.hpp — a file that a command writes: whole, or not at all.
#pragma once
#include <string>

namespace commands {

/// Throws: std::invalid_argument, which names `--output`, where it could not be written: for who
/// wants to know that before the work.
void check_output(const std::string& file);
/// The old file stays until the new one is there. Throws: std::runtime_error.
void write_output(const std::string& file, const std::string& text);

}  // namespace commands
