// SPDX-License-Identifier: Apache-2.0
// collectives/cost/sending.cpp — simulated sending of messages: ports, credit, and order of frames.
#include <algorithm>
#include <tuple>

#include "collectives/cost/evaluation.hpp"

namespace pricing::simulation {

namespace {

/// Returns the outlet that sends a frame next: of all outlets that can take a frame now, the outlet
/// with the oldest step. Returns nullptr if no outlet can take a frame.
Outlet* oldest_outlet(Host& host, const State& state) {
  const auto has_room = [&](const Outlet& outlet) {
    if (outlet.in_hand == 0) return true;
    const Message& message = state.messages[outlet.messages.front().message];
    const Bytes window = state.processors.costs(message).window(state.network.frame);
    return outlet.in_hand <= window &&
           state.frame_bytes(message, message.frames_out) <= window - outlet.in_hand;
  };
  Outlet* oldest = nullptr;
  for (Outlet& outlet : host.outlets)
    if (!outlet.is_busy && !outlet.messages.empty() && has_room(outlet) &&
        (oldest == nullptr || oldest->messages.front() < outlet.messages.front()))
      oldest = &outlet;
  return oldest;
}

}  // namespace

Outlet& Host::outlet_by(std::size_t way) {
  const auto found = std::find_if(outlets.begin(), outlets.end(),
                                  [way](const Outlet& outlet) { return outlet.way == way; });
  return found != outlets.end() ? *found : outlets.emplace_back(Outlet{.way = way, .messages = {}});
}

void Host::add_ready(const Ready& message) {
  ready.push_back(message);
  std::push_heap(ready.begin(), ready.end());
}

void Host::unpark() {
  for (const Ready& message : parked) add_ready(message);
  parked.clear();
}

bool Evaluation::may_move(const Message& message) const {
  if (message.is_granted) return true;
  if (ports_.has_grants()) return false;
  if (!state_.has_credit()) return true;
  return hosts_[message.source].credit[message.target] >=
         state_.frame_bytes(message, message.frames_out) + frame_overhead;
}

/// Moves messages that lack a grant or credit from the outlets to Host::parked.
void Evaluation::park(Rank me) {
  Host& host = hosts_[me];
  for (Outlet& outlet : host.outlets) {
    std::erase_if(outlet.messages, [&](const Ready& ready) {
      Message& message = state_.messages[ready.message];
      if (may_move(message)) return false;
      host.parked.push_back(ready);
      ports_.give_up(message);
      return true;
    });
    std::make_heap(outlet.messages.begin(), outlet.messages.end());
  }
}

void Evaluation::hand_over(Rank me) {
  Host& host = hosts_[me];
  std::vector<Ready> wait_for_ports;
  while (!host.ready.empty()) {
    const Ready first = host.ready.front();
    const bool has_port = ports_.can_send(state_.messages[first.message]);
    if (!has_port && !state_.execution.ports.are_apart) break;
    std::pop_heap(host.ready.begin(), host.ready.end());
    host.ready.pop_back();
    if (!has_port) {
      wait_for_ports.push_back(first);
    } else if (may_move(state_.messages[first.message])) {
      prepare(first.message);
    } else {
      host.parked.push_back(first);
    }
  }
  for (const Ready& ready : wait_for_ports) host.add_ready(ready);
}

/// Takes a sending port for a message. If messages have costs, requests the source's processor time
/// for the message, unless this was done before. Then the message goes to its outlet.
void Evaluation::prepare(MessageIndex index) {
  Message& message = state_.messages[index];
  ports_.take(message);
  if (message.is_prepared || state_.processors.has_frame_costs() ||
      state_.network.message_cost == Nanos(0))
    return offer(index);
  state_.processors.request(message.source, state_.network.message_cost,
                            {state_.now, Kind::prepared, message.source, index, 0, message.step},
                            tuning::WorkKind::step);
}

void Evaluation::offer(MessageIndex index) {
  Message& message = state_.messages[index];
  message.is_prepared = true;
  std::vector<Ready>& messages =
      hosts_[message.source].outlet_by(transit_.way_of(message)).messages;
  messages.push_back({message.step, index});
  std::push_heap(messages.begin(), messages.end());
}

/// Sends frames through the host's outlets as long as an outlet can take a frame. Frames of the
/// oldest step go first.
void Evaluation::choose(Rank me) {
  Host& host = hosts_[me];
  if (state_.has_credit()) park(me);
  if (!state_.execution.ports.is_half_duplex) hand_over(me);
  while (Outlet* const oldest = oldest_outlet(host, state_)) send_frame(me, *oldest);
}

/// Sends a frame of the oldest message that leaves through the outlet.
void Evaluation::send_frame(Rank me, Outlet& outlet) {
  const MessageIndex index = outlet.messages.front().message;
  Message& message = state_.messages[index];
  const std::uint32_t frame = message.frames_out++;
  const Bytes bytes = state_.frame_bytes(message, frame);
  const bool pays = state_.has_credit() && !ports_.has_grants() && !message.is_granted;
  if (pays) hosts_[me].credit[message.target] -= bytes + frame_overhead;
  outlet.is_busy = true;
  if (message.frames_out == message.frames) {
    std::pop_heap(outlet.messages.begin(), outlet.messages.end());
    outlet.messages.pop_back();
  }
  const Event chosen{.time = state_.now,
                     .kind = Kind::prepared,
                     .source = me,
                     .item = index,
                     .frame = frame,
                     .step = message.step,
                     .bytes = pays ? bytes + frame_overhead : 0};
  if (!state_.processors.has_frame_costs()) return depart(chosen, outlet);
  outlet.in_hand += bytes;
  const Nanos time = state_.processors.costs(message).send.at(bytes);
  if (time == Nanos(0)) return depart(chosen, outlet);
  state_.processors.request(me, time, chosen, tuning::WorkKind::step);
}

/// Passes a prepared frame to the outgoing side of its host or to the link. If frames have costs,
/// the host can prepare further frames for this outlet immediately; these frames queue.
void Evaluation::depart(const Event& frame, Outlet& outlet) {
  const Nanos free_again = transit_.enter(outlet.way, frame);
  state_.events.push(
      {free_again, Kind::frame_out, frame.source, frame.item, frame.frame, frame.step});
  if (state_.processors.has_frame_costs()) outlet.is_busy = false;
}

/// Starts messages for which both hosts have a free port, until no such message is left.
void Evaluation::start_half_duplex() {
  const auto can_start = [&](const Message& message) {
    return may_move(message) && ports_.can_send(message) && ports_.can_receive(message);
  };
  while (true) {
    std::vector<std::tuple<std::uint64_t, Rank, MessageIndex>> candidates;
    for (const Host& host : hosts_)
      for (const Ready& ready : host.ready) {
        const Message& message = state_.messages[ready.message];
        if (can_start(message))
          candidates.emplace_back(std::max(message.step, PortTable::granted_step(message)),
                                  message.source, ready.message);
      }
    if (candidates.empty()) return;
    const MessageIndex first = std::get<2>(*std::min_element(candidates.begin(), candidates.end()));
    Host& source = hosts_[state_.messages[first].source];
    std::erase_if(source.ready, [&](const Ready& ready) { return ready.message == first; });
    std::make_heap(source.ready.begin(), source.ready.end());
    prepare(first);
    touch(state_.messages[first].source);
  }
}

}  // namespace pricing::simulation
