// SPDX-License-Identifier: Apache-2.0
// tests/support/run_key.hpp — run keys for hosts that a test starts without `paths run`.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "paths/keys/run_key.hpp"

namespace test_support {

/// Returns a new run key.
inline std::shared_ptr<const paths::RunKey> new_run_key() {
  return std::make_shared<const paths::RunKey>(paths::Secret::random());
}

/// Key that is made before main(), so that all processes that the test forks have the same key.
inline const std::shared_ptr<const paths::RunKey> key_of_test_process = new_run_key();

/// Returns the run key of this test process and of the processes that it forks.
inline const std::shared_ptr<const paths::RunKey>& run_key() { return key_of_test_process; }

inline std::string digits_of(const paths::RunKey& key) {
  std::array<char, 2 * paths::key_bytes> digits{};
  key.secret().write_digits(digits);
  return {digits.data(), digits.size()};
}

}  // namespace test_support
