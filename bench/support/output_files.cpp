// SPDX-License-Identifier: Apache-2.0
// bench/support/output_files.cpp — checks and writes of files, with errors that name the option
#include "bench/support/output_files.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "base/output_file.hpp"

namespace bench {

void check_writable(std::initializer_list<std::pair<const char*, std::string>> files) {
  for (const auto& [option, file] : files) {
    if (file.empty() || (is_standard_output(file) && std::string_view(option) == "--json"))
      continue;
    const std::string expected =
        fmt::format("{}: expected a file that can be written, found '{}'", option, file);
    if (is_standard_output(file)) throw std::invalid_argument(expected);
    try {
      base::check_can_write(file);
    } catch (const base::OutputError& error) {
      throw std::invalid_argument(fmt::format("{}: {}", expected, error.reason));
    }
  }
}

bool is_standard_output(const std::string& file) { return file == "-"; }

void write_json(const std::string& file, const nlohmann::ordered_json& json) {
  if (file.empty()) return;
  const std::string text = json.dump(2) + '\n';
  if (is_standard_output(file)) return fmt::print("{}", text);
  write_file("--json", file, text);
}

void write_file(const char* option, const std::string& file, std::string_view text) {
  try {
    base::write_file(file, text);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", option, error.what()));
  }
}

}  // namespace bench
