// SPDX-License-Identifier: Apache-2.0
// tests/support/thrown.hpp — texts of the errors that a function throws.
#pragma once
#include <string>
#include <utility>

#include "base/usage_error.hpp"

namespace test_support {

/// Returns the text of the error that `work` throws, or "nothing".
template <class Error, class Work>
std::string thrown(Work&& work) {
  try {
    std::forward<Work>(work)();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

/// Returns the text of the UsageError that `work` throws, or "nothing". The name of the running
/// context is removed from the text.
template <class Work>
std::string mistake_of(Work&& work) {
  try {
    std::forward<Work>(work)();
  } catch (const base::UsageError& error) {
    return error.mistake();
  }
  return "nothing";
}

}  // namespace test_support
