// SPDX-License-Identifier: Apache-2.0
// paths/messages/group_state.hpp — state of one group on one of its hosts
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "paths/messages/channels/incoming.hpp"
#include "paths/messages/channels/outbound_channel.hpp"
#include "paths/messages/ended_channels.hpp"
#include "paths/messages/group.hpp"
#include "paths/travel_error.hpp"

namespace paths {

/// State of a group on one of its hosts: lanes, hosts that have left, and closed or failed
/// channels.
///
/// Thread-safe: guarded by the mutex of the endpoint.
struct GroupState {
  struct Failed {
    std::uint64_t last = 0;
    std::string why;
    FailureCause cause = FailureCause::other;
    std::set<std::uint32_t> knowing;  ///< peers that have reported the failure to this host
    bool is_notified = false;         ///< whether this host has reported the failure to its peers
    bool is_mismatch = false;  ///< whether two hosts use the first channel for different purposes
  };
  struct Meaning {
    std::uint64_t signature_digest = 0;
    std::uint32_t host = 0;  ///< first host that is known to use the channel for this purpose
  };

  std::uint64_t id = 0;
  std::string name;
  SharedHosts hosts;  ///< sorted numbers of the hosts in the group
  GroupOptions options;
  std::map<std::uint32_t, OutboundChannel> out;  ///< keyed by target; lanes keep their addresses
  /// Lanes from peers, keyed by source.
  std::map<std::uint32_t, std::unique_ptr<InboundChannel>> in;
  std::map<std::uint32_t, std::string> over;  ///< peers whose lanes have ended, with the reason
  std::set<std::uint32_t> said;               ///< peers in `over` that themselves gave the reason
  /// Operations in which peers took part before they left the group.
  std::map<std::uint32_t, Participation> parts;
  std::uint64_t closed_before = 0;  ///< all channels with lower numbers are closed
  std::set<std::uint64_t> closed;   ///< closed channels with numbers of at least `closed_before`
  /// The channel that was closed last, and its purpose; nullptr if the purpose is not known.
  std::pair<std::uint64_t, std::shared_ptr<const std::string>> last_closed;
  /// Digest of the purpose of each closed channel on which this host did its part without messages,
  /// keyed by channel. Contains at most EndedChannels::purposes_max channels; if there are more,
  /// the lowest channel is removed.
  std::map<std::uint64_t, std::uint64_t> closed_purposes;
  /// Failed ranges of channels, keyed by the first channel of the range. Ranges do not overlap.
  std::map<std::uint64_t, Failed> failed;
  std::map<std::uint64_t, Meaning> meanings;  ///< purposes of open channels, keyed by channel
  /// Channels that close_ended() will close. The handle of the group notes them.
  const std::shared_ptr<EndedChannels> ended = std::make_shared<EndedChannels>();

  bool has(std::uint32_t host) const;
  /// Returns the lane to the peer `target`. The first call makes the lane.
  OutboundChannel& lane_to(std::uint32_t target);
  bool is_closed(std::uint64_t channel) const {
    return channel < closed_before || closed.contains(channel);
  }
  /// Returns the failure of a channel; nullptr if the channel has not failed.
  const Failed* failure_of(std::uint64_t channel) const;
  /// Closes channels and removes their state. `what` is the purpose of the last channel for error
  /// messages; nullptr if it is not known.
  void close(const Channels& which, std::shared_ptr<const std::string> what);
  /// Notes the digest of the purpose of a channel on which this host did its part without messages.
  void note_purpose(std::uint64_t channel, std::uint64_t signature_digest);
  /// Closes the channels in `ended`.
  void close_ended();
  /// Returns the error text for a message that arrives on a closed channel.
  std::string text_of_closed(std::uint64_t channel) const;
  /// Fails the channels `which`, except the channels that have failed already. Returns false if all
  /// channels `which` had failed before.
  bool fail(const Channels& which, const std::string& why, FailureCause cause);
  /// Notes why the failed range that begins at `channel` has failed: hosts use `channel` for
  /// different purposes.
  void mark_mismatch(std::uint64_t channel);

 private:
  void forget_closed();
};

}  // namespace paths
