// SPDX-License-Identifier: Apache-2.0
// tests/support/allocations.hpp — counters of allocations and allocated bytes.
#pragma once
#include <cstdint>

namespace test_support {

/// Returns the number of calls of `operator new` in the whole process. It stays 0 under sanitizers,
/// which have an `operator new` of their own.
std::uint64_t allocations();

/// Counts later allocations of the calling OS thread for `whose`, in addition to allocations().
/// `whose` is 0 or 1; -1 = for neither.
void allocate_for(int whose);
std::uint64_t allocations_for(int whose);
/// Bytes of all counted allocations, even if the memory was freed later.
std::uint64_t allocated_bytes_for(int whose);

}  // namespace test_support
