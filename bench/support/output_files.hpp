// SPDX-License-Identifier: Apache-2.0
// bench/support/output_files.hpp — output files named by options: checks before the run, and
// writing
#pragma once
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

/// Checks that the files can be written. Each pair is an option and its file; "" = no file. Throws
/// std::invalid_argument if a file cannot be written. Only --json may have the file "-".
void check_writable(std::initializer_list<std::pair<const char*, std::string>> files);

/// Returns whether `file`, the file of --json, is the standard output. If so, the program must
/// print nothing but the JSON there.
bool is_standard_output(const std::string& file);
/// Writes the JSON to the file; does nothing if `file` is "". Throws std::runtime_error on failure.
void write_json(const std::string& file, const nlohmann::ordered_json& json);
/// Writes the text to the file. On failure, throws a std::runtime_error that names the option.
void write_file(const char* option, const std::string& file, std::string_view text);

}  // namespace bench
