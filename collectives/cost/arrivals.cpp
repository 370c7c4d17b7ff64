// SPDX-License-Identifier: Apache-2.0
// collectives/cost/arrivals.cpp — simulated frames on links, at exits and at their targets.
#include <algorithm>

#include "collectives/cost/evaluation.hpp"

namespace pricing::simulation {

// --- events ---

void Evaluation::happen(const Event& event) {
  switch (event.kind) {
    case Kind::prepared:
      if (has_frame_costs())
        depart(event, outlet_of(messages_[event.item]));
      else
        offer(event.item);
      return touch(event.source);
    case Kind::frame_out: return end_frame(event);
    case Kind::arrived: {
      const Message& message = messages_[event.item];
      const bool costs = has_frame_costs() && processors_.costs(message).receive.at(
                                                  frame_bytes(message, event.frame)) > Nanos(0);
      return costs ? arrived_.push_back(event) : arrive(event);
    }
    case Kind::received: return arrive(event);
    case Kind::taken: {
      Message& message = messages_[event.item];
      message.is_received = true;
      finish(message.target, message.receiving);
      return recycle(event.item);
    }
    case Kind::computed: return finish(event.source, event.item);
    case Kind::granted:
      if (messages_[event.item].serial != event.step) return;
      messages_[event.item].is_granted = true;
      return unpark(hosts_[event.source]), touch(event.source);
    case Kind::credited:
      hosts_[event.source].credit[event.item] += event.bytes;
      return unpark(hosts_[event.source]), touch(event.source);
    case Kind::port_free:
      --hosts_[event.source].ports[event.item].sending;
      return touch(event.source);
    case Kind::link_free: return serve_streams(event.item);
    case Kind::stream_free: {
      const Rank target = event.frame;
      link_at(event.item).streams.end_of_stream({event.source, target}, now_);
      return serve_streams(event.item);
    }
    case Kind::at_link: enter_link(event); return;
    case Kind::at_exit:
    case Kind::at_entry:
    case Kind::at_host: return pass_side(event);
    case Kind::in_exit:
    case Kind::in_entry: return pass_exit(event);
  }
}

void Evaluation::unpark(Host& host) {
  for (const MessageIndex index : host.parked) {
    host.ready.push_back({messages_[index].step, index});
    std::push_heap(host.ready.begin(), host.ready.end());
  }
  host.parked.clear();
}

void Evaluation::end_frame(const Event& event) {
  touch(event.source);
  Message& message = messages_[event.item];
  Outlet& outlet = outlet_of(message);
  if (has_frame_costs())
    outlet.in_hand -= frame_bytes(message, event.frame);
  else
    outlet.is_busy = false;
  if (event.frame + 1 < message.frames) return;
  const bool crosses = network_.crosses(message.source, message.target);
  if (message.has_port && !(execution_.ports.blocks && crosses)) free_port_at(now_, message);
  const Flow flow{1, message.bytes};
  for (Flow* sum : {&price_.all, &price_.sent[message.source], &price_.received[message.target],
                    &price_.links[network_.link_index(message.source, message.target)],
                    crosses ? &price_.across : nullptr}) {
    if (sum == nullptr) continue;
    sum->messages += flow.messages;
    sum->bytes += flow.bytes;
  }
  message.is_sent = true;
  finish(event.source, message.sending);
  recycle(event.item);
}

/// Passes a frame to its link. Returns the time at which the sender can pass the next frame: at
/// once if the link has streams, because frames then wait in the link for a free stream.
Nanos Evaluation::enter_link(const Event& event) {
  const Message& message = messages_[event.item];
  const std::size_t link = network_.link_index(message.source, message.target);
  const Bytes bytes = frame_bytes(message, event.frame);
  if (network_.links[link].has_streams()) {
    link_at(link).streams.offer(
        {message.source, message.target},
        {{event.item, event.frame, event.bytes}, bytes, event.time, event.time + event.lag});
    serve_streams(link);
    return event.time;
  }
  Event entering = event;
  tuning::LinkInstance& instance = link_at(link).instance;
  entering.time = std::max(event.time, instance.free_at());
  const auto passage = instance.carry(event.time, event.lag, bytes);
  leave_link(entering, passage);
  return passage.free_again;
}

/// Handles a frame that leaves its link. With Ports::blocks, the last frame of a message also frees
/// the message's sending port.
void Evaluation::leave_link(Event event, const tuning::LinkInstance::Passage& passage) {
  Message& message = messages_[event.item];
  message.entered = std::min(message.entered, event.time);
  message.left = std::max(message.left, passage.head + passage.lag);
  const auto entry = network_.exit_of(message.target);
  event.time = passage.head;
  event.lag = passage.lag;
  event.kind = !entry                     ? Kind::at_host
               : *entry == message.target ? Kind::arrived
               : has_frame_costs()        ? Kind::in_entry
                                          : Kind::at_entry;
  if (event.kind == Kind::arrived) event.time += event.lag;
  push(event);
  if (!message.has_port || !execution_.ports.blocks || event.frame + 1 < message.frames) return;
  const std::size_t link = network_.link_index(message.source, message.target);
  const Nanos latency = network_.links[link].model.at(now_).latency;
  free_port_at(passage.head + passage.lag - latency, message);
}

void Evaluation::serve_streams(std::size_t link) {
  Taken& taken = link_at(link);
  while (const std::optional<Streams::Start> start = taken.streams.start(now_, taken.instance)) {
    const Streamed& frame = start->item;
    const Message& message = messages_[frame.message];
    const auto number = static_cast<std::uint32_t>(link);
    push({start->passage.free_again, Kind::link_free, 0, number, 0, 0});
    push({start->stream_free, Kind::stream_free, message.source, number, message.target, 0});
    leave_link({.time = now_,
                .kind = Kind::at_link,
                .source = message.source,
                .item = frame.message,
                .frame = frame.number,
                .step = message.step,
                .bytes = frame.credit},
               start->passage);
  }
}

void Evaluation::pass_side(Event event) {
  const Message& message = messages_[event.item];
  tuning::LinkInstance& side =
      event.kind == Kind::at_exit    ? sides_[*network_.exit_of(message.source)].receiving
      : event.kind == Kind::at_entry ? sides_[*network_.exit_of(message.target)].outgoing
                                     : sides_[message.target].receiving;
  const auto passage = side.carry(event.time, event.lag, frame_bytes(message, event.frame));
  event.time = passage.head;
  event.lag = passage.lag;
  event.kind = event.kind == Kind::at_exit    ? (has_frame_costs() ? Kind::in_exit : Kind::at_link)
               : event.kind == Kind::at_entry ? Kind::at_host
                                              : Kind::arrived;
  if (event.kind == Kind::arrived) event.time += event.lag;
  push(event);
}

/// Charges an exit on the frame's route for receiving and sending the frame.
void Evaluation::pass_exit(Event event) {
  const Message& message = messages_[event.item];
  const Bytes bytes = frame_bytes(message, event.frame);
  const tuning::FrameCosts& costs = processors_.costs(message);
  const bool is_first = event.kind == Kind::in_exit;
  const auto exit = *network_.exit_of(is_first ? message.source : message.target);
  event.time = processors_.work_if_any(exit, now_, costs.receive.at(bytes) + costs.send.at(bytes));
  event.kind = is_first ? Kind::at_link : Kind::at_entry;
  push(event);
}

/// Makes the targets receive the frames whose last bytes arrived at this instant. A target begins
/// after the work that was requested of it before.
void Evaluation::receive_frames() {
  for (Event& event : arrived_) {
    const Message& message = messages_[event.item];
    const Nanos time = processors_.costs(message).receive.at(frame_bytes(message, event.frame));
    event.time = processors_.work(message.target, now_, time);
    event.kind = Kind::received;
    push(event);
  }
  arrived_.clear();
}

void Evaluation::arrive(const Event& event) {
  Message& message = messages_[event.item];
  ++message.frames_in;
  message.credit_used += event.bytes;
  if (!message.can_be_received) return;
  touch(message.target);
  if (message.frames_in == message.frames) return finish_receiving(event.item);
  give_back(message);
}

/// Returns to the sender the credit of the frames that have arrived so far. Called when the
/// receiving step can take these frames.
void Evaluation::give_back(Message& message) {
  if (message.credit_used == 0) return;
  push({.time = now_ + network_.latency(message.target, message.source),
        .kind = Kind::credited,
        .source = message.source,
        .item = message.target,
        .frame = 0,
        .step = 0,
        .bytes = message.credit_used});
  message.credit_used = 0;
}

}  // namespace pricing::simulation
