// SPDX-License-Identifier: Apache-2.0
// collectives/cost/outline.hpp — what can be said of a schedule before it is priced.
#pragma once
#include "base/digest.hpp"
#include "collectives/cost/network.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// Of a schedule on a network.
struct Outline {
  base::Digest steps;  ///< alike for schedules that are one and the same
  std::size_t messages = 0;
  base::Nanos load{0};  ///< what its busiest host or link takes for its bytes: it takes longer
};

/// Everything that a step says, as numbers.
void append(std::vector<std::uint64_t>& numbers, const collectives::Step& step);

Outline outline_of(const std::vector<collectives::Program>& programs, Bytes element_bytes,
                   const Network& network);

}  // namespace pricing
