// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/longest_way.hpp — the longest way that data take through a schedule.
#pragma once
#include <functional>
#include <vector>

#include "base/units.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Messages each of which carries, among others, what the one before it has brought.
struct Way {
  std::vector<Rank> hosts;  ///< from where it begins to where it ends
  base::Nanos time{0};      ///< of all its hops together
  std::size_t hops() const { return hosts.size() - 1; }
};

/// What a message takes from one to another, whatever is in it.
using HopTime = std::function<base::Nanos(Rank from, Rank to)>;

/// The way that takes longest; of several the one that was found first, participants in order. A
/// schedule of no message has none: no hosts.
/// Throws: std::invalid_argument if the schedule sticks, which one that was verified does not.
Way longest_way(const Schedule& schedule, const HopTime& hop_time);

}  // namespace collectives
