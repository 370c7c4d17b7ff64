// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/unbuffered.hpp — whether a schedule ends when nothing is ever buffered.
#pragma once
#include <optional>
#include <vector>

#include "collectives/schedule/cell_numbers.hpp"

namespace collectives {

/// A message: which step of whom sends it, which receives it, and the one before it in its channel.
struct Message {
  struct End {
    Rank rank;
    std::size_t step;
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  End sent, received;
  std::size_t before = none;  ///< number of the message before it in its channel
};

/// The least window with which it ends, everybody admitting steps in order while fewer than that
/// many are unfinished; none if it does not end with any. One order decides for all, since no step
/// that is done keeps another from being done.
std::optional<std::size_t> least_window(const Schedule& schedule, const CellNumbers& numbers,
                                        const std::vector<Message>& messages);

}  // namespace collectives
