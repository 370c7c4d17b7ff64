// SPDX-License-Identifier: Apache-2.0
// tests/support/allocations.hpp — how often memory was asked for.
#pragma once
#include <cstdint>

namespace test_support {

/// By `operator new`, in the whole process. Sanitizers have an own one: there it stays 0.
std::uint64_t allocations();

}  // namespace test_support
