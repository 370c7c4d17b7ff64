// SPDX-License-Identifier: Apache-2.0
// collectives/cost/outline.hpp — digest, message count and load of a schedule.
#pragma once
#include "base/digest.hpp"
#include "collectives/cost/network.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// Properties of a schedule on a network that are cheap to compute.
struct Outline {
  base::Digest steps;  ///< digest of all steps; equal for two schedules with the same steps
  std::size_t messages = 0;
  /// Time that the busiest host or link needs for its bytes. The schedule takes at least this time.
  base::Nanos load{0};
};

/// Appends all fields of a step to `numbers`, as input of a digest.
void append(std::vector<std::uint64_t>& numbers, const collectives::Step& step);

Outline outline_of(const std::vector<collectives::Program>& programs, Bytes element_bytes,
                   const Network& network);

}  // namespace pricing
