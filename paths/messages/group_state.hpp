// SPDX-License-Identifier: Apache-2.0
// paths/messages/group_state.hpp — what a host knows of a group that it is in.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "paths/messages/channels/incoming.hpp"
#include "paths/messages/channels/outbound_channel.hpp"
#include "paths/messages/group.hpp"

namespace paths {

/// A group of hosts, as one of them sees it: its lanes, who has left, which channels are closed or
/// have failed.
///
/// Sharing: guarded by the mutex of the endpoint.
struct GroupState {
  struct Failed {
    std::uint64_t last = 0;
    std::string why;
    std::set<std::uint32_t> knowing;  ///< peers that said so
    bool is_told = false;             ///< to the others, by this host
    bool is_mismatch = false;         ///< hosts take the first of the channels for different things
  };
  struct Meaning {
    std::uint64_t signature_digest = 0;
    std::uint32_t host = 0;  ///< who said so first
  };

  std::uint64_t id = 0;
  std::string name;
  SharedHosts hosts;  ///< sorted
  GroupOptions options;
  std::map<std::uint32_t, OutboundChannel> out;                 ///< by target; nodes do not move
  std::map<std::uint32_t, std::unique_ptr<InboundChannel>> in;  ///< by source
  std::map<std::uint32_t, std::string> over;     ///< peers that nothing comes from, and why
  std::set<std::uint32_t> said;                  ///< those of them that gave the reason themselves
  std::map<std::uint32_t, Participation> parts;  ///< what those took part in
  std::uint64_t closed_before = 0;               ///< channels below are closed
  std::set<std::uint64_t> closed;                ///< and those
  /// The last closed channel, and what it was for; nullptr if that was not said.
  std::pair<std::uint64_t, std::shared_ptr<const std::string>> last_closed;
  std::map<std::uint64_t, Failed> failed;     ///< channels, by the first; apart from each other
  std::map<std::uint64_t, Meaning> meanings;  ///< what open channels are for

  bool has(std::uint32_t host) const;
  /// Returns the lane to a peer, which may be new.
  OutboundChannel& lane_to(std::uint32_t target);
  bool is_closed(std::uint64_t channel) const {
    return channel < closed_before || closed.contains(channel);
  }
  /// Returns why a channel has failed; nullptr if it has not.
  const std::string* why_failed(std::uint64_t channel) const;
  void close(std::uint64_t channel);
  /// Returns what is wrong with a message on a channel that is closed.
  std::string text_of_closed(std::uint64_t channel) const;
  /// Fails the channels that have not failed yet. Returns whether there are any.
  bool fail(const Channels& which, const std::string& why);
  /// Notes that the channels that fail from this one on do so because hosts take it for different
  /// things.
  void mark_mismatch(std::uint64_t channel);

 private:
  void forget_closed();
};

}  // namespace paths
