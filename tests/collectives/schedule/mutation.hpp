// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/mutation.hpp — schedules with one deliberate mistake, for tests of the
// verifier.
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
/// Returns whether every mutation of this kind makes a schedule incorrect. Mutations of other kinds
/// make some schedules incorrect and leave others correct.
bool is_always_wrong(Mutation mutation);

/// Returns the schedule with one step of one participant mutated, or nullopt if the mutation does
/// not apply to that step. `choice` selects the block or the peer to which the step is changed.
std::optional<Schedule> mutated(const Schedule& schedule, Mutation mutation, Rank rank,
                                std::size_t step, std::size_t choice);

}  // namespace collectives
