// SPDX-License-Identifier: Apache-2.0
// tests/support/golden.hpp — expected outputs in files, which scripts/approve rewrites.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace test_support {

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Returns the text of the file `name` in tests/golden. If the environment has PATHS_APPROVE=1,
/// first replaces that text with `found`. A person must read the difference before it is committed.
inline std::string golden(const std::string& name, const std::string& found) {
  const std::filesystem::path file =
      std::filesystem::path(PATHS_SOURCE_DIR) / "tests" / "golden" / name;
  const char* const approve = std::getenv("PATHS_APPROVE");
  if (approve != nullptr && std::string(approve) == "1") {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << found;
  }
  return read_text(file);
}

}  // namespace test_support
