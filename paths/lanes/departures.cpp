// SPDX-License-Identifier: Apache-2.0
// paths/lanes/departures.cpp — one step of a frame's way.
#include "paths/lanes/departures.hpp"

#include <algorithm>

#include "tuning/read_link_model.hpp"

namespace paths {

const Departures::Step& Departures::step_to(std::uint32_t target) {
  const auto [found, is_new] = steps_.try_emplace(target);
  Step& step = found->second;
  if (!is_new) return step;
  const Hop hop = next_hop(plan_, host_, target);
  step.to = hop.to;
  if (!hop.settings.is_null()) step.link = links_.named(hop.link, model_of(hop));
  return step;
}

base::Nanos Departures::not_long_ago(base::Nanos moment) {
  const base::Nanos earliest = runtime_.now() - lateness_max;
  if (moment >= earliest) return moment;
  lateness_lost_ += earliest - moment;
  return earliest;
}

base::Nanos Departures::came_at(const LaneFrame& frame) {
  return not_long_ago(runtime_.now() - frame.late);
}

base::Nanos Departures::depart(LaneFrame frame, base::Nanos head) {
  const Step& step = step_to(frame.target);
  if (step.link == nullptr) {
    leave(step.to, std::move(frame), head);
    return head;
  }
  base::Nanos taken = head;
  {
    runtime::Lock lock(step.link->mutex);
    tuning::LinkInstance& link = step.link->instance;
    if (frame.kind == LaneKind::data) {
      const auto passage = link.carry(head, frame.lag, frame.payload.size());
      taken = passage.free_again;
      head = passage.head;
      frame.lag = passage.lag;
    } else {
      head = link.carry_control(head);
    }
  }
  if (head <= runtime_.now()) {
    leave(step.to, std::move(frame), head);
  } else {
    agenda_.put(head, [this, to = step.to, head, frame = std::move(frame)]() mutable {
      leave(to, std::move(frame), head);
    });
  }
  return taken;
}

void Departures::leave(std::uint32_t to, LaneFrame frame, base::Nanos head) {
  frame.late = std::max(runtime_.now() - head, base::Nanos(0));
  leaving_.emplace_back(to, std::move(frame));
}

}  // namespace paths
