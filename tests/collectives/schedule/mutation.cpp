// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/mutation.cpp — change of one step of a schedule.
#include "tests/collectives/schedule/mutation.hpp"

namespace collectives {
namespace {

/// Returns a copy of the step in which one block is changed.
template <class Change>
Step with_block(const Step& step, std::vector<Block>& blocks, std::size_t choice, Change change) {
  blocks.assign(step.blocks.begin(), step.blocks.end());
  change(blocks[choice % blocks.size()].cells);
  return {step.action, step.peer, step.channel, blocks};
}

}  // namespace

std::string_view name_of(Mutation mutation) {
  switch (mutation) {
    case Mutation::drop_step: return "dropped step";
    case Mutation::wrong_peer: return "wrong peer";
    case Mutation::shift_block: return "shifted block";
    case Mutation::lengthen_block: return "longer block";
    case Mutation::wrong_channel: return "wrong channel";
    case Mutation::swap_neighbours: return "swapped neighbours";
    case Mutation::duplicate_copy: return "duplicated step";
  }
  return "?";
}

bool is_always_wrong(Mutation mutation) { return mutation < Mutation::swap_neighbours; }

std::optional<Schedule> mutated(const Schedule& schedule, Mutation mutation, Rank rank,
                                std::size_t at, std::size_t choice) {
  const Steps& steps = schedule[rank];
  const Step step = steps[at];
  std::vector<Block> blocks;
  Step changed = step;
  const bool needs_message =
      mutation == Mutation::wrong_peer || mutation == Mutation::wrong_channel;
  if (needs_message && !step.is_message()) return std::nullopt;
  if (mutation == Mutation::swap_neighbours && at + 1 == steps.size()) return std::nullopt;
  if (mutation == Mutation::duplicate_copy && step.is_message()) return std::nullopt;
  if (mutation == Mutation::wrong_peer) {
    const std::size_t distance = 1 + choice % (schedule.size() - 1);
    changed.peer = static_cast<Rank>((step.peer + distance) % schedule.size());
  } else if (mutation == Mutation::wrong_channel) {
    changed.channel += static_cast<Channel>(1 + choice);
  } else if (mutation == Mutation::shift_block) {
    changed = with_block(step, blocks, choice, [](Range& cells) { ++cells.offset; });
  } else if (mutation == Mutation::lengthen_block) {
    changed = with_block(step, blocks, choice, [](Range& cells) { ++cells.count; });
  }
  Schedule result = schedule;
  result[rank].clear();
  for (std::size_t index = 0; index < steps.size(); ++index) {
    if (mutation == Mutation::swap_neighbours && index == at) {
      result[rank].append(steps[at + 1]);
      result[rank].append(step);
      ++index;
    } else if (index != at) {
      result[rank].append(steps[index]);
    } else if (mutation != Mutation::drop_step) {
      result[rank].append(changed);
      if (mutation == Mutation::duplicate_copy) result[rank].append(changed);
    }
  }
  return result;
}

}  // namespace collectives
