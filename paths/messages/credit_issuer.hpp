// SPDX-License-Identifier: Apache-2.0
// paths/messages/credit_issuer.hpp — credit and grants for sources of messages
#pragma once
#include <cstdint>
#include <list>
#include <utility>

#include "paths/messages/channels/accounts.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/group_table.hpp"

namespace paths {

/// Issues credit to sources of messages, within the limit of the inbox. The inbox limits the memory
/// for messages that arrive before their receive call. Also grants messages after this host has
/// made their receive call.
///
/// Thread-safe: guarded by the mutex of the endpoint.
class CreditIssuer {
 public:
  /// Requires: all arguments outlive this object. `inbox` also outlives the groups.
  CreditIssuer(EndpointState& state, GroupTable& groups, Inbox& inbox)
      : state_(state), groups_(groups), inbox_(inbox) {}

  /// Returns the lane from the peer `source`. The first call makes the lane.
  InboundChannel& lane_from(GroupState& group, std::uint32_t source);

  void issue(GroupState& group, std::uint32_t source);
  /// Issues new credit to a source after credit of the source was returned to the inbox. Before,
  /// calls issue_to_short().
  void issue_returned(GroupState& group, std::uint32_t source);
  /// Issues credit to the lanes that got too little credit because the inbox was full.
  void issue_to_short();

  /// Grants a message, so that its source may send the message without credit. Delays the grant if
  /// the source probably has enough credit for the message.
  void ask_for(const GroupState& group, std::uint32_t source, InboundChannel& lane,
               const NamedMessage& which, MessageName name);
  /// Sends the delayed grants of a lane, unless the source has ample credit (Account::is_ample()).
  void ask_if_short(const GroupState& group, std::uint32_t source, InboundChannel& lane);
  /// Sends all delayed grants whose messages have not arrived.
  void ask_for_all();
  /// Returns the time at which MessageClock must call ask_for_all(); Nanos::max() if no grant is
  /// delayed.
  base::Nanos asks_at() const { return asks_at_; }

 private:
  std::uint64_t bytes_under_way(std::uint32_t source) const;
  std::uint64_t largest_share() const;
  std::uint64_t frame_bytes() const;
  bool may_wait_to_ask(const InboundChannel& lane, const NamedMessage& which) const;
  bool has_ample_credit(const InboundChannel& lane) const;
  void grant(std::uint64_t group, std::uint32_t source, const InboundChannel::HeldBack& message,
             bool is_at_once = false);
  void grant_held_back(const GroupState& group, std::uint32_t source, InboundChannel& lane);

  EndpointState& state_;
  GroupTable& groups_;
  Inbox& inbox_;
  // Group and source of each lane that got too little credit because the inbox was full.
  std::list<std::pair<std::uint64_t, std::uint32_t>> short_;
  base::Nanos asks_at_ = base::Nanos::max();
};

}  // namespace paths
