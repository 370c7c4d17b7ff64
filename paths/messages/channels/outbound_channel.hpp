// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/outbound_channel.hpp — the sender's side of one lane: messages that are
// not sent yet.
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

/// Messages of a group to one host.
///
/// Sharing: guarded by its owner's mutex.
struct OutboundChannel {
  struct Message {
    MessageName name;
    std::uint64_t signature_digest = 0;
    std::uint64_t order = 0;  ///< rank of a named one among those that wait
    base::Payload payload;    ///< or in memory that was lent
    bool waits_for_grant = false;
    base::Nanos ready_at{0};
    std::shared_ptr<LaneWait> wait;
    std::uint64_t sent = 0;    ///< bytes of it
    std::uint64_t serial = 0;  ///< counted by its channel
    bool is_granted = false;
    std::uint64_t bytes() const { return wait->lent.empty() ? payload.size() : wait->lent.size(); }
    base::Payload part(std::uint64_t offset, std::uint64_t size) const {
      return wait->lent.empty() ? payload.part(offset, size) : wait->lent.copy(offset, size);
    }
  };

  /// Messages of a channel in the order in which they leave. What a message waits for decides where
  /// it lies, so that the next one is found at once however many there are.
  class Channel {
   public:
    OutboundChannel* lane = nullptr;
    std::uint64_t next_ordinal = 0;
    bool is_named = false;    ///< its messages are, of whatever channels, and leave in their order
    bool is_listed = false;   ///< at its outlet
    bool was_idle = true;     ///< since it was last listed nothing of it was sent
    base::Nanos ready_at{0};  ///< no message leaves before the last missing permission

    bool empty() const { return paying_.empty() && granted_.empty() && waiting_.empty(); }
    /// Messages do not move.
    void put(Message message);
    /// Null if there is none of that name.
    Message* find(MessageName name);
    /// Whether one of that channel number has not left, and has not been withdrawn.
    bool holds(std::uint64_t number) const;
    /// It needs no credit from now on.
    void grant(Message& message);
    /// The first one that may move: credit goes to the first that was not granted; one that was
    /// granted overtakes it. `can_pay(message)`: whether there is credit for what is next of it.
    template <class CanPay>
    Message* movable(const CanPay& can_pay) {
      Message* const granted = first(granted_);
      Message* const paying = first(paying_);
      const bool is_paying_first =
          paying != nullptr && (granted == nullptr || place_of(*paying) < place_of(*granted));
      return is_paying_first && can_pay(*paying) ? paying : granted;
    }
    /// All of it was sent.
    void end(Message& message);
    /// Nothing more of those leaves: their waits go to `waiting`.
    void drop(const Channels& which, std::vector<std::shared_ptr<LaneWait>>& waiting);
    template <class See>
    void for_each(const See& see) const {
      for (const auto* messages : {&paying_, &granted_, &waiting_})
        for (const auto& [place, message] : *messages) see(message);
    }

   private:
    using Place = std::pair<std::uint64_t, std::uint64_t>;  // order, serial
    using Messages = std::map<Place, Message>;              // nodes do not move
    static Place place_of(const Message& message) { return {message.order, message.serial}; }
    Messages& list_of(const Message& message);
    Message* first(Messages& messages);
    const Message* find_at(const Place& place) const;

    Messages paying_;  // with credit
    Messages granted_;
    Messages waiting_;  // not movable: without a grant, or withdrawn
    std::set<std::pair<MessageName, Place>> places_;
    std::uint64_t serials_ = 0;
  };

  std::uint64_t group = 0;
  std::uint32_t target = 0;
  Window window;
  bool has_asked = false;
  std::uint64_t messages_sent = 0;
  std::map<std::uint64_t, Channel> channels;  // nodes do not move
  Channel named;

  /// All that have or had messages.
  template <class See>
  void for_each(const See& see) {
    for (auto& [number, channel] : channels) see(channel);
    see(named);
  }
  /// Whether a named message of that channel has not left.
  bool holds(std::uint64_t channel) const { return named.holds(channel); }
  /// The one that has messages of that channel number.
  Channel& channel_of(std::uint64_t number) {
    const auto found = channels.find(number);
    return found != channels.end() ? found->second : named;
  }
};

}  // namespace paths
