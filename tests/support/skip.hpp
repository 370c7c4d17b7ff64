// SPDX-License-Identifier: Apache-2.0
// tests/support/skip.hpp — cases that cannot run on this machine.
#pragma once
#include <string_view>

namespace test_support {

/// Marks the current case, or the rest of it, as skipped; the caller must then return. The test
/// program exits with 77 if nothing failed and it skipped all cases that it ran. `scripts/test`
/// counts skipped cases by reason.
void skip(std::string_view reason);

}  // namespace test_support
