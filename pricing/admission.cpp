// SPDX-License-Identifier: Apache-2.0
// pricing/admission.cpp — hazards between the unfinished steps of a window.
#include "pricing/admission.hpp"

namespace pricing {

using collectives::Action;
using collectives::Block;

std::optional<Slot> Admission::admit() {
  if (unfinished_ >= window_ || !pull()) return std::nullopt;
  const collectives::Step step = pulled_[next_++];
  const Slot slot = place();
  Admitted& admitted = steps_[slot];
  admitted.action = step.action;
  admitted.peer = step.peer;
  admitted.channel = step.channel;
  admitted.number = number_++;
  admitted.elements = 0;
  for (const Block& block : step.blocks) admitted.elements += block.cells.count;
  add_hazards(slot, step);
  ++unfinished_;
  return slot;
}

/// Whether there is a step, of this portion or of a later one.
bool Admission::pull() {
  while (next_ == pulled_.size()) {
    if (portion_ == program_.portions()) {
      has_ended_ = true;
      return false;
    }
    pulled_.clear();
    next_ = 0;
    program_.append(portion_++, pulled_);
  }
  return true;
}

Slot Admission::place() {
  if (vacant_.empty()) {
    steps_.emplace_back();
    return static_cast<Slot>(steps_.size() - 1);
  }
  const Slot slot = vacant_.back();
  vacant_.pop_back();
  return slot;
}

void Admission::add_hazards(Slot slot, const collectives::Step& step) {
  const std::size_t earlier = uses_.size();
  for (std::size_t index = 0; index < step.blocks.size(); ++index) {
    const Block& block = step.blocks[index];
    const bool writes =
        step.action == Action::receive || (step.action != Action::send && index == 0);
    for (std::size_t at = 0; at < earlier; ++at) {
      const Use& use = uses_[at];
      if (use.block.cells.offset >= block.cells.end() ||
          block.cells.offset >= use.block.cells.end() || use.block.buffer != block.buffer ||
          !(writes || use.writes))
        continue;
      steps_[use.slot].followers.push_back(slot);
      ++steps_[slot].waits;
    }
    uses_.push_back({block, slot, writes});
  }
}

void Admission::finish(Slot slot, std::vector<Slot>& freed) {
  std::erase_if(uses_, [&](const Use& use) { return use.slot == slot; });
  for (const Slot follower : steps_[slot].followers)
    if (--steps_[follower].waits == 0) freed.push_back(follower);
  steps_[slot].followers.clear();
  vacant_.push_back(slot);
  --unfinished_;
}

}  // namespace pricing
