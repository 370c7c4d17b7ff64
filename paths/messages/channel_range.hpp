// SPDX-License-Identifier: Apache-2.0
// paths/messages/channel_range.hpp — consecutive channels of a group
#pragma once
#include <cstdint>
#include <limits>

namespace paths {

/// Range of channel numbers from `first` to `last`, both included.
struct Channels {
  std::uint64_t first = 0;
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace paths
