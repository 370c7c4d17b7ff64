// SPDX-License-Identifier: Apache-2.0
// tests/support/environment.hpp — PATHS_SEEDS, PATHS_SEED: how many random cases, from which on.
#pragma once
#include <cstdint>
#include <cstdlib>

namespace test_support {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

}  // namespace test_support
