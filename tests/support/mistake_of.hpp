// SPDX-License-Identifier: Apache-2.0
// tests/support/mistake_of.hpp — text of a usage error.
#pragma once
#include <functional>
#include <string>

#include "base/usage_error.hpp"

namespace test_support {

/// Returns the text of the UsageError that `call` throws, or "nothing". The name of the running
/// context is removed from the text.
inline std::string mistake_of(const std::function<void()>& call) {
  try {
    call();
    return "nothing";
  } catch (const base::UsageError& error) {
    return error.mistake();
  }
}

}  // namespace test_support
