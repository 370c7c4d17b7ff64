// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/longest_way.hpp — longest chain of dependent messages in a schedule.
#pragma once
#include <functional>
#include <vector>

#include "base/units.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// A chain of messages. Each message carries data that the previous message delivered, possibly
/// together with other data.
struct Way {
  std::vector<Rank> hosts;  ///< hosts on the way, from the first sender to the last receiver
  base::Nanos time{0};      ///< sum of the times of all hops
  std::size_t hops() const { return hosts.size() - 1; }
};

/// Function that returns the time of a message between two participants. The time does not depend
/// on the size of the message.
using HopTime = std::function<base::Nanos(Rank from, Rank to)>;

/// Returns the chain of messages that takes the longest time. If several chains take this time,
/// returns the chain that was found first. A schedule without messages gives a way without hosts.
/// Throws: std::invalid_argument if the schedule deadlocks; a verified schedule never does.
Way longest_way(const Schedule& schedule, const HopTime& hop_time);

}  // namespace collectives
