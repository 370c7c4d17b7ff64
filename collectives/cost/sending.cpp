// SPDX-License-Identifier: Apache-2.0
// collectives/cost/sending.cpp — simulated messages that leave their hosts: order, window and
// ports.
#include <algorithm>
#include <tuple>

#include "collectives/cost/evaluation.hpp"

namespace pricing::simulation {

// --- sending ---

bool Evaluation::may_move(const Message& message) const {
  if (message.is_granted) return true;
  if (has_receiving_ports()) return false;
  if (!has_credit()) return true;
  return hosts_[message.source].credit[message.target] >=
         frame_bytes(message, message.frames_out) + frame_overhead;
}

/// Moves messages that lack a grant or credit from the outlets to Host::parked.
void Evaluation::park(Rank me) {
  Host& host = hosts_[me];
  for (Outlet& outlet : host.outlets) {
    std::erase_if(outlet.messages, [&](const Ready& ready) {
      Message& message = messages_[ready.message];
      if (may_move(message)) return false;
      host.parked.push_back(ready.message);
      if (message.has_port) --ports_at(me, message).sending;
      message.has_port = false;
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
    const Host::Class& ports = ports_at(me, messages_[first.message]);
    const bool has_port =
        ports.has_free_port(execution_.ports.sending) && ports.has_turn(first.step);
    if (!has_port && !execution_.ports.are_apart) break;
    std::pop_heap(host.ready.begin(), host.ready.end());
    host.ready.pop_back();
    if (!has_port) {
      wait_for_ports.push_back(first);
    } else if (may_move(messages_[first.message])) {
      prepare(first.message);
    } else {
      host.parked.push_back(first.message);
    }
  }
  for (const Ready& ready : wait_for_ports) {
    host.ready.push_back(ready);
    std::push_heap(host.ready.begin(), host.ready.end());
  }
}

/// Takes a sending port for a message, and charges the source's processor for the message if this
/// was not done before. Then the message is passed to its outlet.
void Evaluation::prepare(MessageIndex index) {
  Message& message = messages_[index];
  take_port(message);
  if (message.is_prepared || has_frame_costs() || network_.message_cost == Nanos(0))
    return offer(index);
  const Nanos end = processors_.work(message.source, now_, network_.message_cost);
  push({end, Kind::prepared, message.source, index, 0, message.step});
}

void Evaluation::offer(MessageIndex index) {
  Message& message = messages_[index];
  message.is_prepared = true;
  std::vector<Ready>& messages = outlet_of(message).messages;
  messages.push_back({message.step, index});
  std::push_heap(messages.begin(), messages.end());
}

/// Sends frames through the host's outlets as long as an outlet can take one. Frames of the oldest
/// step go first.
void Evaluation::choose(Rank me) {
  Host& host = hosts_[me];
  if (has_credit()) park(me);
  if (!execution_.ports.is_half_duplex) hand_over(me);
  while (Outlet* const oldest = oldest_outlet(host)) send_frame(me, *oldest);
}

/// Returns the outlet with the oldest step among those that can send a frame now; nullptr if no
/// outlet can.
Outlet* Evaluation::oldest_outlet(Host& host) const {
  const auto has_room = [&](const Outlet& outlet) {
    if (outlet.in_hand == 0) return true;
    const Message& message = messages_[outlet.messages.front().message];
    const Bytes window = processors_.costs(message).window(network_.frame);
    return outlet.in_hand <= window &&
           frame_bytes(message, message.frames_out) <= window - outlet.in_hand;
  };
  Outlet* oldest = nullptr;
  for (Outlet& outlet : host.outlets)
    if (!outlet.is_busy && !outlet.messages.empty() && has_room(outlet) &&
        (oldest == nullptr || oldest->messages.front() < outlet.messages.front()))
      oldest = &outlet;
  return oldest;
}

/// Returns the outlet through which a message leaves its host. For a message from an exit to
/// another cluster, it is the outlet of the link. Any other message first passes the outgoing side
/// of its host.
Outlet& Evaluation::outlet_of(const Message& message) {
  std::vector<Outlet>& outlets = hosts_[message.source].outlets;
  const bool enters_link = !network_.exits.empty() && network_.is_exit(message.source) &&
                           network_.crosses(message.source, message.target);
  const std::size_t way =
      enters_link ? network_.link_index(message.source, message.target) : own_side;
  const auto found = std::find_if(outlets.begin(), outlets.end(),
                                  [&](const Outlet& outlet) { return outlet.way == way; });
  return found != outlets.end() ? *found : outlets.emplace_back(Outlet{.way = way, .messages = {}});
}

Bytes Evaluation::frame_bytes(const Message& message, std::uint32_t frame) const {
  return std::min(network_.frame, message.bytes - frame * network_.frame);
}

/// Sends a frame of the oldest message that leaves through the outlet.
void Evaluation::send_frame(Rank me, Outlet& outlet) {
  const MessageIndex index = outlet.messages.front().message;
  Message& message = messages_[index];
  const std::uint32_t frame = message.frames_out++;
  const Bytes bytes = frame_bytes(message, frame);
  const bool pays = has_credit() && !has_receiving_ports() && !message.is_granted;
  if (pays) hosts_[me].credit[message.target] -= bytes + frame_overhead;
  outlet.is_busy = true;
  if (message.frames_out == message.frames) {
    std::pop_heap(outlet.messages.begin(), outlet.messages.end());
    outlet.messages.pop_back();
  }
  const Event chosen{.time = now_,
                     .kind = Kind::prepared,
                     .source = me,
                     .item = index,
                     .frame = frame,
                     .step = message.step,
                     .bytes = pays ? bytes + frame_overhead : 0};
  if (!has_frame_costs()) return depart(chosen, outlet);
  outlet.in_hand += bytes;
  const Nanos end = processors_.work_if_any(me, now_, processors_.costs(message).send.at(bytes));
  if (end == now_) return depart(chosen, outlet);
  Event prepared = chosen;
  prepared.time = end;
  push(prepared);
}

/// Passes a prepared frame to the outgoing side of its host or to the link. If frames have costs,
/// the host can prepare further frames for this outlet immediately; these frames queue.
void Evaluation::depart(const Event& frame, Outlet& outlet) {
  const Rank me = frame.source;
  const Message& message = messages_[frame.item];
  Event head = frame;
  head.kind = Kind::at_link;
  Nanos free_again;
  if (outlet.way == own_side) {
    const auto passage =
        sides_[me].outgoing.carry(now_, Nanos(0), frame_bytes(message, frame.frame));
    free_again = passage.free_again;
    head.time = passage.head;
    head.lag = passage.lag;
    const bool crosses = network_.crosses(me, message.target);
    head.kind = !crosses ? Kind::at_host : network_.exit_of(me) ? Kind::at_exit : Kind::at_link;
    push(head);
  } else {
    free_again = enter_link(head);
  }
  push({free_again, Kind::frame_out, me, frame.item, frame.frame, frame.step});
  if (has_frame_costs()) outlet.is_busy = false;
}

// --- ports ---

/// Grants messages in the order of their receiving steps. Stops if the next step still waits for an
/// earlier one, or if no receiving port is free.
void Evaluation::grant_in_order(Rank me) {
  Host& host = hosts_[me];
  for (std::size_t of_class = 0; of_class < host.ports.size(); ++of_class) {
    Host::Class& ports = host.ports[of_class];
    while (!ports.receiving.empty() && ports.granted < execution_.ports.receiving_of(of_class)) {
      const MessageIndex index = ports.receiving.front();
      Message& message = messages_[index];
      if (!message.can_be_received) break;
      ports.receiving.pop_front();
      ++ports.granted;
      const Nanos way =
          execution_.ports.are_grants_carried ? network_.latency(me, message.source) : Nanos(0);
      push({.time = now_ + way,
            .kind = Kind::granted,
            .source = message.source,
            .item = index,
            .frame = 0,
            .step = message.serial});
    }
  }
}

/// Starts messages for which both hosts have a free port, until no such message is left to start.
void Evaluation::start_half_duplex() {
  const auto can_start = [&](const Message& message) {
    const Host::Class& source = ports_at(message.source, message);
    const Host::Class& target = ports_at(message.target, message);
    return may_move(message) && source.has_free_port(execution_.ports.sending) &&
           target.has_free_port(execution_.ports.sending) && source.has_turn(message.step) &&
           target.has_turn(receiving_step(message));
  };
  while (true) {
    std::vector<std::tuple<std::uint64_t, Rank, MessageIndex>> candidates;
    for (const Host& host : hosts_)
      for (const Ready& ready : host.ready) {
        const Message& message = messages_[ready.message];
        if (can_start(message))
          candidates.emplace_back(std::max(message.step, receiving_step(message)), message.source,
                                  ready.message);
      }
    if (candidates.empty()) return;
    const MessageIndex first = std::get<2>(*std::min_element(candidates.begin(), candidates.end()));
    Host& source = hosts_[messages_[first].source];
    std::erase_if(source.ready, [&](const Ready& ready) { return ready.message == first; });
    std::make_heap(source.ready.begin(), source.ready.end());
    prepare(first);
    touch(messages_[first].source);
  }
}

void Evaluation::end_grant(const Message& message) {
  Host::Class& ports = ports_at(message.target, message);
  --ports.granted;
  if (execution_.ports.is_half_duplex) --ports.sending;
  touch(message.target);
}

void Evaluation::take_port(Message& message) {
  Host::Class& source = ports_at(message.source, message);
  source.end_turn(message.step);
  if (execution_.ports.is_half_duplex) {
    Host::Class& target = ports_at(message.target, message);
    target.end_turn(receiving_step(message));
    ++target.sending;
  }
  if (execution_.ports.sending == 0) return;
  message.has_port = true;
  ++source.sending;
}

void Evaluation::free_port_at(Nanos time, const Message& message) {
  push({.time = time + execution_.ports.cost,
        .kind = Kind::port_free,
        .source = message.source,
        .item = static_cast<std::uint32_t>(class_of(message)),
        .frame = 0,
        .step = message.step});
}

}  // namespace pricing::simulation
