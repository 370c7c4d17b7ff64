// SPDX-License-Identifier: Apache-2.0
// paths/messages/membership.hpp — neighbours of a host, and what it does when a host is gone.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "paths/messages/channel_failures.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/gathering.hpp"
#include "paths/messages/group_table.hpp"
#include "paths/messages/lost_hosts.hpp"

namespace paths {

/// Knows the neighbours of a host, and tells them which hosts are lost.
///
/// Sharing: guarded by the mutex of the endpoint.
class Membership {
 public:
  /// The parts of the endpoint that Membership uses. All outlive it.
  struct Parts {
    EndpointState& state;
    LostHosts& lost;
    GroupTable& groups;
    ChannelFailures& failures;
    Gathering& arrivals;
    Gathering& ends;
  };
  explicit Membership(const Parts& parts) : parts_(parts) {}

  /// Something came from or goes to `place`, on its way from or to `end`. A host does not count a
  /// switch as its neighbour, but the next host on the way to `end`. Sends each new neighbour the
  /// hosts that were lost before, because only neighbours of that time got them.
  void note_neighbour(std::uint32_t place, std::uint32_t end);
  /// Opens connections to neighbours if switches are processes. By these, switches, hosts and other
  /// switches notice the end of each other.
  void look_at_neighbours();
  bool has_neighbours() const { return !neighbours_.empty(); }
  bool has_neighbour(std::uint32_t host) const { return neighbours_.contains(host); }

  /// A host is gone. It ends all that waits for it, and other hosts receive it.
  void lose(std::uint32_t host, const std::string& why);
  /// The same of a host that is lost to its carrier. Also tells the exit of the cluster, because
  /// who waits for all threads of a cluster may have nothing to do with that host.
  void lose_and_tell_exit(std::uint32_t host, const std::string& why);
  /// A host has ended as it should. Others are not told: word of it would overtake what the host
  /// has sent them. It has said itself that it left its groups.
  void note_end(std::uint32_t host);
  /// Tells the source of a frame that passes here if the frame will not get to its target.
  void tell_of_loss(std::uint32_t from, const LaneFrame& frame);

  /// Whether a frame is of a switch, or to one, and goes to a neighbour by no way.
  bool is_of_neighbour(std::uint32_t from, const LaneFrame& frame) const;
  void take_of_neighbour(const LaneFrame& frame);
  /// Takes the report of a loss.
  void take_loss(const LaneFrame& frame);

 private:
  bool tells_of_losses() const;
  bool count_out(std::uint32_t host, const std::string& why);
  void tell_exit(std::uint32_t host, const std::string& why);
  void tell(std::uint32_t place, LaneFrame frame);

  const Parts parts_;
  /// Hosts that something came from or went to; of a switch also other switches.
  std::set<std::uint32_t> neighbours_;
};

}  // namespace paths
