// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/verifier.hpp — proof that a schedule is correct, by execution on symbols.
#pragma once
#include <string>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

struct Verdict {
  /// First mistake, with participant, step and explanation; empty if the schedule is correct.
  std::string mistake;
  Order order = Order::canonical;  ///< order of summation of a reduction
  /// Least window with which the schedule terminates without buffers: the number of unfinished
  /// steps that each participant must admit at the same time. With this window, the schedule also
  /// terminates if each message waits for its receiving step (rendezvous), and on transports that
  /// never return credit.
  std::size_t least_window = 0;
  bool holds() const { return mistake.empty(); }
};

/// Verifies these properties of a schedule:
/// 1. The schedule terminates if its steps are executed one by one, with buffered sends and
///    blocking receives. Both sides of a message have the same length, and no message is left over.
///    No step reads undefined cells. Each value that a step writes to a cell is read before the
///    cell is overwritten. Each value in a scratch cell is read at least once. `in` is never
///    written, and `out` only within its range. No participant sends to itself.
/// 2. The schedule also terminates without any buffering. A message is then transferred only when
///    both of its steps are admitted and no unfinished earlier step conflicts with these two steps.
///    Messages of a channel are transferred in order.
/// 3. The result is correct. Each cell has the expected value, or is a sum that contains each
///    contribution exactly once (in a barrier at least once). Participants of an allreduce may get
///    different expressions, but the order is then Order::differs.
///
/// The function is intended for vectors with a few elements per participant: its time is
/// proportional to the number of elements that steps move.
Verdict verify(const CollectiveSpec& task, const Schedule& schedule);

/// Returns an error message if `order` is looser than the order of summation that the algorithm
/// declares, otherwise "". `order` is the order that verify() found.
std::string wrong_order(const Algorithm& algorithm, const CollectiveSpec& task,
                        const Parameters& parameters, Order order);

/// Verifies the schedule of an algorithm. Also verifies that the order of summation of the schedule
/// is the order that the algorithm declares, or a stricter order.
Verdict verify(const Algorithm& algorithm, const CollectiveSpec& task,
               const Parameters& parameters);

}  // namespace collectives
