// SPDX-License-Identifier: Apache-2.0
// tests/support/allocations.hpp — counters of allocations and allocated bytes.
#pragma once
#include <cstdint>

namespace test_support {

/// Returns the number of calls of `operator new` in the whole process. It stays 0 under sanitizers,
/// which have an `operator new` of their own.
std::uint64_t allocations();

/// Selects the counter, 0 or 1, that also counts later allocations of the calling OS thread. -1 =
/// no counter other than allocations().
void allocate_for(int whose);
std::uint64_t allocations_for(int whose);
/// Returns the total size of the allocations that counter `whose` has counted, including memory
/// that was freed later.
std::uint64_t allocated_bytes_for(int whose);

}  // namespace test_support
