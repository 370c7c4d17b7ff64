// SPDX-License-Identifier: Apache-2.0
// collectives/cost/admission.cpp — admission of a participant's steps, and their waits for earlier,
// unfinished steps.
#include "collectives/cost/admission.hpp"

namespace pricing {

void Admission::restart(collectives::Program program, std::size_t window) {
  program_ = std::move(program);
  window_ = window;
  portion_ = 0;
  pulled_.clear();
  next_ = 0;
  has_ended_ = false;
  number_ = 0;
  uses_.clear();
}

std::optional<Slot> Admission::admit() {
  if (is_full() || !pull()) return std::nullopt;
  const collectives::Step step = pulled_[next_++];
  const Slot slot = place();
  Admitted& admitted = steps_[slot];
  admitted.action = step.action;
  admitted.is_done = false;
  admitted.peer = step.peer;
  admitted.channel = step.channel;
  admitted.number = number_++;
  admitted.elements = step.elements();
  add_hazards(slot, step);
  ++unfinished_;
  return slot;
}

/// Makes sure that `pulled_` contains the program's next step. If necessary, generates further
/// portions of the program. Returns false if the program has no further step.
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
  Admitted& admitted = steps_[slot];
  for (std::size_t index = 0; index < step.blocks.size(); ++index)
    uses_.earlier(step.blocks[index], step.writes(index), [&](Uses::User earlier) {
      if (is_done(earlier)) return;
      followers_.add(steps_[earlier.slot].followers, slot);
      ++admitted.waits;
    });
  const Uses::User user{slot, static_cast<std::uint32_t>(admitted.number)};
  for (std::size_t index = 0; index < step.blocks.size(); ++index)
    uses_.add(step.blocks[index], step.writes(index), user,
              [&](Uses::User other) { return is_done(other); });
}

void Admission::finish(Slot slot, std::vector<Slot>& freed) {
  followers_.clear(steps_[slot].followers, [&](Slot follower) {
    if (--steps_[follower].waits == 0) freed.push_back(follower);
  });
  steps_[slot].is_done = true;
  vacant_.push_back(slot);
  --unfinished_;
}

}  // namespace pricing
