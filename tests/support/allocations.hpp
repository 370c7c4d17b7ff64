// SPDX-License-Identifier: Apache-2.0
// tests/support/allocations.hpp — how often memory was asked for, and how much.
#pragma once
#include <cstdint>

namespace test_support {

/// By `operator new`, in the whole process. Sanitizers have an own one: there it stays 0.
std::uint64_t allocations();

/// Whose the calling OS thread's allocations are from now on, besides: 0 or 1; -1 is nobody's.
void allocate_for(int whose);
std::uint64_t allocations_for(int whose);
std::uint64_t allocated_bytes_for(int whose);  ///< in total, whether they were freed or not

}  // namespace test_support
