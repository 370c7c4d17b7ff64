// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/verifier.hpp — proof that a schedule is correct, by execution on symbols.
#pragma once
#include <string>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Messages and elements in one direction between two participants or groups.
struct Flow {
  Count messages = 0;
  Count elements = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

/// Number of messages and elements by sender, by receiver and between clusters.
struct Traffic {
  std::vector<Flow> sent;      ///< indexed by participant
  std::vector<Flow> received;  ///< indexed by participant
  std::vector<Flow> crossing;  ///< indexed by pair of clusters: from * clusters + to
  Flow all;
  Flow across;  ///< between different clusters
};

struct Verdict {
  /// First mistake, with participant, step and explanation; empty if the schedule is correct.
  std::string mistake;
  Order order = Order::canonical;  ///< order of summation of a reduction
  /// Least number of unfinished steps that each participant must admit so that the schedule ends
  /// without buffers. This covers transports whose credit never arrives, and rendezvous.
  std::size_t least_window = 0;
  Traffic traffic;
  bool holds() const { return mistake.empty(); }
};

/// Verifies a schedule:
/// 1. Executed one by one, with buffered sends and blocking receives, it ends. Both sides of a
///    message have the same length, and no message is left over. No step reads undefined cells.
///    Scratch is read after each write, and no cell is overwritten unread. `in` is never written,
///    `out` only within its range. No participant sends to itself.
/// 2. It also ends without any buffering. A message then moves when both of its steps are admitted
///    and free of hazards and the earlier messages of its channel have moved.
/// 3. The result is correct. Each cell is the expected one, or a sum with each contribution exactly
///    once (barrier: at least once). Participants of an allreduce with different expressions are no
///    mistake, but make the order Order::differs.
/// 4. Traffic is counted.
/// Intended for vectors with a few elements per participant; the time is proportional to the
/// elements that move.
Verdict verify(const CollectiveSpec& task, const Schedule& schedule);

/// Returns the mistake if sums in `order` are worse than the order that the algorithm declares,
/// otherwise "".
std::string wrong_order(const Algorithm& algorithm, const CollectiveSpec& task,
                        const Parameters& parameters, Order order);

/// Verifies the schedule of an algorithm and also that its order of summation is at least the
/// declared one.
Verdict verify(const Algorithm& algorithm, const CollectiveSpec& task,
               const Parameters& parameters);

}  // namespace collectives
