// SPDX-License-Identifier: Apache-2.0
// tests/support/environment.hpp — number of random cases and their first seed, from the variables
// PATHS_SEEDS and PATHS_SEED.
#pragma once
#include <cstdint>
#include <cstdlib>

namespace test_support {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

/// Returns `cases`, or an eighth of them under a sanitizer, where each case takes about ten times
/// as long.
constexpr std::uint64_t or_fewer(std::uint64_t cases) {
#if defined(PATHS_ASAN) || defined(PATHS_TSAN)
  return (cases + 7) / 8;
#else
  return cases;
#endif
}

}  // namespace test_support
