// SPDX-License-Identifier: Apache-2.0
// paths/lanes/outgoing_lanes.cpp — whose frame is next.
#include "paths/lanes/outgoing_lanes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace paths {
namespace {

/// Handed over before more is copied, on the steady clock: while it lies in a processor's cache.
constexpr std::uint64_t in_hand_max = std::uint64_t{64} << 10;

}  // namespace

const LaneOut::Message* LaneOut::find(MessageName name) const {
  const auto is_it = [&](const Message& message) { return message.name == name; };
  const auto channel = channels.find(name.channel);
  const auto& messages = channel != channels.end() ? channel->second.messages : named.messages;
  const auto found = std::find_if(messages.begin(), messages.end(), is_it);
  return found == messages.end() ? nullptr : &*found;
}

bool LaneOut::holds(std::uint64_t channel) const {
  return std::any_of(named.messages.begin(), named.messages.end(), [&](const Message& one) {
    return one.name.channel == channel && !one.wait->is_let_go;
  });
}

OutgoingLanes::Outlet& OutgoingLanes::outlet_to(std::uint32_t target) {
  if (const EmulatedLink* link = departures_.link_to(target)) {
    Outlet& outlet = by_link_[link];
    outlet.has_link = true;
    return outlet;
  }
  const std::uint32_t next = departures_.next_host(target);
  Outlet& outlet = by_host_[next];
  outlet.host = next;
  return outlet;
}

bool OutgoingLanes::is_full(const Outlet& outlet) const {
  return outlet.in_hand >= in_hand_max && !outlet.has_link && !runtime_.is_virtual();
}

void OutgoingLanes::send(LaneOut& lane, std::uint64_t number, base::Payload payload,
                         std::shared_ptr<LaneWait> wait) {
  LaneOut::Channel& channel = lane.channels[number];
  channel.lane = &lane;
  const MessageName name{number, channel.next_ordinal++};
  channel.messages.push_back(
      {name, 0, 0, std::move(payload), 0, false, runtime_.now(), std::move(wait)});
  list(channel);
  want(outlet_to(lane.target));
}

void OutgoingLanes::send(LaneOut& lane, const NamedMessage& which, base::Payload payload,
                         std::shared_ptr<LaneWait> wait) {
  LaneOut::Channel& channel = lane.named;
  channel.lane = &lane;
  channel.is_named = true;
  const auto later =
      std::find_if(channel.messages.begin(), channel.messages.end(),
                   [&](const LaneOut::Message& one) { return one.order > which.order; });
  channel.messages.insert(later, {{which.channel, which.name},
                                  which.meaning,
                                  which.order,
                                  std::move(payload),
                                  0,
                                  which.waits_for_grant,
                                  runtime_.now(),
                                  std::move(wait)});
  list(channel);
  want(outlet_to(lane.target));
}

void OutgoingLanes::unblock(LaneOut& lane, base::Nanos moment) {
  lane.for_each([&](LaneOut::Channel& channel) {
    if (channel.messages.empty() || channel.is_listed) return;
    for (LaneOut::Message& message : channel.messages)
      message.ready_at = std::max(message.ready_at, moment);
    list(channel);
  });
  want(outlet_to(lane.target));
}

void OutgoingLanes::list(LaneOut::Channel& channel) {
  if (channel.is_listed || movable(channel) == nullptr) return;
  channel.is_listed = true;
  Outlet& outlet = outlet_to(channel.lane->target);
  (channel.was_idle ? outlet.fresh : outlet.turns).push_back(&channel);
}

std::uint64_t OutgoingLanes::next_bytes(const LaneOut::Message& message) const {
  const std::uint64_t rest = message.bytes() - message.sent;
  return frame_bytes_ == 0 ? rest : std::min(rest, frame_bytes_);
}

/// Credit goes to the first message that was not granted; one that was granted overtakes it.
LaneOut::Message* OutgoingLanes::movable(LaneOut::Channel& channel) const {
  const Window& window = channel.lane->window;
  bool may_pay = true;
  for (LaneOut::Message& message : channel.messages) {
    if (message.wait->is_let_go) continue;
    if (window.is_granted(message.name)) return &message;
    if (message.waits_for_grant) continue;
    if (may_pay && window.can_pay(charge_of(next_bytes(message)))) return &message;
    may_pay = false;
  }
  return nullptr;
}

LaneOut::Channel* OutgoingLanes::choose(Outlet& outlet, LaneOut::Message*& message) {
  while (LaneOut::Channel* channel = take_first(outlet)) {
    channel->is_listed = false;
    if ((message = movable(*channel)) != nullptr) return channel;
  }
  return nullptr;
}

/// Whose turn it is; where that is a group with named messages, the one of its lanes that has the
/// first of them.
LaneOut::Channel* OutgoingLanes::take_first(Outlet& outlet) {
  auto& turn = outlet.fresh.empty() ? outlet.turns : outlet.fresh;
  if (turn.empty()) return nullptr;
  std::deque<LaneOut::Channel*>* from = &turn;
  auto first = turn.begin();
  const auto order = [&](LaneOut::Channel& channel) {
    const LaneOut::Message* const message = movable(channel);
    return message == nullptr ? std::numeric_limits<std::uint64_t>::max() : message->order;
  };
  if (LaneOut::Channel& channel = **first; channel.is_named) {
    std::uint64_t least = order(channel);
    for (auto* all : {&outlet.fresh, &outlet.turns})
      for (auto one = all->begin(); one != all->end(); ++one) {
        if (!(*one)->is_named || (*one)->lane->group != channel.lane->group) continue;
        const std::uint64_t its = order(**one);
        if (its >= least) continue;
        least = its;
        first = one;
        from = all;
      }
  }
  LaneOut::Channel* const chosen = *first;
  from->erase(first);
  return chosen;
}

/// What a link takes next is chosen when all is known that happens at this moment.
void OutgoingLanes::want(Outlet& outlet) {
  if (outlet.is_waiting) return;
  if (outlet.has_link && runtime_.is_virtual())
    pump_at(outlet, std::max(outlet.taken, runtime_.now()));
  else
    pump(outlet);
}

/// What waited for it was not late.
void OutgoingLanes::room_made(std::uint32_t host) {
  const auto found = by_host_.find(host);
  if (found == by_host_.end() || !std::exchange(found->second.has_no_room, false)) return;
  found->second.taken = std::max(found->second.taken, runtime_.now());
  full_.push_back(&found->second);
}

void OutgoingLanes::pump_at(Outlet& outlet, base::Nanos moment) {
  outlet.is_waiting = true;
  agenda_.put(
      moment,
      [this, &outlet] {
        outlet.is_waiting = false;
        pump(outlet);
      },
      Turn::choices);
}

void OutgoingLanes::pump(Outlet& outlet) {
  while (!outlet.is_waiting && !is_full(outlet)) {
    LaneOut::Message* message = nullptr;
    LaneOut::Channel* channel = choose(outlet, message);
    if (channel == nullptr) return;
    const base::Nanos at = departures_.not_long_ago(std::max(message->ready_at, outlet.taken));
    outlet.in_hand += charge_of(next_bytes(*message));
    if (is_full(outlet)) full_.push_back(&outlet);
    outlet.taken = offer(*channel, *message, at);
    if (outlet.taken <= runtime_.now()) continue;
    pump_at(outlet, outlet.taken);
  }
}

base::Nanos OutgoingLanes::offer(LaneOut::Channel& channel, LaneOut::Message& message,
                                 base::Nanos at) {
  LaneOut& lane = *channel.lane;
  const std::uint64_t bytes = next_bytes(message);
  LaneFrame frame;
  frame.is_granted = lane.window.is_granted(message.name);
  frame.source = host_;
  frame.target = lane.target;
  frame.group = lane.group;
  frame.channel = message.name.channel;
  frame.ordinal = message.name.ordinal;
  frame.meaning = message.meaning;
  frame.bytes = message.bytes();
  frame.offset = message.sent;
  frame.payload = message.part(message.sent, bytes);
  if (!frame.is_granted) lane.window.pay(charge_of(bytes));
  message.sent += bytes;
  const base::Nanos taken = departures_.depart(std::move(frame), at);
  if (message.sent == message.bytes()) end(channel, message, taken);
  channel.was_idle = channel.messages.empty();
  list(channel);
  return taken;
}

void OutgoingLanes::end(LaneOut::Channel& channel, LaneOut::Message& message, base::Nanos at) {
  LaneOut& lane = *channel.lane;
  lane.window.forget(message.name);
  ++lane.messages_sent;
  std::shared_ptr<LaneWait> wait = std::move(message.wait);
  const auto place = std::find_if(channel.messages.begin(), channel.messages.end(),
                                  [&](const LaneOut::Message& one) { return &one == &message; });
  channel.messages.erase(place);
  if (at <= runtime_.now()) {
    sent_.push_back(std::move(wait));
  } else {
    agenda_.put(at, [this, wait = std::move(wait)]() mutable { sent_.push_back(std::move(wait)); });
  }
}

std::vector<std::shared_ptr<LaneWait>> OutgoingLanes::drop(LaneOut& lane) {
  std::vector<std::shared_ptr<LaneWait>> waiting;
  Outlet& outlet = outlet_to(lane.target);
  lane.for_each([&](LaneOut::Channel& channel) {
    std::erase(outlet.fresh, &channel);
    std::erase(outlet.turns, &channel);
    channel.is_listed = false;
    for (LaneOut::Message& message : channel.messages) waiting.push_back(std::move(message.wait));
    channel.messages.clear();
  });
  return waiting;
}

std::vector<std::shared_ptr<LaneWait>> OutgoingLanes::drop(LaneOut& lane, const Channels& which) {
  std::vector<std::shared_ptr<LaneWait>> waiting;
  lane.for_each([&](LaneOut::Channel& channel) {
    std::erase_if(channel.messages, [&](LaneOut::Message& message) {
      if (message.name.channel < which.first || message.name.channel > which.last) return false;
      lane.window.forget(message.name);
      waiting.push_back(std::move(message.wait));
      return true;
    });
  });
  return waiting;
}

}  // namespace paths
