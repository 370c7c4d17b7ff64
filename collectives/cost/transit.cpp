// SPDX-License-Identifier: Apache-2.0
// collectives/cost/transit.cpp — simulated frames on sides, on links and at exits.
#include "collectives/cost/transit.hpp"

#include <algorithm>

namespace pricing::simulation {

Transit::Transit(State& state, PortTable& ports) : state_(state), ports_(ports) {
  const Network& network = state_.network;
  for (std::size_t host = 0; host < network.outgoing.size(); ++host)
    sides_.push_back({tuning::LinkInstance(network.outgoing[host]),
                      tuning::LinkInstance(network.receiving[host])});
  links_.resize(network.links.size());
}

std::size_t Transit::way_of(const Message& message) const {
  const Network& network = state_.network;
  const bool enters_link = !network.exits.empty() && network.is_exit(message.source) &&
                           network.crosses(message.source, message.target);
  return enters_link ? network.link_index(message.source, message.target) : own_side;
}

Nanos Transit::enter(std::size_t way, const Event& frame) {
  Event head = frame;
  head.kind = Kind::at_link;
  if (way != own_side) return enter_link(head);
  const Rank source = frame.source;
  const Message& message = state_.messages[frame.item];
  const auto passage =
      sides_[source].outgoing.carry(state_.now, Nanos(0), state_.frame_bytes(message, frame.frame));
  head.time = passage.head;
  head.lag = passage.lag;
  if (!state_.network.crosses(source, message.target))
    head.kind = Kind::at_host;
  else if (state_.network.exit_of(source))
    head.kind = Kind::at_exit;
  state_.events.push(head);
  return passage.free_again;
}

void Transit::happen(const Event& event) {
  switch (event.kind) {
    case Kind::stream_free:
      link_at(event.item).streams.end_of_stream({event.source, event.frame}, state_.now);
      return serve_streams(event.item);
    case Kind::link_free: return serve_streams(event.item);
    case Kind::at_link: enter_link(event); return;
    case Kind::in_exit:
    case Kind::in_entry: return pass_exit(event);
    default: return pass_side(event);
  }
}

/// Passes a frame to its link. Returns the time at which the sender can pass the next frame. If the
/// link has streams, this is the current time, because frames wait in the link for a free stream.
Nanos Transit::enter_link(const Event& event) {
  const Message& message = state_.messages[event.item];
  const std::size_t link = state_.network.link_index(message.source, message.target);
  const Bytes bytes = state_.frame_bytes(message, event.frame);
  if (state_.network.links[link].has_streams()) {
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
void Transit::leave_link(Event event, const tuning::LinkInstance::Passage& passage) {
  Message& message = state_.messages[event.item];
  message.entered = std::min(message.entered, event.time);
  message.left = std::max(message.left, passage.head + passage.lag);
  const auto entry = state_.network.exit_of(message.target);
  event.time = passage.head;
  event.lag = passage.lag;
  event.kind = !entry                                ? Kind::at_host
               : *entry == message.target            ? Kind::arrived
               : state_.processors.has_frame_costs() ? Kind::in_entry
                                                     : Kind::at_entry;
  if (event.kind == Kind::arrived) event.time += event.lag;
  state_.events.push(event);
  if (!message.has_port || !state_.execution.ports.blocks || event.frame + 1 < message.frames)
    return;
  const std::size_t link = state_.network.link_index(message.source, message.target);
  const Nanos latency = state_.network.links[link].model.at(state_.now).latency;
  ports_.free_at(passage.head + passage.lag - latency, message);
}

void Transit::serve_streams(std::size_t link) {
  Taken& taken = link_at(link);
  while (const std::optional<Streams::Start> start =
             taken.streams.start(state_.now, taken.instance)) {
    const Streamed& frame = start->item;
    const Message& message = state_.messages[frame.message];
    const auto number = static_cast<std::uint32_t>(link);
    state_.events.push({start->passage.free_again, Kind::link_free, 0, number, 0, 0});
    state_.events.push(
        {start->stream_free, Kind::stream_free, message.source, number, message.target, 0});
    leave_link({.time = state_.now,
                .kind = Kind::at_link,
                .source = message.source,
                .item = frame.message,
                .frame = frame.number,
                .step = message.step,
                .bytes = frame.credit},
               start->passage);
  }
}

void Transit::pass_side(Event event) {
  const Message& message = state_.messages[event.item];
  tuning::LinkInstance& side =
      event.kind == Kind::at_exit    ? sides_[*state_.network.exit_of(message.source)].receiving
      : event.kind == Kind::at_entry ? sides_[*state_.network.exit_of(message.target)].outgoing
                                     : sides_[message.target].receiving;
  const auto passage = side.carry(event.time, event.lag, state_.frame_bytes(message, event.frame));
  const bool has_frame_costs = state_.processors.has_frame_costs();
  event.time = passage.head;
  event.lag = passage.lag;
  event.kind = event.kind == Kind::at_exit    ? (has_frame_costs ? Kind::in_exit : Kind::at_link)
               : event.kind == Kind::at_entry ? Kind::at_host
                                              : Kind::arrived;
  if (event.kind == Kind::arrived) event.time += event.lag;
  state_.events.push(event);
}

/// Requests the processor time that an exit on the frame's route needs to receive the frame and to
/// send it on.
void Transit::pass_exit(Event event) {
  const Message& message = state_.messages[event.item];
  const Bytes bytes = state_.frame_bytes(message, event.frame);
  const bool is_first = event.kind == Kind::in_exit;
  const auto exit = *state_.network.exit_of(is_first ? message.source : message.target);
  event.kind = is_first ? Kind::at_link : Kind::at_entry;
  const Nanos time = state_.processors.receive_time(exit, state_.now, message, bytes) +
                     state_.processors.costs(message).send.at(bytes);
  state_.processors.request_if_any(exit, state_.now, time, event, tuning::WorkKind::receipt);
}

}  // namespace pricing::simulation
