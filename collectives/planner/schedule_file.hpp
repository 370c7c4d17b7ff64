// SPDX-License-Identifier: Apache-2.0
// collectives/planner/schedule_file.hpp — file format for the schedule of one allgather.
#pragma once
#include <span>
#include <string>

#include "base/settings.hpp"
#include "collectives/planner/contender.hpp"

namespace planning {

/// The hosts of an allgather, and the sizes of their blocks.
struct Blocks {
  std::span<const std::string> hosts;  ///< names of the hosts, in rank order
  const collectives::Counts& counts;
  Bytes element_bytes = 1;
};

/// Returns a contender (contender.hpp) as the text of a file. Equal contenders give equal bytes.
/// Example, to which comments were added:
///
///     name: min3
///     ports: {sending: 1, receiving: 1, in_order: true}
///     blocks: {a-0: 1000, a-1: 1000}     # bytes of each host's block, by rank
///
///     pieces:                            # owner, first byte of its block, number of bytes
///       - [a-0, 0, 1000]                 # piece 0: the whole block of a-0.
///       - [a-1, 0, 1000]
///
///     transfers:                         # from, to, piece, begin and end in ns
///       - [a-0, a-1, 0, 0, 50000]        # a-0 sends piece 0 to a-1.
///       - [a-1, a-0, 1, 0, 50000]
///
/// If the contender is an algorithm of the library, a line such as `schedule: magpie` replaces
/// pieces and transfers. The key `streams` is present if the frames of each message are spread over
/// several streams.
/// Throws: std::length_error if the text exceeds the size limit of settings.
std::string print(const Contender& contender, const Blocks& blocks);

/// Reads a contender, which is an algorithm or a plan for an allgather, from a text in the format
/// of print(). Adds a mistake in each of these cases:
/// - the blocks in the file differ from `blocks`;
/// - a piece ends within an element;
/// - the sender of a transfer does not have the piece, or the receiver has it already;
/// - a piece does not reach every host.
Contender read_schedule(const base::Settings& settings, const Blocks& blocks,
                        base::Mistakes& mistakes);
/// Reads a contender, as read_schedule() does, from the file with this name.
/// Throws: ConfigError that lists all mistakes (see read_schedule()).
Contender load_schedule(const std::string& file, const Blocks& blocks);

}  // namespace planning
