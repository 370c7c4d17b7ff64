// SPDX-License-Identifier: Apache-2.0
// paths/messages/membership.hpp — neighbours of a host, and reports of lost hosts
#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "paths/messages/channel_failures.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/gathering.hpp"
#include "paths/messages/group_table.hpp"
#include "paths/messages/lost_hosts.hpp"

namespace paths {

/// Records the neighbours of a host, and reports lost hosts to the neighbours. By such reports, a
/// host learns of the loss of hosts to which it has no connection.
///
/// Thread-safe: guarded by the mutex of the endpoint.
class Membership {
 public:
  /// The parts of the endpoint that Membership uses. All outlive the Membership object.
  struct Parts {
    EndpointState& state;
    LostHosts& lost;
    GroupTable& groups;
    ChannelFailures& failures;
    Gathering& arrivals;
    Gathering& ends;
  };
  explicit Membership(const Parts& parts) : parts_(parts) {}

  /// Notes a frame between this host and its neighbour `place`. `end` is the source of an incoming
  /// frame, or the target of an outgoing frame. If `place` is a switch, records the next host on
  /// the route to `end` as the neighbour instead. A new neighbour receives reports of all earlier
  /// losses.
  void note_neighbour(std::uint32_t place, std::uint32_t end);
  /// Opens connections between hosts and switch processes, so that a host and a switch notice the
  /// end of each other. Called only if switches are processes.
  void look_at_neighbours();
  bool has_neighbour(std::uint32_t host) const { return neighbours_.contains(host); }
  /// Returns whether this host is the exit of its cluster and a neighbour in the cluster still
  /// runs. Messages from or to this neighbour may still have to pass this host.
  bool forwards_for_neighbours() const;

  /// Counts a host as lost: ends the lanes that need the host, and reports the loss to the
  /// neighbours.
  void lose(std::uint32_t host, const std::string& why);
  /// Counts a host as lost, like lose(). Also notifies the exit of this host's cluster. The exit
  /// may wait for the threads of the lost host, but may have no connection to the lost host.
  void lose_and_notify_exit(std::uint32_t host, const std::string& why);
  /// Notes that a host has ended properly. Does not report the end to other hosts, because the
  /// report could overtake the last frames of the ended host. The report is not needed, because the
  /// ended host itself has reported that it left its groups.
  void note_end(std::uint32_t host);
  /// Checks a frame that this host forwards and that came from the neighbour `from`. If a lost host
  /// is on the route to the frame's target, reports the loss to the source of the frame. A switch
  /// reports the loss to `from`.
  void report_loss(std::uint32_t from, const LaneFrame& frame);

  /// Returns whether a frame is a look or a report of a loss that a host sends to a neighbouring
  /// switch, or a switch to a neighbour.
  bool is_of_neighbour(std::uint32_t from, const LaneFrame& frame) const;
  void take_of_neighbour(const LaneFrame& frame);
  /// Processes the report of a lost host. Accepts the report if its source may know of the loss
  /// (may_know()). Otherwise asks the reported host for a sign of life, and counts it as lost if no
  /// sign of life arrives. If the reported host cannot be asked, ignores the report.
  void take_loss(const LaneFrame& frame);

 private:
  bool may_know(std::uint32_t source, std::uint32_t place) const;
  void verify_loss(std::uint32_t source, std::uint32_t host, const std::string& why);
  bool tells_of_losses() const;
  bool count_out(std::uint32_t host, const std::string& why);
  void notify_exit(std::uint32_t host, const std::string& why);
  void tell(std::uint32_t place, LaneFrame frame);

  const Parts parts_;
  /// Hosts with which this host has exchanged frames directly. On a switch, also other switches.
  std::set<std::uint32_t> neighbours_;
  std::set<std::uint32_t> asked_;  // hosts from which this host awaits a sign of life
};

}  // namespace paths
