// SPDX-License-Identifier: Apache-2.0
// bench/support/output_files.cpp — opens each for appending.
#include "bench/support/output_files.hpp"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

namespace bench {

void check_writable(std::initializer_list<std::pair<const char*, std::string>> files) {
  for (const auto& [option, file] : files)
    if (!file.empty() && !std::ofstream(file, std::ios::app))
      throw std::invalid_argument(
          fmt::format("{}: expected a file that can be written, found '{}'", option, file));
}

}  // namespace bench
