// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/verifier.hpp — whether a schedule does what it should, proved by doing it on
// symbols.
#pragma once
#include <string>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Messages and elements of one direction between two participants or groups.
struct Flow {
  Count messages = 0;
  Count elements = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

/// Who sent how much.
struct Traffic {
  std::vector<Flow> sent;      ///< by participant
  std::vector<Flow> received;  ///< by participant
  std::vector<Flow> crossing;  ///< by pair of clusters: from * clusters + to
  Flow all;
  Flow across;  ///< between clusters
};

struct Verdict {
  /// The first thing that is wrong, with participant, step and what it says; empty if all holds.
  std::string mistake;
  Order order = Order::canonical;  ///< of a reduction
  /// The least number of unfinished steps that everybody must admit for it to end without any
  /// buffer, credit that never comes and rendezvous included.
  std::size_t least_window = 0;
  Traffic traffic;
  bool holds() const { return mistake.empty(); }
};

/// 1. Done one by one, sends buffered and receives blocking, it ends; messages of a channel have
///    one length on both sides and none is left over; nothing undefined is read and nothing written
///    in vain (scratch never read, anything overwritten unread); `in` is never written, `out` not
///    beyond its end; nobody sends to itself.
/// 2. Done without any buffering, a message moving when both of its steps are admitted and free of
///    hazards and those before it in its channel have moved, it ends.
/// 3. The result is right: each cell the one that it should be, or a sum with each contribution
///    exactly once (barrier: at least once), the same expression for all who get the same.
/// 4. What it costs is counted.
/// On vectors with a few elements per participant; the time is that of the elements that move.
Verdict verify(const CollectiveSpec& task, const Schedule& schedule);

/// What is wrong about sums in that order, or nothing: the algorithm declares a better one.
std::string wrong_order(const Algorithm& algorithm, const CollectiveSpec& task,
                        const Parameters& parameters, Order order);

/// Also that the order of summation is at least the one that the algorithm declares.
Verdict verify(const Algorithm& algorithm, const CollectiveSpec& task,
               const Parameters& parameters);

}  // namespace collectives
