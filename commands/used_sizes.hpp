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
  tuner::Bytes bytes = 0;  ///< size as DecisionTable defines it; 0 for a barrier
  std::uint64_t operations = 0;
  /// Sum of the times of all operations. Each host has a time: from the arrival of its first member
  /// to the end of the host's part. The time of an operation is the longest time of a host.
  base::Nanos time{0};
};

struct UsedSizes {
  std::vector<UsedSize> sizes;   ///< collectives and sizes, by descending UsedSize::time
  std::size_t hosts = 0;         ///< number of hosts with threads in the trace
  std::uint64_t of_parts = 0;    ///< number of operations in which only some of `hosts` took part
  std::uint64_t incomplete = 0;  ///< number of operations that failed or lack a host's record
};

/// Reads from a trace the operations of groups in which all hosts with threads took part. Declared
/// collectives that use a schedule are also counted.
/// Memory: grows with the number of different sizes.
/// Throws: std::runtime_error if `trace` is not a trace or cannot be read.
UsedSizes read_used_sizes(const std::string& trace);

/// Returns the size of an operation, as DecisionTable defines it. `bytes` is the size of the
/// largest array of a member.
tuner::Bytes size_of_operation(collectives::Collective collective, std::uint64_t bytes,
                               std::uint64_t hosts, std::uint64_t members);

}  // namespace commands
