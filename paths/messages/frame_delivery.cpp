// SPDX-License-Identifier: Apache-2.0
// paths/messages/frame_delivery.cpp — checks and delays of incoming frames, then their delivery
#include "paths/messages/frame_delivery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/ways.hpp"

namespace paths {

void FrameDelivery::deliver(std::uint32_t from, LaneFrame frame) {
  runtime::Lock lock(state_.mutex);
  if (parts_.clock.is_stopped()) return;
  state_.catch_up();
  if (parts_.membership.is_of_neighbour(from, frame)) {
    parts_.membership.note_neighbour(from, frame.source);
    parts_.membership.take_of_neighbour(frame);
    return parts_.clock.settle(lock);
  }
  if (!has_way(frame)) {
    const Plan& plan = *state_.plan;
    return state_.reject(
        from, fmt::format("a message from {} to {}, which has no way here",
                          place_text(plan, frame.source), place_text(plan, frame.target)));
  }
  if (from != frame.source && !forwards(from, frame.source))
    return state_.reject(from, fmt::format("a message of {}, for which it does not forward",
                                           place_text(*state_.plan, frame.source)));
  parts_.membership.note_neighbour(from, frame.source);
  if (frame.target != state_.host && frame.kind != LaneKind::lost)
    parts_.membership.report_loss(from, frame);
  frame.lag = std::min(frame.lag, state_.farthest());
  // arrived_at() must be called before runtime.now(). For a frame that crossed no emulated link,
  // arrived_at() returns the time of the call, and this time must not be later than `now`.
  const base::Nanos arrived_at = state_.link_scheduler.arrived_at(frame);
  const base::Nanos now = state_.runtime.now();
  const base::Nanos came = std::min(arrived_at, now + state_.farthest());
  const bool is_received = receiving_ != nullptr && comes_by_network(from);
  const bool waits_for_turn = frame.kind == LaneKind::data && state_.due_queue.has_turns();
  if (waits_for_turn || came > now) {
    const std::uint32_t rank = waits_for_turn ? frame.source : 0;
    all_come_by_ = std::max(all_come_by_, came + frame.lag);
    auto arrive = [this, is_received, came, frame = std::move(frame)]() mutable {
      pass(is_received, came, std::move(frame));
    };
    state_.due_queue.put(came, std::move(arrive), waits_for_turn ? Turn::heads : Turn::events,
                         rank);
  } else {
    pass(is_received, came, std::move(frame));
  }
  parts_.clock.settle(lock);
}

bool FrameDelivery::has_way(const LaneFrame& frame) const {
  const std::size_t hosts = state_.plan->hosts.size();
  return frame.source < hosts && frame.target < hosts && frame.source != state_.host &&
         state_.leads_to(frame.target);
}

/// Returns whether the route of frames from `source` to this host leads through the host or switch
/// `from`.
bool FrameDelivery::forwards(std::uint32_t from, std::uint32_t source) {
  const std::uint64_t way = std::uint64_t{source} << 32 | from;
  if (known_ways_.contains(way)) return true;
  const Plan& plan = *state_.plan;
  const bool is_way = !state_.is_switch() && missing_way(plan, source, state_.host).empty() &&
                      way_leads_through(plan, source, state_.host, from);
  if (is_way) known_ways_.insert(way);
  return is_way;
}

/// Returns whether a frame from the neighbour `from` crossed the network of this host's cluster. It
/// crossed the network if `from` is in the cluster, or if the cluster has a switch.
bool FrameDelivery::comes_by_network(std::uint32_t from) const {
  const Plan& plan = *state_.plan;
  const std::uint32_t here = state_.cluster();
  return plan.ways->clusters[here].has_switch ||
         (from < plan.hosts.size() && plan.hosts[from].cluster == here);
}

/// Processes a frame whose target is this host. Sends any other frame over the next link.
void FrameDelivery::pass(bool is_received, base::Nanos came, LaneFrame frame) {
  const bool is_data = frame.kind == LaneKind::data;
  if (is_data && is_received) {
    const runtime::Lock link(receiving_->mutex);
    const auto passage = receiving_->instance.carry(came, frame.lag, frame.payload.size());
    came = passage.head;
    frame.lag = passage.lag;
    all_come_by_ = std::max(all_come_by_, came + frame.lag);
  }
  if (is_data && state_.processor != nullptr) {
    charge(came, std::move(frame));
  } else if (frame.target != state_.host) {
    state_.at(came, [this, came, frame = std::move(frame)]() mutable {
      state_.link_scheduler.depart(std::move(frame), came);
    });
  } else if (!is_data) {
    state_.at(came, [this, came, frame = std::move(frame)]() mutable {
      take_control(std::move(frame), came);
    });
  } else {
    const base::Nanos tail = came + frame.lag;
    state_.at(tail, [this, frame = std::move(frame)]() mutable { take_data(std::move(frame)); });
  }
}

/// Lets the processor of this host receive or forward a frame. Frames that arrive at the same time
/// are processed in the order of the numbers of their source hosts.
void FrameDelivery::charge(base::Nanos came, LaneFrame frame) {
  const std::uint32_t source = frame.source, target = frame.target;
  const std::uint64_t bytes = frame.payload.size();
  DueQueue& queue = state_.due_queue;
  if (target != state_.host) {
    auto depart = [this, frame = std::move(frame)]() mutable {
      state_.link_scheduler.depart(std::move(frame), state_.runtime.now());
    };
    auto pass = [this, source, target, bytes, depart = std::move(depart)]() mutable {
      const base::Nanos time = state_.processor->pass_time(source, target, bytes);
      if (time == base::Nanos(0)) return depart();
      state_.processor->work(time, tuning::WorkKind::receipt, std::move(depart));
    };
    return queue.put(came, std::move(pass), Turn::heads, source);
  }
  const base::Nanos tail = came + frame.lag;
  auto take = [this, frame = std::move(frame)]() mutable { take_data(std::move(frame)); };
  if (state_.processor->receives_at_once(source, target, bytes))
    return state_.at(tail, std::move(take));
  auto receive = [this, source, target, bytes, take = std::move(take)]() mutable {
    const base::Nanos time = state_.processor->receive_time(source, target, bytes);
    state_.processor->work(time, tuning::WorkKind::receipt, std::move(take));
  };
  queue.put(tail, std::move(receive), Turn::choices, rank_of_receives + source);
}

/// Does `work` after all earlier frames have arrived. Queues the work twice, because the receiving
/// link may delay the last frame: all_come_by_ then increases when the frame enters this link.
void FrameDelivery::when_all_has_come(const DueQueue::Work& work) {
  state_.due_queue.put(
      all_come_by_,
      [this, work] {
        if (state_.processor != nullptr)
          state_.processor->after_work(work);
        else
          state_.due_queue.put(all_come_by_, work, Turn::choices);
      },
      Turn::choices);
}

void FrameDelivery::take_control(LaneFrame frame, base::Nanos moment) {
  switch (frame.kind) {
    case LaneKind::done: return parts_.ends.take(frame);
    case LaneKind::here: return parts_.arrivals.take(frame);
    case LaneKind::look: return;
    case LaneKind::lost: return parts_.membership.take_loss(frame);
    default: return parts_.control.take(std::move(frame), moment);
  }
}

void FrameDelivery::take_data(LaneFrame frame) {
  ChannelFailures& failures = parts_.failures;
  GroupState* const group = parts_.groups.find(frame.group);
  if (group == nullptr) {
    if (parts_.groups.ended(frame.group) == nullptr)
      failures.refuse(frame, "a message for no group");
    return;
  }
  if (const std::string wrong = wrong_place(*group, frame); !wrong.empty())
    return failures.refuse(frame, wrong);
  const std::uint32_t source = frame.source;
  InboundChannel& lane = parts_.credit.lane_from(*group, source);
  if (group->over.contains(source) && lane.is_over()) return;
  failures.compare_signatures(*group, frame.channel, {frame.signature_digest, source});
  const bool has_failed = group->failure_of(frame.channel) != nullptr;
  if (!has_failed && group->is_closed(frame.channel))
    return failures.refuse(frame, group->text_of_closed(frame.channel));
  std::string wrong;
  try {
    wrong = has_failed ? lane.discard(frame) : lane.take(frame, state_.ended);
  } catch (const std::bad_alloc&) {
    wrong = fmt::format("a message of {} bytes, for which there is no memory", frame.bytes);
  }
  if (!wrong.empty())
    return failures.refuse(frame, fmt::format("{} (group {})", wrong, group->name));
  if (has_failed && frame.offset == 0) failures.tell(*group, source, frame.channel);
  if (lane.is_over() && group->over.contains(source))
    failures.fail(*group, source, lane.take_waiting(), group->over[source]);
  parts_.credit.ask_if_short(*group, source, lane);
  parts_.credit.issue_returned(*group, source);
}

std::string FrameDelivery::wrong_place(const GroupState& group, const LaneFrame& frame) const {
  if (!group.has(frame.source))
    return fmt::format("a message for group {} from outside", group.name);
  if (frame.channel >= group.options.channels)
    return fmt::format("a message on channel {} of group {}, which has {}", frame.channel,
                       group.name, group.options.channels);
  return {};
}

}  // namespace paths
