// SPDX-License-Identifier: Apache-2.0
// collectives/planner/schedule_file.hpp — file format of one allgather's schedule.
#pragma once
#include <span>
#include <string>

#include "base/settings.hpp"
#include "collectives/planner/contender.hpp"

namespace planning {

/// Hosts of an allgather and the sizes of their blocks.
struct Blocks {
  std::span<const std::string> hosts;  ///< names, by rank
  const collectives::Counts& counts;
  Bytes element_bytes = 1;
};

/// Returns the file without comments. Equal contenders give equal bytes. Example:
///
///     name: min3
///     ports: {sending: 1, receiving: 1, in_order: true}
///     blocks: {a-0: 1000, a-1: 1000}     # bytes of each host, by rank
///     pieces:                            # owner, first byte of its block, number of bytes
///       - [a-0, 0, 1000]
///       - [a-1, 0, 1000]
///     transfers:                         # from, to, piece, begin and end in ns
///       - [a-0, a-1, 0, 0, 50000]
///       - [a-1, a-0, 1, 0, 50000]
///
/// If an algorithm of the library does the allgather, `schedule: magpie` replaces pieces and
/// transfers. `streams` is present if messages are striped.
/// Throws: std::length_error if the text exceeds the size limit of settings.
std::string print(const Contender& contender, const Blocks& blocks);

/// Reads a contender. These are mistakes:
/// - blocks other than `blocks`;
/// - pieces that end within an element;
/// - transfers from hosts without the piece, or to hosts that have it;
/// - pieces that do not reach every host.
Contender read_schedule(const base::Settings& settings, const Blocks& blocks,
                        base::Mistakes& mistakes);
/// Throws: ConfigError with all mistakes.
Contender load_schedule(const std::string& file, const Blocks& blocks);

}  // namespace planning
