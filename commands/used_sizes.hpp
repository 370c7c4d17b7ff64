// SPDX-License-Identifier: Apache-2.0
// commands/used_sizes.hpp — collectives and sizes that a traced run used.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "collectives/schedule/collective_spec.hpp"
#include "collectives/tuner/decision_table.hpp"

namespace commands {

/// Operations of one collective and one size in a traced run.
struct UsedSize {
  collectives::Collective collective = collectives::Collective::barrier;
  tuner::Bytes bytes = 0;  ///< size as tables of decisions count it; 0 for a barrier
  std::uint64_t operations = 0;
  /// Sum of the operations' times. A time is the longest time between the arrival of a host's first
  /// member and the end of the host's part.
  base::Nanos time{0};
};

struct UsedSizes {
  std::vector<UsedSize> sizes;   ///< those with the greatest time first
  std::size_t hosts = 0;         ///< number of hosts with threads in the trace
  std::uint64_t of_parts = 0;    ///< operations of groups without some of these hosts
  std::uint64_t incomplete = 0;  ///< operations that failed, or of which a host has no record
};

/// Reads which operations of groups a traced run carried out between all hosts with threads.
/// Declared collectives that use a schedule count as well.
/// Memory: grows with the number of different sizes.
/// Throws: std::runtime_error if `trace` is not a trace or cannot be read.
UsedSizes read_used_sizes(const std::string& trace);

/// Returns the size of an operation as tables of decisions count it. `bytes` is the largest array
/// of a member.
tuner::Bytes size_of_operation(collectives::Collective collective, std::uint64_t bytes,
                               std::uint64_t hosts, std::uint64_t members);

}  // namespace commands
