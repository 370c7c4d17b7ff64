// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/place_reports.hpp — figures of joins, networks, links, stages and
// paths.
//
// All times are nanoseconds. Times within one host are differences on its own clock. A time between
// hosts is two-way: (up - down) on the near side minus (up - down) on the far side. Both
// differences are on one clock, so the clocks of the hosts need not agree. A one-way time is half
// of a two-way time (Bongo et al. 2004, §VI-B). The names of fields with such times contain two_way
// or one_way.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/fields.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

/// Names and config position by which a report identifies a wrapper, or only a host.
struct Place {
  std::string wrapper;
  std::string kind;
  std::string host;
  std::string cluster;
  std::string position;
  std::uint32_t stage = no_stage;
};

template <class Visitor>
void describe(Visitor& visit, const Place& place) {
  visit.object("place", "Position of a wrapper, or only of a host.");
  const std::string_view host_only = "if the place is a host";
  visit.field("wrapper", place.wrapper, units::none,
              "Name of the wrapper; its kind if it has no name.",
              left_out(place.wrapper.empty(), host_only));
  visit.field("kind", place.kind, units::none, "Kind of the wrapper.",
              left_out(place.kind.empty(), host_only));
  visit.field("host", place.host, units::none, "Name of the host.");
  visit.field("cluster", place.cluster, units::none, "Name of its cluster.");
  visit.field("position", place.position, units::none, "File, line and column in the config.",
              left_out(place.position.empty(), "if the trace does not know it"));
  visit.field("stage", place.stage, units::none, "Number of the stage of the path.",
              left_out(place.stage == no_stage, "if the place is no stage"));
}

struct JoinReport {
  struct Contributor {
    std::string name;
    std::string host;
    std::uint32_t slot = 0;
    bool is_remote = false;
    std::uint64_t last = 0;
    std::uint64_t left_first = 0;
    std::uint64_t left_last = 0;
    Summary arrival_wait;
    Summary departure_delay;
  };
  Place place;
  std::string graph;
  std::uint64_t rounds = 0;
  Summary through;
  Summary below;
  Summary departure_spread;
  std::uint64_t late_replies = 0;
  std::int64_t late_reply_nanos = 0;
  std::string latest_reply_to;  ///< host to which late replies went most often
  std::uint64_t critical_late_replies = 0;
  std::int64_t critical_late_reply_nanos = 0;
  std::vector<Blocks::Row> lateness_blocks;  ///< delay of the late reply per round; 0 = not late
  std::vector<Contributor> contributors;
};

template <class Visitor>
void describe(Visitor& visit, const JoinReport::Contributor& from) {
  visit.object("contributor", "Thread or join whose contributions meet others in a join.");
  visit.field("name", from.name, units::none, "Name of the thread, or of the join above.");
  visit.field("host", from.host, units::none, "Host of the contributor.");
  visit.field("slot", from.slot, units::none, "Number of the contributor in the join.");
  visit.field("remote", from.is_remote, units::none,
              "True if the contributor is on another host than the join.");
  visit.field("last", from.last, units::rounds, "Rounds in which it arrived last.");
  visit.field("left_first", from.left_first, units::rounds,
              "Rounds in which it left first. Rounds that all left at one moment do not count.");
  visit.field("left_last", from.left_last, units::rounds,
              "Rounds in which it left last. Rounds that all left at one moment do not count.");
  visit.field("arrival_wait_nanos", from.arrival_wait, units::nanos,
              "Time from its arrival to the last arrival.");
  visit.field("departure_delay_nanos", from.departure_delay, units::nanos,
              "Time from the arrival of the result in the join until it left.");
}

template <class Visitor>
void describe(Visitor& visit, const JoinReport& join) {
  visit.object("join", "Wrapper where several paths meet.");
  visit.field("place", join.place, units::none, "Position of the join.");
  visit.field("graph", join.graph, units::none, "Collective that the join belongs to.");
  visit.field("rounds", join.rounds, units::rounds, "Complete rounds.");
  visit.field("through_nanos", join.through, units::nanos,
              "Time from the last arrival until the round continued downwards.");
  visit.field("below_nanos", join.below, units::nanos,
              "Time from there until the result arrived from below.");
  visit.field("departure_spread_nanos", join.departure_spread, units::nanos,
              "Time from the first departure to the last.");
  visit.field(
      "rounds_with_late_replies", join.late_replies, units::rounds,
      "Rounds in which a reply to another host left at least 1 ms after the result arrived, "
      "and after a local contributor left.");
  visit.field("late_reply_nanos", join.late_reply_nanos, units::nanos,
              "Delay of the latest reply, summed over these rounds.");
  visit.field("critical_rounds_with_late_replies", join.critical_late_replies, units::rounds,
              "Rounds of which the critical thread waited for a late reply.");
  visit.field("critical_late_reply_nanos", join.critical_late_reply_nanos, units::nanos,
              "Delay of late replies, summed over the critical rounds.");
  visit.field("contributors", join.contributors, units::none, "Contributors, by slot.");
}

/// Figures of the wrappers of one host between two event collectors (wrappers that record
/// operations).
struct StageReport {
  Place place;
  std::string graph;
  Summary down;
  Summary up;
  Summary within;
  bool is_hold = false;
  std::uint64_t critical_rounds = 0;
  std::int64_t critical_nanos = 0;
};

template <class Visitor>
void describe(Visitor& visit, const StageReport& stage) {
  visit.object("stage", "Wrappers of one host between two collectors.");
  visit.field("place", stage.place, units::none, "Position of the first wrapper.");
  visit.field("graph", stage.graph, units::none, "Collective that the stage belongs to.");
  visit.field("down_nanos", stage.down, units::nanos, "Time on the way down.");
  visit.field("up_nanos", stage.up, units::nanos, "Time on the way up.");
  visit.field("within_nanos", stage.within, units::nanos,
              "Time from entering the last wrappers of a path to leaving them.");
  visit.field("holds_results_back", stage.is_hold, units::none,
              "True for a `broadcast_delay`, which delays replies within one host.");
  visit.field("critical_rounds", stage.critical_rounds, units::rounds,
              "Rounds of which the critical path leads through the stage.");
  visit.field("critical_nanos", stage.critical_nanos, units::nanos,
              "Time in the stage, summed over these rounds.");
}

/// Figures of a wrapper `forward`, which continues paths on another host.
struct CrossingReport {
  Place place;
  std::string graph;
  std::string to_host;
  std::string to_cluster;
  bool is_wan = false;
  Summary two_way;
  double one_way_half_mean = 0;
  Summary down_one_way, up_one_way;
  std::uint64_t messages = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t critical_rounds = 0;
  std::vector<Blocks::Row> blocks;  ///< two-way times of consecutive rounds
};

template <class Visitor>
void describe(Visitor& visit, const CrossingReport& crossing) {
  visit.object("crossing", "Forward to another host.");
  visit.field("place", crossing.place, units::none, "Position of the forward.");
  visit.field("graph", crossing.graph, units::none, "Collective that the forward belongs to.");
  visit.field("to_host", crossing.to_host, units::none, "Host at the other end.");
  visit.field("to_cluster", crossing.to_cluster, units::none, "Cluster of that host.");
  visit.field("wan", crossing.is_wan, units::none, "True between two clusters.");
  visit.field("two_way_nanos", crossing.two_way, units::nanos,
              "Two-way time of the network, without emulated links.");
  visit.field("one_way_nanos_half_of_two_way", crossing.one_way_half_mean, units::nanos,
              "Half of the mean two-way time.");
  visit.field(
      "down_one_way_nanos", crossing.down_one_way, units::nanos,
      "One-way time of requests. Known only with a common clock, and as exact as that clock, "
      "so it may be negative.");
  visit.field("up_one_way_nanos", crossing.up_one_way, units::nanos,
              "One-way time of replies, known as that of requests is.");
  visit.field("messages", crossing.messages, units::count, "Requests and replies.");
  visit.field("payload_bytes", crossing.payload_bytes, units::bytes, "Payload of all messages.");
  visit.field("critical_rounds", crossing.critical_rounds, units::rounds,
              "Rounds of which the critical path leads through the forward.");
}

/// Figures of one direction of an emulated link.
struct LinkReport {
  Place place;
  std::string from_host, to_host, from_cluster, to_cluster;
  bool is_wan = false;
  std::int64_t declared_nanos = -1;  ///< below 0 = the config declares no latency
  std::string source;
  Summary travel;
  Summary queued;
  std::uint64_t payload_bytes = 0;
  std::uint64_t critical_rounds = 0;
  /// Travel times of consecutive messages, and the times at which these messages began to travel.
  std::vector<Blocks::Row> blocks, block_begins;
  double transmission_nanos = 0;  ///< mean time to transmit a message at the link's bandwidth
};

template <class Visitor>
void describe(Visitor& visit, const LinkReport& link) {
  visit.object("link", "One direction of an emulated link.");
  visit.field("place", link.place, units::none, "Position of the link.");
  visit.field("from_host", link.from_host, units::none, "Host that sends.");
  visit.field("to_host", link.to_host, units::none, "Host that receives.");
  visit.field("from_cluster", link.from_cluster, units::none, "Cluster of the sender.");
  visit.field("to_cluster", link.to_cluster, units::none, "Cluster of the receiver.");
  visit.field("wan", link.is_wan, units::none, "True between two clusters.");
  visit.field("source", link.source, units::none,
              "Records that the times are from: `link records` or `collectors around it`.");
  visit.field("travel_nanos", link.travel, units::nanos,
              "Time of a message on the link, without waiting for earlier messages.");
  visit.field("queued_nanos", link.queued, units::nanos,
              "Wait for earlier messages. Known only from link records.");
  visit.field("payload_bytes", link.payload_bytes, units::bytes, "Payload of all messages.");
  visit.field("critical_rounds", link.critical_rounds, units::rounds,
              "Rounds of which the critical path leads through the link.");
  visit.field("declared_nanos", link.declared_nanos, units::nanos, "Latency in the config.",
              left_out(link.declared_nanos < 0, "if the config declares no latency"));
}

struct PathReport {
  std::string graph;
  std::string host;
  std::string cluster;
  std::uint32_t first_thread = 0;
  std::uint32_t threads = 0;
  std::string to_cluster;
  Summary total;
  Summary network_two_way;
  Summary wan_two_way;
  double wan_share = 0;
};

template <class Visitor>
void describe(Visitor& visit, const PathReport& path) {
  visit.object("path", "Way of operations from the threads of a host to an element.");
  visit.field("graph", path.graph, units::none, "Collective that the path belongs to.");
  visit.field("host", path.host, units::none, "Host where the path begins.");
  visit.field("cluster", path.cluster, units::none, "Cluster of that host.");
  visit.field("first_thread", path.first_thread, units::none, "Rank of the first thread.");
  visit.field("threads", path.threads, units::count,
              "Threads of the host on the path; 0 = a prefetch begins the path.");
  visit.field("to_cluster", path.to_cluster, units::none, "Cluster where the path ends.");
  visit.field("total_nanos", path.total, units::nanos, "Time of an operation.");
  visit.field("network_two_way_nanos", path.network_two_way, units::nanos,
              "Part of it in forwards and links.");
  visit.field("wan_two_way_nanos", path.wan_two_way, units::nanos,
              "Part of it in forwards and links between clusters.");
  visit.field("wan_share", path.wan_share, units::ratio,
              "Share of the total that is between clusters.");
}

}  // namespace eventspace
