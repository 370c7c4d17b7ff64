// SPDX-License-Identifier: Apache-2.0
// tests/groups/random_operations.hpp — a random run of a random config with operations of a group.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/runtime.hpp"

namespace test_support {

/// Up to 3 clusters of up to 4 hosts with up to 3 threads do so many operations, collectives,
/// sizes, counts, roots and schedules drawn, several under way, with pauses: checks each value.
void try_operations(std::uint64_t seed, runtime::ClockKind clock, std::size_t operations);

}  // namespace test_support
