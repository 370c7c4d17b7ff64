// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/mutation.hpp — schedules with one thing wrong, to see whether the verifier
// sees it.
#pragma once
#include <optional>
#include <string_view>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

enum class Mutation {
  drop_step,
  wrong_peer,
  shift_block,
  lengthen_block,
  wrong_channel,
  swap_neighbours,
  duplicate_copy,
};
inline constexpr Mutation all_mutations[] = {Mutation::drop_step,     Mutation::wrong_peer,
                                             Mutation::shift_block,   Mutation::lengthen_block,
                                             Mutation::wrong_channel, Mutation::swap_neighbours,
                                             Mutation::duplicate_copy};
std::string_view name_of(Mutation mutation);
/// Whether each of its kind is a mistake; the others may change nothing that matters.
bool is_always_wrong(Mutation mutation);

/// The schedule with that done to one step of one participant, or none where it cannot be done
/// there. `choice` picks the block, or the peer.
std::optional<Schedule> mutated(const Schedule& schedule, Mutation mutation, Rank rank,
                                std::size_t step, std::size_t choice);

}  // namespace collectives
