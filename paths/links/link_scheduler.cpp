// SPDX-License-Identifier: Apache-2.0
// paths/links/link_scheduler.cpp — times at which a frame leaves, and arrives over, one link
#include "paths/links/link_scheduler.hpp"

#include <algorithm>

namespace paths {

const LinkScheduler::Step& LinkScheduler::step_to(std::uint32_t target) {
  const auto [found, is_new] = steps_.try_emplace(target);
  Step& step = found->second;
  if (!is_new) return step;
  const auto hosts = static_cast<std::uint32_t>(plan_.hosts.size());
  if (place_ >= hosts) {
    const Crossing next = crossing(plan_, place_ - hosts, target);
    step.to = next.to;
    step.leaves_cluster = true;
    set_link(step, next.link);
    return step;
  }
  const Hop hop = next_hop(plan_, place_, target);
  step.to = hop.across.is_there() ? switch_number(plan_, plan_.hosts[place_].cluster) : hop.to;
  const std::uint32_t cluster = plan_.hosts[place_].cluster;
  step.leaves_cluster = plan_.hosts[hop.to].cluster != cluster && plan_.ways &&
                        !plan_.ways->clusters[cluster].has_switch;
  set_link(step, hop.outgoing);
  return step;
}

void LinkScheduler::set_link(Step& step, const HopLink& passed) {
  if (!passed.is_there()) return;
  const tuning::Link link = link_of(passed);
  step.link = links_.named(passed.name, link.model);
  if (!link.has_streams()) return;
  std::unique_ptr<Waiting>& waiting = waiting_[passed.name];
  if (waiting == nullptr)
    waiting = std::make_unique<Waiting>(step.link, link, plan_.lanes.striping);
  step.waiting = waiting.get();
}

base::Nanos LinkScheduler::not_long_ago(base::Nanos moment) {
  const base::Nanos earliest = runtime_.now() - lateness_max;
  if (moment >= earliest) return moment;
  lateness_lost_ += earliest - moment;
  return earliest;
}

base::Nanos LinkScheduler::arrived_at(const LaneFrame& frame) {
  return not_long_ago(runtime_.now() - frame.late);
}

base::Nanos LinkScheduler::depart(LaneFrame frame, base::Nanos head) {
  const Step& step = step_to(frame.target);
  frame.head = frame.late = base::Nanos(0);
  if (step.link == nullptr || frame.is_at_once) {
    leaving_.emplace_back(step.to, std::move(frame));
    return head;
  }
  const bool is_data = frame.kind == LaneKind::data;
  if (is_data && step.waiting != nullptr) {
    const std::pair pair(frame.source, frame.target);
    const std::uint64_t bytes = frame.payload.size();
    const base::Nanos tail = head + frame.lag;
    step.waiting->streams.offer(pair, {std::move(frame), bytes, head, tail});
    serve(*step.waiting, head);
    return head;
  }
  base::Nanos taken = head, begin = head;
  {
    runtime::Lock lock(step.link->mutex);
    tuning::LinkInstance& link = step.link->instance;
    if (is_data) {
      begin = std::max(head, link.free_at());
      const auto passage = link.carry(head, frame.lag, frame.payload.size());
      taken = passage.free_again;
      head = passage.head;
      frame.lag = passage.lag;
      if (step.leaves_cluster) record(frame, false, begin, head + frame.lag, head + frame.lag);
    } else {
      head = link.carry_control(head);
    }
  }
  pass_on(step.to, std::move(frame), begin, head);
  return taken;
}

/// Starts the waiting frames for which a stream of the link is free at `moment`, and schedules the
/// next check.
void LinkScheduler::serve(Waiting& waiting, base::Nanos moment) {
  base::Nanos free_at;
  {
    runtime::Lock lock(waiting.link->mutex);
    tuning::LinkInstance& link = waiting.link->instance;
    while (auto start = waiting.streams.start(moment, link)) {
      due_queue_.put(start->stream_free,
                     [this, &waiting, pair = start->pair, at = start->stream_free] {
                       waiting.streams.end_of_stream(pair, at);
                       serve(waiting, at);
                     });
      LaneFrame& frame = start->item;
      frame.lag = start->passage.lag;
      const Step& step = step_to(frame.target);
      if (step.leaves_cluster)
        record(frame, true, start->begin, start->stream_free, start->passage.head + frame.lag);
      pass_on(step.to, std::move(frame), start->begin, start->passage.head);
    }
    free_at = link.free_at();
  }
  if (!waiting.streams.waits_for_link() || waiting.looks_at == free_at) return;
  waiting.looks_at = free_at;
  due_queue_.put(free_at, [this, &waiting, free_at] {
    // Forgets that this check is planned. If a late frame arrives after this check while the link
    // is still free, serve() must be able to plan a new check for the same time.
    if (waiting.looks_at == free_at) waiting.looks_at = base::Nanos(-1);
    serve(waiting, free_at);
  });
}

void LinkScheduler::pass_on(std::uint32_t to, LaneFrame frame, base::Nanos begin,
                            base::Nanos head) {
  if (runtime_.is_virtual())
    begin = head;
  else
    frame.head = runtime_.steady_at_zero() + head;
  auto leave = [this, to, head, frame = std::move(frame)]() mutable {
    frame.late = runtime_.now() - head;
    leaving_.emplace_back(to, std::move(frame));
  };
  if (begin <= runtime_.now()) return leave();
  due_queue_.put(begin, std::move(leave));
}

/// Records a transfer. If the link has no streams, all frames of one message count as one transfer.
void LinkScheduler::record(const LaneFrame& frame, bool has_stream, base::Nanos begin,
                           base::Nanos end, base::Nanos arrived) {
  eventspace::Recorder* const recorder = recorder_of_ ? recorder_of_(frame.source) : nullptr;
  if (recorder == nullptr || !recorder->is_on()) return;
  const bool is_first = frame.offset == 0;
  const bool is_last = frame.offset + frame.payload.size() == frame.bytes;
  std::uint64_t bytes = frame.payload.size();
  if (!has_stream && !(is_first && is_last)) {
    const MessageKey key(frame.source, frame.target, frame.group, frame.channel, frame.ordinal);
    // If an earlier message with the same key failed on its way, the new start time replaces the
    // time of that message.
    if (is_first) crossing_[key] = begin;
    if (!is_last) return;
    if (const auto since = crossing_.extract(key)) begin = since.mapped();
    bytes = frame.bytes;
  }
  recorder->add(eventspace::record_of(eventspace::Transfer{frame.source, frame.target, bytes,
                                                           has_stream, is_last, begin.count(),
                                                           end.count(), arrived.count()}));
}

}  // namespace paths
