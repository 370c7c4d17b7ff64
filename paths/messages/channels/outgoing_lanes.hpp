// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/outgoing_lanes.hpp — fair sending of a host's messages in frames
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/links/link_scheduler.hpp"
#include "paths/messages/channels/charged_processor.hpp"
#include "paths/messages/channels/outbound_channel.hpp"
#include "paths/messages/group.hpp"

namespace paths {

/// Divides the messages of a host into frames and lets the channels take turns, so that a small
/// message does not wait behind a large one.
///
/// Each outgoing link takes one frame at a time. A channel that was idle (its earlier messages have
/// all been sent) goes first. A small message on such a channel therefore waits for one frame only.
/// Frames that cross no emulated link go to the carrier, which brings frames to the next host. The
/// carrier reports when it has room. OutgoingLanes does not handle the frames of other hosts that
/// this host forwards.
///
/// If hosts have costs on the virtual clock, the host first prepares each frame, which takes time.
/// Prepared frames queue for the link. A window limits the bytes in this queue.
///
/// Thread-safe: guarded by its owner's mutex.
/// Requires: the address of a lane does not change while this object contains messages of the lane.
class OutgoingLanes {
 public:
  /// `frame_bytes` is the maximum payload of a frame in bytes; 0 = a frame carries a whole message.
  /// `processor` prepares the frames; nullptr if preparation takes no time.
  /// Requires: all arguments outlive this object.
  OutgoingLanes(runtime::Runtime& runtime, std::uint32_t host, std::uint64_t frame_bytes,
                LinkScheduler& link_scheduler, DueQueue& due_queue, ChargedProcessor* processor)
      : runtime_(runtime),
        host_(host),
        frame_bytes_(frame_bytes),
        link_scheduler_(link_scheduler),
        due_queue_(due_queue),
        processor_(processor) {}

  void send(OutboundChannel& lane, const NamedMessage& which, base::Payload payload,
            std::shared_ptr<LaneWait> wait);
  /// Notes that a message was granted and needs no credit. Returns false if this object does not
  /// contain the message: it was sent already, or send() has not been called yet.
  bool grant(OutboundChannel& lane, MessageName name);
  /// Sends further messages of a lane after credit or a grant has arrived at the time `moment`.
  void unblock(OutboundChannel& lane, base::Nanos moment);
  /// Drops all messages of a lane. Returns the waits of these messages, which the caller must fail.
  std::vector<std::shared_ptr<LaneWait>> drop(OutboundChannel& lane);
  /// Drops the messages of the channels `which` of a lane. Returns the waits of these messages,
  /// which the caller must fail.
  std::vector<std::shared_ptr<LaneWait>> drop(OutboundChannel& lane, const Channels& which);
  /// Resumes sending from outlets (queues of frames to one next host) that stopped because the
  /// carrier had no room, if it has room now. `has_room(host)` returns whether the carrier has room
  /// for frames to `host`. The other stopped outlets wait for room_made(). Returns whether an
  /// outlet resumed. Requires: all earlier frames have been passed to the carrier.
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
  /// Returns whether the carrier may lack room for a frame. It may lack room only on the steady
  /// clock.
  bool can_carrier_fill_up() const { return !runtime_.is_virtual(); }
  bool may_go_on() const { return !full_.empty(); }
  void room_made(std::uint32_t host);
  /// Returns the list of the waits of sent messages. The caller processes and clears the list.
  std::vector<std::shared_ptr<LaneWait>>& sent() { return sent_; }

 private:
  /// Queue of frames that leave over the same link, or without a link to the same next host. The
  /// queue contains channels; a frame is made when the channel has its turn.
  struct Outlet {
    /// Channels with messages to send. A channel in `fresh` had sent all its earlier messages. The
    /// channels in `fresh` go before the channels in `turns`.
    std::deque<OutboundChannel::Channel*> fresh, turns;
    base::Nanos taken{0};  ///< time from which on the link accepts the next frame
    bool has_link = false;
    bool is_waiting = false;
    std::uint32_t host = 0;  ///< next host; used only if there is no link
    /// Number of bytes that the carrier may not have sent yet. If the config states costs of hosts:
    /// number of bytes that are in preparation, or are prepared and have not left.
    std::uint64_t in_hand = 0;
    bool is_preparing = false;  ///< whether the processor prepares a frame
    bool has_no_room = false;   ///< whether the full outlet waits until the carrier has room
  };
  bool is_full(const Outlet& outlet) const;
  Outlet& outlet_to(std::uint32_t target);
  void list(OutboundChannel::Channel& channel);
  void want(Outlet& outlet);
  void pump_at(Outlet& outlet, base::Nanos moment);
  void pump(Outlet& outlet);
  void prepare(Outlet& outlet);
  /// A frame. For the last frame of a message, `wait` is the wait of the send; otherwise nullptr.
  struct TakenFrame {
    LaneFrame frame;
    std::shared_ptr<LaneWait> wait;
  };
  void hand_over(Outlet& outlet, TakenFrame taken);
  OutboundChannel::Channel* choose(Outlet& outlet, OutboundChannel::Message*& message);
  OutboundChannel::Channel* take_first(Outlet& outlet);
  OutboundChannel::Message* movable(OutboundChannel::Channel& channel) const;
  std::uint64_t next_bytes(const OutboundChannel::Message& message) const;
  TakenFrame take_frame(OutboundChannel::Channel& channel, OutboundChannel::Message& message);
  void end_at(base::Nanos at, std::shared_ptr<LaneWait> wait);

  runtime::Runtime& runtime_;
  const std::uint32_t host_;
  const std::uint64_t frame_bytes_;
  LinkScheduler& link_scheduler_;
  DueQueue& due_queue_;
  ChargedProcessor* const processor_;
  // Each outlet is in one of the two maps, keyed by link or by next host. Outlets keep their
  // addresses.
  std::unordered_map<const void*, Outlet> by_link_;
  std::unordered_map<std::uint32_t, Outlet> by_host_;
  std::vector<Outlet*> full_;  // those outlets in by_host_ that are full
  std::vector<std::shared_ptr<LaneWait>> sent_;
};

}  // namespace paths
