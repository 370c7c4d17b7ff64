// SPDX-License-Identifier: Apache-2.0
// tests/support/mistake_of.hpp — text of a usage error.
#pragma once
#include <functional>
#include <string>

#include "base/usage_error.hpp"

namespace test_support {

/// Returns the mistake of the UsageError that `call` throws, without the running context, or
/// "nothing".
inline std::string mistake_of(const std::function<void()>& call) {
  try {
    call();
    return "nothing";
  } catch (const base::UsageError& error) {
    return error.mistake();
  }
}

}  // namespace test_support
