// SPDX-License-Identifier: Apache-2.0
// commands/output_file.cpp — written beside it, then renamed.
#include "commands/output_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace commands {
namespace {

std::string beside(const std::string& file) { return file + ".new"; }

}  // namespace

void check_output(const std::string& file) {
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(file, ignored).parent_path();
  if (!std::filesystem::is_directory(folder, ignored))
    throw std::invalid_argument(fmt::format("--output: there is no folder {}", folder.string()));
  const bool can_write = std::ofstream(beside(file)).is_open();
  std::filesystem::remove(beside(file), ignored);
  if (!can_write)
    throw std::invalid_argument(fmt::format("--output: cannot write into {}", folder.string()));
}

void write_output(const std::string& file, const std::string& text) {
  std::ofstream out(beside(file), std::ios::binary);
  out << text << std::flush;
  std::error_code failed;
  if (out) std::filesystem::rename(beside(file), file, failed);
  if (out && !failed) return;
  std::error_code ignored;
  std::filesystem::remove(beside(file), ignored);
  throw std::runtime_error(fmt::format("cannot write {}", file));
}

}  // namespace commands
