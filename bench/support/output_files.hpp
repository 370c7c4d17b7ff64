// SPDX-License-Identifier: Apache-2.0
// bench/support/output_files.hpp — output files of options: checked before a run, written after it
#pragma once
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

/// Checks pairs of an option and its file; "" = no file. Throws std::invalid_argument for the first
/// file that cannot be written. "-" is accepted for --json only.
void check_writable(std::initializer_list<std::pair<const char*, std::string>> files);

/// Returns whether the file of --json is the standard output. If so, the program must print nothing
/// else there.
bool is_standard_output(const std::string& file);
/// Writes the JSON to the file; does nothing if it is "". Throws std::runtime_error on failure.
void write_json(const std::string& file, const nlohmann::ordered_json& json);
/// Writes the text to the file. Throws std::runtime_error that names the option, on failure.
void write_file(const char* option, const std::string& file, std::string_view text);

}  // namespace bench
