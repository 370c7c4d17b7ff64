// SPDX-License-Identifier: Apache-2.0
// collectives/planner/schedule_file.hpp — how to do one allgather, in a file: to be read, kept, and
// executed.
#pragma once
#include <span>
#include <string>

#include "base/settings.hpp"
#include "collectives/planner/contender.hpp"

namespace planning {

/// Whose blocks an allgather has, and how large they are.
struct Blocks {
  std::span<const std::string> hosts;  ///< names, by rank
  const collectives::Counts& counts;
  Bytes element_bytes = 1;
};

/// The file, without comments; the same contender gives the same bytes:
///
///     name: min3
///     ports: {sending: 1, receiving: 1, in_order: true}
///     blocks: {a-0: 1000, a-1: 1000}     # bytes of each host, by rank
///     pieces:                            # of whom, from which byte of its block, how many
///       - [a-0, 0, 1000]
///       - [a-1, 0, 1000]
///     transfers:                         # from, to, piece, begin and end in ns
///       - [a-0, a-1, 0, 0, 50000]
///       - [a-1, a-0, 1, 0, 50000]
///
/// or, where an algorithm of the library does it, `schedule: magpie` in place of pieces and
/// transfers; with `streams` where messages are striped.
/// Throws: std::length_error for one that is larger than settings may be.
std::string print(const Contender& contender, const Blocks& blocks);

/// Mistakes are blocks that are not these, or whose pieces end within an element; transfers by
/// hosts that do not have what they send, or to who has it; pieces that do not come everywhere.
Contender read_schedule(const base::Settings& settings, const Blocks& blocks,
                        base::Mistakes& mistakes);
/// Throws ConfigError with all of them.
Contender load_schedule(const std::string& file, const Blocks& blocks);

}  // namespace planning
