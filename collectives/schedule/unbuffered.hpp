// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/unbuffered.hpp — proof that a schedule ends without any buffering of
// messages.
#pragma once
#include <optional>
#include <vector>

#include "collectives/schedule/cell_numbers.hpp"

namespace collectives {

/// A message of a schedule: its sending step, its receiving step, and the previous message in the
/// same channel.
struct Message {
  struct End {
    Rank rank;
    std::size_t step;
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  End sent, received;
  std::size_t before = none;  ///< index of the previous message in the channel
};

/// Returns the least window with which the schedule terminates. Returns nullopt if the schedule
/// deadlocks with every window. With window w, each participant admits its steps in order while
/// fewer than w admitted steps are unfinished. The completion of a step never prevents another
/// step. The result therefore does not depend on the order of execution, and only one order is
/// tried.
std::optional<std::size_t> least_window(const Schedule& schedule, const CellNumbers& numbers,
                                        const std::vector<Message>& messages);

}  // namespace collectives
