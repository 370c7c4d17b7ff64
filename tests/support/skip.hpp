// SPDX-License-Identifier: Apache-2.0
// tests/support/skip.hpp — cases that cannot run on this machine.
#pragma once
#include <string_view>

namespace test_support {

/// Marks the current case as skipped, wholly or from here on; the case then returns. The test
/// program exits with 77 if nothing failed, and `scripts/test` counts the case by its reason.
void skip(std::string_view reason);

}  // namespace test_support
