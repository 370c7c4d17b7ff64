// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/outgoing_lanes.cpp — choice of the next frame, and its departure
#include "paths/messages/channels/outgoing_lanes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace paths {
namespace {

/// Limit for the bytes to one next host that the carrier has received and may not have sent yet.
/// This number of bytes fits in the processor's cache. The limit applies on the steady clock only.
constexpr std::uint64_t in_hand_max = std::uint64_t{64} << 10;

}  // namespace

/// Returns the outlet for frames to `target`. If hosts have costs, frames for the same outgoing
/// link share one outlet, even if the link is not emulated. They share it, because the host
/// prepares one frame after the other.
OutgoingLanes::Outlet& OutgoingLanes::outlet_to(std::uint32_t target) {
  if (processor_ != nullptr) {
    const EmulatedLink* const link = link_scheduler_.emulated_link_to(target);
    const bool has_own_way = link == nullptr && link_scheduler_.leaves_cluster(target);
    return has_own_way ? by_host_[link_scheduler_.next_host(target)] : by_link_[link];
  }
  if (const EmulatedLink* link = link_scheduler_.link_to(target)) {
    Outlet& outlet = by_link_[link];
    outlet.has_link = true;
    return outlet;
  }
  const std::uint32_t next = link_scheduler_.next_host(target);
  Outlet& outlet = by_host_[next];
  outlet.host = next;
  return outlet;
}

bool OutgoingLanes::is_full(const Outlet& outlet) const {
  return outlet.in_hand >= in_hand_max && !outlet.has_link && can_carrier_fill_up();
}

void OutgoingLanes::send(OutboundChannel& lane, const NamedMessage& which, base::Payload payload,
                         std::shared_ptr<LaneWait> wait) {
  OutboundChannel::Channel& channel = which.has_name ? lane.named : lane.channels[which.channel];
  const MessageName name{which.channel, which.has_name ? which.name : channel.next_ordinal++};
  channel.lane = &lane;
  channel.is_named = which.has_name;
  channel.put({.name = name,
               .signature_digest = which.signature_digest,
               .order = which.order,
               .payload = std::move(payload),
               .waits_for_grant = which.waits_for_grant,
               .ready_at = runtime_.now(),
               .wait = std::move(wait),
               .is_granted = lane.window.forget(name)});
  list(channel);
  want(outlet_to(lane.target));
}

bool OutgoingLanes::grant(OutboundChannel& lane, MessageName name) {
  OutboundChannel::Channel& channel = lane.channel_of(name.channel);
  OutboundChannel::Message* const message = channel.find(name);
  if (message == nullptr) return false;
  channel.grant(*message);
  return true;
}

void OutgoingLanes::unblock(OutboundChannel& lane, base::Nanos moment) {
  lane.for_each([&](OutboundChannel::Channel& channel) {
    if (channel.empty() || channel.is_listed) return;
    channel.ready_at = std::max(channel.ready_at, moment);
    list(channel);
  });
  want(outlet_to(lane.target));
}

void OutgoingLanes::list(OutboundChannel::Channel& channel) {
  if (channel.is_listed || movable(channel) == nullptr) return;
  channel.is_listed = true;
  Outlet& outlet = outlet_to(channel.lane->target);
  (channel.was_idle ? outlet.fresh : outlet.turns).push_back(&channel);
}

std::uint64_t OutgoingLanes::next_bytes(const OutboundChannel::Message& message) const {
  const std::uint64_t rest = message.bytes() - message.sent;
  return frame_bytes_ == 0 ? rest : std::min(rest, frame_bytes_);
}

OutboundChannel::Message* OutgoingLanes::movable(OutboundChannel::Channel& channel) const {
  return channel.movable([&](const OutboundChannel::Message& message) {
    return channel.lane->window.can_pay(charge_of(next_bytes(message)));
  });
}

OutboundChannel::Channel* OutgoingLanes::choose(Outlet& outlet,
                                                OutboundChannel::Message*& message) {
  while (OutboundChannel::Channel* channel = take_first(outlet)) {
    channel->is_listed = false;
    if ((message = movable(*channel)) != nullptr) return channel;
  }
  return nullptr;
}

/// Removes the channel whose turn it is from the lists of the outlet, and returns this channel. If
/// the channel contains named messages, all listed channels with named messages of the same group
/// are candidates. The function then takes the candidate whose next message has the lowest `order`.
OutboundChannel::Channel* OutgoingLanes::take_first(Outlet& outlet) {
  auto& turn = outlet.fresh.empty() ? outlet.turns : outlet.fresh;
  if (turn.empty()) return nullptr;
  std::deque<OutboundChannel::Channel*>* from = &turn;
  auto first = turn.begin();
  const auto order = [&](OutboundChannel::Channel& channel) {
    const OutboundChannel::Message* const message = movable(channel);
    return message == nullptr ? std::numeric_limits<std::uint64_t>::max() : message->order;
  };
  if (OutboundChannel::Channel& channel = **first; channel.is_named) {
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
  OutboundChannel::Channel* const chosen = *first;
  from->erase(first);
  return chosen;
}

/// Sends as many frames as the link or the carrier accepts. If the due queue has turns (on the
/// virtual clock), the next frame for a link is chosen after all other events of the same time.
void OutgoingLanes::want(Outlet& outlet) {
  if (outlet.is_waiting || outlet.is_preparing) return;
  if (processor_ != nullptr) return pump_at(outlet, runtime_.now());
  if (outlet.has_link && due_queue_.has_turns())
    pump_at(outlet, std::max(outlet.taken, runtime_.now()));
  else
    pump(outlet);
}

/// Notes that the carrier has room for frames to `host` again. Sets `Outlet::taken` to the present
/// time, so that frames that waited for room do not count as late.
void OutgoingLanes::room_made(std::uint32_t host) {
  const auto found = by_host_.find(host);
  if (found == by_host_.end() || !std::exchange(found->second.has_no_room, false)) return;
  found->second.taken = std::max(found->second.taken, runtime_.now());
  full_.push_back(&found->second);
}

void OutgoingLanes::pump_at(Outlet& outlet, base::Nanos moment) {
  outlet.is_waiting = true;
  due_queue_.put(
      moment,
      [this, &outlet] {
        outlet.is_waiting = false;
        pump(outlet);
      },
      Turn::choices, processor_ == nullptr ? 0 : rank_of_sends);
}

void OutgoingLanes::pump(Outlet& outlet) {
  if (processor_ != nullptr) return prepare(outlet);
  while (!outlet.is_waiting && !is_full(outlet)) {
    OutboundChannel::Message* message = nullptr;
    OutboundChannel::Channel* channel = choose(outlet, message);
    if (channel == nullptr) return;
    const base::Nanos at = link_scheduler_.not_long_ago(
        std::max({message->ready_at, channel->ready_at, outlet.taken}));
    outlet.in_hand += charge_of(next_bytes(*message));
    if (is_full(outlet)) full_.push_back(&outlet);
    TakenFrame taken = take_frame(*channel, *message);
    outlet.taken = link_scheduler_.depart(std::move(taken.frame), at);
    if (taken.wait != nullptr) end_at(outlet.taken, std::move(taken.wait));
    if (outlet.taken <= runtime_.now()) continue;
    pump_at(outlet, outlet.taken);
  }
}

/// Prepares frames until the processor is busy or the window is full.
void OutgoingLanes::prepare(Outlet& outlet) {
  while (!outlet.is_preparing) {
    OutboundChannel::Message* message = nullptr;
    OutboundChannel::Channel* const channel = choose(outlet, message);
    if (channel == nullptr) return;
    const std::uint64_t window = processor_->window(host_, channel->lane->target);
    const bool has_room = outlet.in_hand == 0 || (outlet.in_hand <= window &&
                                                  next_bytes(*message) <= window - outlet.in_hand);
    if (!has_room) {
      channel->is_listed = true;
      return outlet.fresh.push_front(channel);
    }
    TakenFrame taken = take_frame(*channel, *message);
    const std::uint64_t bytes = taken.frame.payload.size();
    outlet.in_hand += bytes;
    const base::Nanos time = processor_->send_time(host_, taken.frame.target, bytes);
    if (time == base::Nanos(0)) {
      hand_over(outlet, std::move(taken));
      continue;
    }
    outlet.is_preparing = true;
    auto send = [this, &outlet, taken = std::move(taken)]() mutable {
      outlet.is_preparing = false;
      hand_over(outlet, std::move(taken));
      want(outlet);
    };
    processor_->work(time, tuning::WorkKind::step, std::move(send));
  }
}

/// Passes a prepared frame to the link.
void OutgoingLanes::hand_over(Outlet& outlet, TakenFrame taken) {
  const std::uint64_t bytes = taken.frame.payload.size();
  const base::Nanos free_again = link_scheduler_.depart(std::move(taken.frame), runtime_.now());
  due_queue_.put(free_again, [this, &outlet, bytes] {
    outlet.in_hand -= bytes;
    want(outlet);
  });
  if (taken.wait != nullptr) end_at(free_again, std::move(taken.wait));
}

/// Makes the next frame of a message. If the message is not granted, uses credit for the frame.
/// Removes the message after its last frame.
OutgoingLanes::TakenFrame OutgoingLanes::take_frame(OutboundChannel::Channel& channel,
                                                    OutboundChannel::Message& message) {
  OutboundChannel& lane = *channel.lane;
  const std::uint64_t bytes = next_bytes(message);
  TakenFrame taken;
  LaneFrame& frame = taken.frame;
  frame.is_granted = message.is_granted;
  frame.source = host_;
  frame.target = lane.target;
  frame.group = lane.group;
  frame.channel = message.name.channel;
  frame.ordinal = message.name.ordinal;
  frame.signature_digest = message.signature_digest;
  frame.bytes = message.bytes();
  frame.offset = message.sent;
  frame.payload = message.part(message.sent, bytes);
  if (!frame.is_granted) lane.window.pay(charge_of(bytes));
  message.sent += bytes;
  if (message.sent == message.bytes()) {
    ++lane.messages_sent;
    taken.wait = std::move(message.wait);
    channel.end(message);
  }
  channel.was_idle = channel.empty();
  list(channel);
  return taken;
}

/// Ends the wait of a message at the time `at`. At this time the last byte of the message leaves.
void OutgoingLanes::end_at(base::Nanos at, std::shared_ptr<LaneWait> wait) {
  if (at <= runtime_.now()) {
    sent_.push_back(std::move(wait));
  } else {
    due_queue_.put(at,
                   [this, wait = std::move(wait)]() mutable { sent_.push_back(std::move(wait)); });
  }
}

std::vector<std::shared_ptr<LaneWait>> OutgoingLanes::drop(OutboundChannel& lane) {
  Outlet& outlet = outlet_to(lane.target);
  lane.for_each([&](OutboundChannel::Channel& channel) {
    std::erase(outlet.fresh, &channel);
    std::erase(outlet.turns, &channel);
    channel.is_listed = false;
  });
  return drop(lane, {});
}

std::vector<std::shared_ptr<LaneWait>> OutgoingLanes::drop(OutboundChannel& lane,
                                                           const Channels& which) {
  std::vector<std::shared_ptr<LaneWait>> waiting;
  lane.for_each([&](OutboundChannel::Channel& channel) { channel.drop(which, waiting); });
  return waiting;
}

}  // namespace paths
