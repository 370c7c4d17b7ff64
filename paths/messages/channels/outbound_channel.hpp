// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/outbound_channel.hpp — sending side of one lane: unsent messages
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/payload.hpp"
#include "paths/messages/channels/accounts.hpp"
#include "paths/messages/group.hpp"

namespace paths {

/// Sending side of a lane: the messages of a group that this host sends to one other host.
///
/// Thread-safe: guarded by its owner's mutex.
struct OutboundChannel {
  struct Message {
    MessageName name;
    std::uint64_t signature_digest = 0;
    std::uint64_t order = 0;  ///< priority of a named message; the lowest value is sent first
    base::Payload payload;    ///< empty if the message is in lent memory
    bool waits_for_grant = false;
    base::Nanos ready_at{0};
    std::shared_ptr<LaneWait> wait;
    std::uint64_t sent = 0;    ///< number of bytes sent so far
    std::uint64_t serial = 0;  ///< number of the message in its Channel, in the order of put()
    bool is_granted = false;
    std::uint64_t bytes() const { return wait->lent.empty() ? payload.size() : wait->lent.size(); }
    base::Payload part(std::uint64_t offset, std::uint64_t size) const {
      return wait->lent.empty() ? payload.part(offset, size) : wait->lent.copy(offset, size);
    }
  };

  /// The unsent messages of a channel in the order of sending. Messages that need credit, granted
  /// messages, and messages that need a grant are in separate lists. The next message is therefore
  /// found quickly.
  class Channel {
   public:
    OutboundChannel* lane = nullptr;
    std::uint64_t next_ordinal = 0;
    bool is_named = false;    ///< whether this object contains the named messages of all channels
    bool is_listed = false;   ///< whether an outlet of OutgoingLanes lists this channel
    bool was_idle = true;     ///< whether the channel was empty after its latest frame was sent
    base::Nanos ready_at{0};  ///< time of the last credit or grant; no message leaves before it

    bool empty() const { return paying_.empty() && granted_.empty() && waiting_.empty(); }
    /// Adds a message. The message keeps its address in this object until it is sent or dropped.
    void put(Message message);
    /// Returns the message `name`; nullptr if there is none.
    Message* find(MessageName name);
    /// Returns whether there is an unsent message with this channel number whose handle still
    /// exists.
    bool holds(std::uint64_t number);
    /// Marks a message as granted. A granted message needs no credit.
    void grant(Message& message);
    /// Returns the message that may be sent next; nullptr if no message may be sent. A granted
    /// message overtakes an earlier message without a grant only if there is not enough credit for
    /// the earlier message. `can_pay(message)` returns whether there is enough credit for the next
    /// frame of a message.
    template <class CanPay>
    Message* movable(const CanPay& can_pay) {
      Message* const granted = first(granted_);
      Message* const paying = first(paying_);
      const bool is_paying_first =
          paying != nullptr && (granted == nullptr || place_of(*paying) < place_of(*granted));
      return is_paying_first && can_pay(*paying) ? paying : granted;
    }
    /// Removes a message that was sent completely.
    void end(Message& message);
    /// Drops all messages of the channels `which`. Appends the waits of these messages to
    /// `waiting`.
    void drop(const Channels& which, std::vector<std::shared_ptr<LaneWait>>& waiting);
    template <class See>
    void for_each(const See& see) const {
      for (const auto* messages : {&paying_, &granted_, &waiting_})
        for (const auto& [place, message] : *messages) see(message);
    }

   private:
    using Place = std::pair<std::uint64_t, std::uint64_t>;  // order and serial of a message
    using Messages = std::map<Place, Message>;              // messages keep their addresses
    static Place place_of(const Message& message) { return {message.order, message.serial}; }
    Messages& list_of(const Place& place);
    Message* first(Messages& messages);

    Messages paying_;  // messages that need credit
    Messages granted_;
    Messages waiting_;  // messages that need a grant, and messages whose handle was dropped
    std::set<std::pair<MessageName, Place>> places_;
    std::uint64_t serials_ = 0;
  };

  std::uint64_t group = 0;
  std::uint32_t target = 0;
  Window window;
  bool has_asked = false;
  std::uint64_t messages_sent = 0;
  std::map<std::uint64_t, Channel> channels;  // a std::map, so that a Channel never moves
  Channel named;

  /// Calls `see` for `named` and for each element of `channels`.
  template <class See>
  void for_each(const See& see) {
    for (auto& [number, channel] : channels) see(channel);
    see(named);
  }
  /// Returns whether there is an unsent named message with this channel number whose handle still
  /// exists.
  bool holds(std::uint64_t channel) { return named.holds(channel); }
  /// Returns the Channel for messages with this channel number: an element of `channels`, or
  /// `named`.
  Channel& channel_of(std::uint64_t number) {
    const auto found = channels.find(number);
    return found != channels.end() ? found->second : named;
  }
};

}  // namespace paths
