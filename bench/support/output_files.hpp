// SPDX-License-Identifier: Apache-2.0
// bench/support/output_files.hpp — files that options name: looked at before a run, written after.
#pragma once
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

/// Pairs of an option and the file that it names, "" for none. Throws std::invalid_argument for the
/// first that cannot be written. "-" is a file for --json alone.
void check_writable(std::initializer_list<std::pair<const char*, std::string>> files);

/// What --json names is the standard output, where nothing else is to be printed then.
bool is_standard_output(const std::string& file);
/// Writes what --json names; nothing when that is "". Throws std::runtime_error when it cannot.
void write_json(const std::string& file, const nlohmann::ordered_json& json);
/// Throws std::runtime_error, which names the option, when it cannot.
void write_file(const char* option, const std::string& file, std::string_view text);

}  // namespace bench
