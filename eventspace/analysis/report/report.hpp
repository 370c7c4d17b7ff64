// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/report.hpp — what an analysis found, as values; printed as text and
// JSON.
#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/group_report.hpp"
#include "eventspace/analysis/report/transfer_report.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

struct SpectrumPoint {
  double frequency_hertz = 0;
  double power = 0;
};

/// Where a wrapper is, for people.
struct Place {
  std::string wrapper;  ///< its name; its kind when it was written in place
  std::string kind;
  std::string host;
  std::string cluster;
  std::string position;  ///< in the config
  std::uint32_t stage = no_stage;
};

/// All times are nanoseconds. Those of one host are differences of its own clock; a time between
/// hosts is two-way, (up - down) on the near side less (up - down) on the far one, and one-way is
/// half of it (Bongo et al. 2004, §VI-B): such fields say so in their names.
struct JoinReport {
  struct Contributor {
    std::string name;  ///< a thread, or the join above
    std::string host;
    std::uint32_t slot = 0;
    bool is_remote = false;
    std::uint64_t last = 0;  ///< rounds in which it arrived last
    /// Rounds in which it left first, or last; rounds in which all left at the same moment
    /// excluded.
    std::uint64_t left_first = 0;
    std::uint64_t left_last = 0;
    Summary arrival_wait;     ///< from its arrival to the last one's
    Summary departure_delay;  ///< from the result's coming up to its departure
  };
  Place place;
  std::string graph;
  std::uint64_t rounds = 0;
  Summary through;           ///< from the last arrival until it went on down
  Summary below;             ///< until the result came up
  Summary departure_spread;  ///< first departure to last
  /// Rounds in which a reply to another host left at least late_reply_nanos after the result had
  /// come up, and after somebody of this host had departed (Bongo et al. 2004, §VI-A), by how
  /// much, and who the last one was most often.
  std::uint64_t late_replies = 0;
  std::int64_t late_reply_nanos = 0;  ///< summed over these rounds
  std::string latest_reply_to;
  std::uint64_t critical_late_replies = 0;  ///< rounds whose critical thread waited for one
  std::int64_t critical_late_reply_nanos = 0;
  std::vector<Contributor> contributors;
};

/// Wrappers of one host between two collectors.
struct StageReport {
  Place place;
  std::string graph;
  Summary down;
  Summary up;
  Summary within;  ///< of the last wrappers of a path: from entering to leaving them
  /// A link that is part of no crossing: it delays replies within one host.
  bool is_hold = false;
  std::uint64_t critical_rounds = 0;
  std::int64_t critical_nanos = 0;
};

/// A forward.
struct CrossingReport {
  Place place;
  std::string graph;
  std::string to_host;
  std::string to_cluster;
  bool is_wan = false;
  Summary two_way;
  double one_way_half_mean = 0;
  /// Only with a common clock, and no more accurate than it: may be negative.
  Summary down_one_way, up_one_way;
  std::uint64_t messages = 0;       ///< there and back
  std::uint64_t payload_bytes = 0;  ///< of all these
  std::uint64_t critical_rounds = 0;
};

/// An emulated link: one direction.
struct LinkReport {
  Place place;
  std::string from_host, to_host, from_cluster, to_cluster;
  bool is_wan = false;
  std::int64_t declared_nanos = -1;  ///< in its settings; below 0: none
  std::string source;                ///< "link records" or "collectors around it"
  Summary travel;                    ///< without waiting for those before it
  Summary queued;                    ///< only of link records
  std::uint64_t payload_bytes = 0;
  std::uint64_t critical_rounds = 0;
};

struct PathReport {
  std::string graph;
  std::string host;
  std::string cluster;
  std::uint32_t first_thread = 0;
  std::uint32_t threads = 0;  ///< 0: begun by a wrapper
  std::string to_cluster;     ///< where it ends
  Summary total;
  Summary network_two_way;  ///< crossings and links on its way
  Summary wan_two_way;      ///< those between clusters
  double wan_share = 0;     ///< of the total
};

/// A thread on one of its paths: what it computed before each operation.
struct ThreadReport {
  std::string name;
  std::uint32_t rank = 0;
  std::string graph;
  std::string host;
  std::string cluster;
  Summary computation;
  std::vector<Bin> computation_bins;
  /// The baseline that noise is measured from: the median of the computations that are no outliers.
  std::int64_t base_nanos = 0;
  std::int64_t outlier_nanos = 0;  ///< computations that took longer are outliers
  std::uint64_t outliers = 0;      ///< computations that took noise_least more than the base
  std::int64_t noise_nanos = 0;    ///< by how much, in all
  std::int64_t noise_median_nanos = 0;
  double noise_share = 0;  ///< of its computation
  /// It is slow by about as much as one noise event takes, and those are rarer than computations.
  bool is_noise_rare = false;
  std::optional<double> period_nanos;
  /// For the noisiest threads that have a period: the Rayleigh periodogram of the times it was
  /// late.
  std::vector<SpectrumPoint> spectrum;
  double period_agreement = 0;  ///< of that period with what was late and what not, up to 1
  double iterations_per_period = 0;
  /// Close to a whole number: noise keeps hitting the same part of the iteration for a long time.
  bool resonates = false;
  std::uint64_t critical_rounds = 0;
  std::uint64_t critical_iterations = 0;  ///< with those that were answered above, before these
  std::int64_t critical_computation_nanos = 0;  ///< in those
  std::int64_t critical_noise_nanos = 0;
};

struct HostReport {
  std::string name;
  std::string cluster;
  std::uint32_t threads = 0;
  std::int64_t computation_nanos = 0;  ///< median of its threads' medians
  std::int64_t others_nanos = 0;       ///< of the other hosts of the cluster; 0: there are none
  std::int64_t base_nanos = 0;         ///< median of its threads' bases: without noise
  std::int64_t others_base_nanos = 0;
  double factor = 0;  ///< of the bases; 0: not known
  std::uint64_t critical_rounds = 0;
  std::uint64_t critical_iterations = 0;
  std::uint64_t records = 0;
  std::uint64_t missing_rounds = 0;  ///< not complete for want of its records
};

/// What its hosts and threads did in total.
struct ClusterReport {
  std::string name;
  std::uint32_t hosts = 0;
  std::uint32_t threads = 0;
  std::uint64_t records = 0;
  std::uint64_t critical_rounds = 0;   ///< in which one of its threads was waited for
  std::int64_t computation_nanos = 0;  ///< of all its threads, noise included
  std::int64_t noise_nanos = 0;
  std::int64_t critical_noise_nanos = 0;
  std::int64_t arrival_wait_nanos = 0;  ///< in joins on its hosts, of all who arrived
  std::int64_t cache_wait_nanos = 0;    ///< for values of other clusters
  std::uint64_t lan_messages = 0;       ///< of forwards from its hosts, there and back
  std::uint64_t lan_payload_bytes = 0;
  std::uint64_t wan_messages = 0;  ///< those to other clusters
  std::uint64_t wan_payload_bytes = 0;
};

/// Why the rounds of a collective took as long as they did, following each join's last arriver.
enum class Cause : std::uint8_t {
  computation,
  noise,  ///< what computing took longer than that thread's base
  join,
  network,
  link,
  broadcast_delay,  ///< a link that holds results back on one host
  check,            ///< a condition waited for other clusters
  internal,
};
inline constexpr std::size_t causes = 8;
std::string_view cause_name(Cause cause);

struct CriticalReport {
  struct Part {
    Cause cause = Cause::computation;
    std::string what;  ///< thread or wrapper
    std::string host;
    std::string position;
    std::int64_t nanos = 0;
    std::uint64_t rounds = 0;
  };
  std::string graph;
  std::string cluster;  ///< when the graph has a tree for each; else ""
  std::uint64_t rounds = 0;
  std::uint64_t iterations = 0;  ///< with those that a `periodic` of each thread answered
  std::uint64_t incomplete_rounds = 0;
  std::uint64_t failed_rounds = 0;
  /// Of the round's critical thread, which waits for nobody in joins: computation and operation
  /// together, and each by itself. Of iterations that were answered above, of the thread that the
  /// next round waited for.
  Summary iteration;
  Summary computation;
  Summary communication;
  std::array<std::int64_t, causes> by_cause = {};
  std::vector<Part> parts;  ///< the greatest first
};

/// The iterations of a graph in which at least one thread was late against its own mean.
struct LatenessReport {
  std::string graph;
  std::uint64_t iterations = 0;
  std::array<std::uint64_t, 4> over = {};  ///< more than each of lateness_bounds_nanos
  /// Noise of all threads; what of it made a round longer, and what somebody later hid; what the
  /// threads of a tree waited in all for noise of one of them.
  std::int64_t noise_nanos = 0;
  std::int64_t effective_noise_nanos = 0;
  std::int64_t absorbed_noise_nanos = 0;
  std::int64_t waited_for_noise_nanos = 0;
  /// What all threads together lost, by the noise: 0 when all of it was hidden, and as many as
  /// there are threads when all waited for all of it.
  double noise_amplification = 0;
  /// Two-way time between clusters on the critical paths, and how much of it was no more than
  /// somebody's noise in the same round (the first approach of Bongo et al. 2004). Where conditions
  /// wait for other clusters' values, at most one one-way latency of the wait is such time, too.
  std::int64_t critical_wan_two_way_nanos = 0;
  std::int64_t check_wan_one_way_nanos = 0;
  std::int64_t hideable_wan_nanos = 0;
  std::int64_t hideable_check_wan_nanos = 0;
};
inline constexpr std::array<std::int64_t, 4> lateness_bounds_nanos = {1'000'000, 5'000'000,
                                                                      10'000'000, 30'000'000};

struct ConditionalReport {
  struct Remote {
    std::string cluster;
    std::uint64_t reads = 0;      ///< values that were used
    std::uint64_t unused = 0;     ///< wanted, and decided without
    std::uint64_t cached = 0;     ///< had come before they were wanted
    std::uint64_t in_flight = 0;  ///< came within one one-way latency
    std::uint64_t late = 0;       ///< came later: that cluster was late
    double cached_share = 0;      ///< of those that were used
    /// Rounds in which its value was used first, second and so on: the order of arrival.
    std::vector<std::uint64_t> by_place;
    /// Half of the prefetch's two-way, or a push's one way; below 0: not known, and then neither is
    /// what was in flight or late.
    std::int64_t one_way_half_nanos = -1;
    Summary wait;      ///< of values that were used
    Summary ahead;     ///< rounds that the tuple was ahead
    Summary prefetch;  ///< from a read's leaving to the tuple's coming
  };
  struct Point {
    std::uint64_t sequence = 0;  ///< first of a row of rounds
    std::int64_t mean_nanos = 0;
    std::int64_t max_nanos = 0;
    std::uint64_t needing = 0;     ///< rounds that needed remote values, were they cached or not
    std::uint32_t needed_max = 0;  ///< by one round
  };
  /// Operations that needed the values of exactly these clusters together.
  struct Together {
    std::vector<std::string> clusters;
    std::uint64_t operations = 0;
    std::uint64_t all_cached = 0;  ///< of them
  };
  Place place;
  std::string graph;
  std::uint64_t operations = 0;
  std::uint64_t proved = 0;
  double cached_share = 0;                      ///< of the values used of all clusters
  std::vector<std::uint64_t> by_values_needed;  ///< operations that used 0, 1, 2... remote values
  Summary time_to_decide;
  std::vector<Point> decision_times;  ///< at most 2048, each for as many rounds
  std::vector<Remote> remotes;
  std::vector<Together> together;    ///< the most frequent first
  std::uint64_t other_together = 0;  ///< operations of sets that are not kept: there were too many
};

enum class FindingKind : std::uint8_t {
  slow_host,
  slow_thread,
  noisy_thread,
  slow_link,
  slow_network,
  late_broadcast,
};
std::string_view finding_name(FindingKind kind);

/// One thing that stands out. Thresholds: eventspace/analysis/diagnosis/findings.hpp.
struct Finding {
  FindingKind kind = FindingKind::slow_host;
  Place place;                  ///< of the wrapper, or only host and cluster
  std::string thread;           ///< of a slow or noisy one
  double figure = 0;            ///< see `unit`
  std::string unit;             ///< "percent", "nanoseconds", "times"
  std::int64_t cost_nanos = 0;  ///< in all, on the critical paths
  std::string basis;            ///< which clocks the figure is from
  std::string sentence;
  std::vector<std::string> rests_on_damage;  ///< hosts whose traces lack records
};

struct CoverageReport {
  std::uint64_t records = 0;
  std::uint64_t operations = 0;
  std::uint64_t unknown = 0;    ///< of no place or host in the structure, or of no possible time
  std::uint64_t passed_by = 0;  ///< operations other than move, through joins
  std::uint64_t late = 0;       ///< came after their round was given up
  std::uint64_t repeated = 0;   ///< two for one
  std::uint64_t contradictory = 0;  ///< rounds left out: a result came up before it was wanted
  std::uint64_t without_computation = 0;  ///< a thread's operations after a gap or overlapping
  std::uint64_t judged_early = 0;  ///< computations judged before all were known, to save memory
};

/// A figure of the run by rows of equally many rounds, for comparing it with another run.
struct Series {
  std::string figure;  ///< "iteration", "wait"...
  std::string what;    ///< whose
  std::vector<Blocks::Row> rows;
};

struct Report {
  CoverageReport coverage;
  std::vector<Finding> findings;  ///< those that cost most first
  std::vector<CriticalReport> critical;
  std::vector<LatenessReport> lateness;
  std::vector<ClusterReport> clusters;
  std::vector<HostReport> hosts;
  std::vector<ThreadReport> threads;
  std::vector<JoinReport> joins;
  std::vector<CrossingReport> crossings;
  std::vector<LinkReport> links;
  std::vector<StageReport> stages;
  std::vector<PathReport> paths;
  std::vector<ConditionalReport> conditionals;
  GroupsReport groups;         ///< not in the JSON where there are none
  TransfersReport transfers;   ///< likewise where there is one cluster
  std::vector<Series> series;  ///< not in the JSON
};

nlohmann::ordered_json to_json(const Report& report);
nlohmann::ordered_json to_json(const GroupsReport& report);
nlohmann::ordered_json to_json(const TransfersReport& report);
nlohmann::ordered_json to_json(const Summary& summary);
/// The text of a JSON file, in UTF-8. Names of a forged trace may be other bytes: those are
/// replaced.
std::string print_json(const nlohmann::ordered_json& json);
/// For a terminal: what costs most and where the time went, on one screen; with `rows` also tables
/// of at most so many rows. `losses`: what of the trace is missing, a sentence each.
std::string to_text(const Report& report, std::size_t rows = 0,
                    const std::vector<std::string>& losses = {});

/// Of `report.operations` the dearest, and with `rows` also tables. "" where there are none.
std::string to_text(const GroupsReport& report, std::size_t rows);
/// A line for each path between clusters, a few or `rows` of them. "" where there is one cluster.
std::string to_text(const TransfersReport& report, std::size_t rows);

Place place_of(const Structure& structure, std::uint32_t wrapper);

}  // namespace eventspace
