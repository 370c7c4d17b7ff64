// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/outgoing_lanes.hpp — messages that a host sends, cut into frames that
// take turns.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/links/link_scheduler.hpp"
#include "paths/messages/channels/outbound_channel.hpp"
#include "paths/messages/group.hpp"

namespace paths {

/// What a host sends by itself, as against what passes through it. Of each outgoing link, one frame
/// at a time is offered, the next when the link has taken it; channels take turns, and one that has
/// just become active goes first. So a small message beside large ones waits for one frame. Where
/// no link says how fast, whoever carries frames says when there is room for more.
///
/// Sharing: guarded by its owner's mutex. A lane stays where it is while it has messages here.
class OutgoingLanes {
 public:
  /// All outlive it. `frame_bytes`: 0 for whole messages.
  OutgoingLanes(runtime::Runtime& runtime, std::uint32_t host, std::uint64_t frame_bytes,
                LinkScheduler& link_scheduler, DueQueue& due_queue)
      : runtime_(runtime),
        host_(host),
        frame_bytes_(frame_bytes),
        link_scheduler_(link_scheduler),
        due_queue_(due_queue) {}

  void send(OutboundChannel& lane, std::uint64_t channel, base::Payload payload,
            std::shared_ptr<LaneWait> wait);
  void send(OutboundChannel& lane, const NamedMessage& which, base::Payload payload,
            std::shared_ptr<LaneWait> wait);
  /// That message needs no credit. False when it is not here: it was sent, or is to come.
  bool grant(OutboundChannel& lane, MessageName name);
  /// Credit or a grant came at that moment: what waited for it goes on.
  void unblock(OutboundChannel& lane, base::Nanos moment);
  /// Nothing more of it leaves: those who wait for its messages, to be told why.
  std::vector<std::shared_ptr<LaneWait>> drop(OutboundChannel& lane);
  /// The same of some channels.
  std::vector<std::shared_ptr<LaneWait>> drop(OutboundChannel& lane, const Channels& which);
  /// All that has left was handed over: what goes to a host for which `has_room` goes on. Whether
  /// something does; who has none is asked for again after room_made().
  template <class HasRoom>
  bool go_on(const HasRoom& has_room) {
    bool has_gone_on = false;
    for (Outlet* outlet : std::exchange(full_, {})) {
      outlet->has_no_room = !has_room(outlet->host);
      if (outlet->has_no_room) continue;
      outlet->in_hand = 0;
      pump(*outlet);
      has_gone_on = true;
    }
    return has_gone_on;
  }
  bool may_go_on() const { return !full_.empty(); }
  void room_made(std::uint32_t host);
  /// Which messages have been sent, since it was asked last.
  std::vector<std::shared_ptr<LaneWait>>& sent() { return sent_; }

 private:
  /// The channels that go out by one link, or to one host where there is none.
  struct Outlet {
    std::deque<OutboundChannel::Channel*> fresh, turns;
    base::Nanos taken{0};  ///< when the link took the last frame
    bool has_link = false;
    bool is_waiting = false;
    std::uint32_t host = 0;     ///< the next one, where there is no link
    std::uint64_t in_hand = 0;  ///< bytes that left, and were perhaps not handed over
    bool has_no_room = false;   ///< with as much in hand as may be
  };
  bool is_full(const Outlet& outlet) const;
  Outlet& outlet_to(std::uint32_t target);
  void put(OutboundChannel& lane, OutboundChannel::Channel& channel,
           OutboundChannel::Message message);
  void list(OutboundChannel::Channel& channel);
  void want(Outlet& outlet);
  void pump_at(Outlet& outlet, base::Nanos moment);
  void pump(Outlet& outlet);
  OutboundChannel::Channel* choose(Outlet& outlet, OutboundChannel::Message*& message);
  OutboundChannel::Channel* take_first(Outlet& outlet);
  OutboundChannel::Message* movable(OutboundChannel::Channel& channel) const;
  std::uint64_t next_bytes(const OutboundChannel::Message& message) const;
  base::Nanos offer(OutboundChannel::Channel& channel, OutboundChannel::Message& message,
                    base::Nanos at);
  void end(OutboundChannel::Channel& channel, OutboundChannel::Message& message, base::Nanos at);

  runtime::Runtime& runtime_;
  const std::uint32_t host_;
  const std::uint64_t frame_bytes_;
  LinkScheduler& link_scheduler_;
  DueQueue& due_queue_;
  std::unordered_map<const void*, Outlet> by_link_;    // nodes do not move
  std::unordered_map<std::uint32_t, Outlet> by_host_;  // likewise
  std::vector<Outlet*> full_;                          // of those, with as much in hand as may be
  std::vector<std::shared_ptr<LaneWait>> sent_;
};

}  // namespace paths
