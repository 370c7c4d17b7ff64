// SPDX-License-Identifier: Apache-2.0
// paths/messages/credit_issuer.hpp — tells sources what they may send.
#pragma once
#include <cstdint>
#include <list>
#include <utility>

#include "paths/messages/channels/accounts.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/group_table.hpp"

namespace paths {

/// Issues credit to sources, as far as the inbox of this host goes, and requests messages that have
/// a receive here.
///
/// Sharing: guarded by the mutex of the endpoint.
class CreditIssuer {
 public:
  /// All outlive it. `inbox` also outlives the groups.
  CreditIssuer(EndpointState& state, GroupTable& groups, Inbox& inbox)
      : state_(state), groups_(groups), inbox_(inbox) {}

  /// Returns the lane from a peer, which may be new.
  InboundChannel& lane_from(GroupState& group, std::uint32_t source);

  void issue(GroupState& group, std::uint32_t source);
  /// Issues what has returned from a source. Those that found no room before are served first.
  void issue_returned(GroupState& group, std::uint32_t source);
  void issue_to_short();

  /// Requests a message from its source. Holds the request back if the source can send by credit.
  void ask_for(const GroupState& group, std::uint32_t source, InboundChannel& lane,
               const NamedMessage& which, MessageName name);
  /// Asks for what was held back, unless the lane has ample credit.
  void ask_if_short(const GroupState& group, std::uint32_t source, InboundChannel& lane);
  /// Asks for all that was held back and has not come.
  void ask_for_all();
  /// Returns when ask_for_all() must be called.
  base::Nanos asks_at() const { return asks_at_; }

 private:
  std::uint64_t bytes_under_way(std::uint32_t source) const;
  bool may_wait_to_ask(const InboundChannel& lane, const NamedMessage& which) const;
  bool has_ample_credit(const InboundChannel& lane) const;
  void grant(std::uint64_t group, std::uint32_t source, const InboundChannel::HeldBack& message,
             bool is_at_once = false);
  void grant_held_back(const GroupState& group, std::uint32_t source, InboundChannel& lane);

  EndpointState& state_;
  GroupTable& groups_;
  Inbox& inbox_;
  std::list<std::pair<std::uint64_t, std::uint32_t>>
      short_;  // lanes that the inbox had no room for
  base::Nanos asks_at_ = base::Nanos::max();
};

}  // namespace paths
