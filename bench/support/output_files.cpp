// SPDX-License-Identifier: Apache-2.0
// bench/support/output_files.cpp — opens each for appending; writes JSON.
#include "bench/support/output_files.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace bench {

void check_writable(std::initializer_list<std::pair<const char*, std::string>> files) {
  for (const auto& [option, file] : files) {
    if (file.empty() || (is_standard_output(file) && std::string_view(option) == "--json"))
      continue;
    if (is_standard_output(file) || !std::ofstream(file, std::ios::app))
      throw std::invalid_argument(
          fmt::format("{}: expected a file that can be written, found '{}'", option, file));
  }
}

bool is_standard_output(const std::string& file) { return file == "-"; }

void write_json(const std::string& file, const nlohmann::ordered_json& json) {
  if (file.empty()) return;
  const std::string text = json.dump(2) + '\n';
  if (is_standard_output(file)) return fmt::print("{}", text);
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (!stream) throw std::runtime_error(fmt::format("--json: cannot write '{}'", file));
}

}  // namespace bench
