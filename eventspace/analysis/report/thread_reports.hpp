// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/thread_reports.hpp — figures of threads, hosts and clusters.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/fields.hpp"

namespace eventspace {

struct SpectrumPoint {
  double frequency_hertz = 0;
  double power = 0;
};

/// Noise of a thread that comes regularly.
struct NoisePeriod {
  double nanos = 0;
  double agreement = 0;             ///< Period::agreement
  double iterations = 0;            ///< mean number of iterations in a period
  bool resonates = false;           ///< whether this number is close to a whole one
  std::int64_t noise_nanos = 0;     ///< median of the noise in a computation
  std::uint64_t computations = 0;   ///< number of computations with this noise
  std::vector<double> others = {};  ///< other periods that fit as well
};

/// Computations of a thread at one place of its program: between two successive operations.
struct ThreadReport {
  std::string name;
  std::uint32_t rank = 0;
  std::string graph;
  std::string after;  ///< object of the operation before the computation
  std::string host;
  std::string cluster;
  Summary computation;
  std::vector<Bin> computation_bins;
  std::int64_t base_nanos = 0;
  std::int64_t outlier_nanos = 0;
  std::uint64_t outliers = 0;
  std::int64_t noise_nanos = 0;
  std::int64_t noise_median_nanos = 0;
  double noise_share = 0;
  /// True if noise cannot be the reason why the thread is slower than others. It is slower by
  /// several durations of a noise event, but there are fewer noise events than computations.
  bool is_noise_rare = false;
  std::vector<NoisePeriod> periods;  ///< the one with the most noise first
  std::vector<SpectrumPoint> spectrum;
  std::uint64_t critical_rounds = 0;
  std::uint64_t critical_iterations = 0;
  std::int64_t critical_computation_nanos = 0;
  std::int64_t critical_noise_nanos = 0;
  std::int64_t longest_begin_nanos = 0;  ///< begin of the longest computation
  /// Whether noise in all computations explains that the thread is slower than others.
  bool is_noise_in_all = false;
  /// Whether this is the thread's main place: the place with the longest total computation of all
  /// places before the same collective.
  bool is_main_place = false;
  /// Durations of consecutive computations, and the times at which these computations began.
  std::vector<Blocks::Row> blocks, block_begins;
  /// Durations of consecutive computations without noise, the noise in these computations, and how
  /// many of them are outliers.
  std::vector<Blocks::Row> quiet_blocks, noise_blocks, outlier_blocks;
};

/// Describes the fields about periods of noise.
template <class Visitor>
void describe_periods(Visitor& visit, const ThreadReport& thread) {
  const Presence periodic = left_out(thread.periods.empty(), "if the noise has no period");
  const NoisePeriod main = thread.periods.empty() ? NoisePeriod() : thread.periods.front();
  visit.field("noise_period_nanos", main.nanos, units::nanos,
              "Period of the noise. If it has several, the one with the most noise.", periodic);
  visit.field("noise_period_agreement", main.agreement, units::ratio,
              "Agreement of the period with late and punctual computations, at most 1.", periodic);
  visit.field("iterations_per_noise_period", main.iterations, units::iterations,
              "Mean number of iterations in a period.", periodic);
  visit.field("noise_resonates", main.resonates, units::none,
              "True if that number is close to a whole one, so noise repeatedly hits the same part "
              "of the iteration.",
              periodic);
  visit.field("noise_other_periods_nanos", main.others, units::nanos,
              "Other periods that fit as well, because computations recur regularly (aliases).",
              left_out(main.others.empty(), "if there are none"));
  visit.field("noise_periods_nanos_noise_computations",
              Mapped(thread.periods,
                     [](const NoisePeriod& one) {
                       return std::tuple(one.nanos, one.noise_nanos, one.computations);
                     }),
              units::nanos,
              "All periods of the noise: rows of period, median of its noise, and number of "
              "computations with it.",
              left_out(thread.periods.size() < 2, "if the noise has fewer than two periods"));
}

template <class Visitor>
void describe(Visitor& visit, const ThreadReport& thread) {
  visit.object("thread", "A thread at one place of its program, between two operations.");
  visit.field("name", thread.name, units::none, "Name of the thread.");
  visit.field("rank", thread.rank, units::none, "Rank of the thread in the run.");
  visit.field("graph", thread.graph, units::none,
              "Collective or element of the operation after the computation.");
  visit.field("after", thread.after, units::none,
              "Collective or element of the operation before it.");
  visit.field("host", thread.host, units::none, "Host of the thread.");
  visit.field("cluster", thread.cluster, units::none, "Cluster of that host.");
  visit.field("computation_nanos", thread.computation, units::nanos,
              "Time from the return of an operation to the begin of the next.");
  visit.field("base_nanos", thread.base_nanos, units::nanos,
              "Base that noise is measured from: the median of computations that are no outliers.");
  visit.field("outlier_nanos", thread.outlier_nanos, units::nanos,
              "Limit above which a computation is an outlier.");
  visit.field("outliers", thread.outliers, units::count, "Computations that are outliers.");
  visit.field("noise_nanos", thread.noise_nanos, units::nanos,
              "Time by which outliers exceed the base, in total.");
  visit.field("noise_median_nanos", thread.noise_median_nanos, units::nanos,
              "Median time by which an outlier exceeds the base.");
  visit.field("noise_share", thread.noise_share, units::share, "Noise by all computation.");
  visit.field("critical_rounds", thread.critical_rounds, units::rounds,
              "Rounds in which all waited for this thread.");
  visit.field("critical_iterations", thread.critical_iterations, units::iterations,
              "Critical rounds, and iterations before them that a `periodic` of each thread "
              "replied to.");
  visit.field("critical_computation_nanos", thread.critical_computation_nanos, units::nanos,
              "Computation of the thread in its critical iterations.");
  visit.field("critical_noise_nanos", thread.critical_noise_nanos, units::nanos,
              "Noise of the thread in its critical iterations.");
  visit.field(
      "computation_bins_from_to_count",
      Mapped(thread.computation_bins,
             [](const Bin& bin) { return std::tuple(bin.from, bin.to, bin.count); }),
      units::nanos,
      "Histogram of computations: rows of begin, end and count. The end is not in the bin.");
  visit.field("noise_spectrum_hertz_power",
              Mapped(thread.spectrum,
                     [](const SpectrumPoint& point) {
                       return std::tuple(point.frequency_hertz, point.power);
                     }),
              units::none,
              "Rayleigh periodogram of the times at which the thread was late: rows of frequency "
              "in hertz and power.",
              left_out(thread.spectrum.empty(),
                       "except for the noisiest threads whose noise has a period"));
  describe_periods(visit, thread);
}

struct HostReport {
  std::string name;
  std::string cluster;
  std::uint32_t threads = 0;
  std::int64_t computation_nanos = 0;
  std::int64_t others_nanos = 0;
  std::int64_t base_nanos = 0;
  std::int64_t others_base_nanos = 0;
  double factor = 0;
  std::uint64_t critical_rounds = 0;
  std::uint64_t critical_iterations = 0;
  std::uint64_t records = 0;
  std::uint64_t missing_rounds = 0;
};

template <class Visitor>
void describe(Visitor& visit, const HostReport& host) {
  visit.object("host", "Computation of a host, next to the other hosts of its cluster.");
  visit.field("name", host.name, units::none, "Name of the host.");
  visit.field("cluster", host.cluster, units::none, "Name of its cluster.");
  visit.field("threads", host.threads, units::count, "Threads of the host.");
  visit.field("computation_nanos", host.computation_nanos, units::nanos,
              "Median of the median computations of its threads.");
  visit.field("others_computation_nanos", host.others_nanos, units::nanos,
              "The same for the other hosts of the cluster; 0 = there are none.");
  visit.field("without_noise_nanos", host.base_nanos, units::nanos,
              "Median of the bases of its threads.");
  visit.field("others_without_noise_nanos", host.others_base_nanos, units::nanos,
              "The same for the other hosts of the cluster; 0 = there are none.");
  visit.field("factor_without_noise", host.factor, units::ratio,
              "Base of the host by that of the others; 0 = unknown.");
  visit.field("critical_rounds", host.critical_rounds, units::rounds,
              "Rounds in which all waited for a thread of the host.");
  visit.field("critical_iterations", host.critical_iterations, units::iterations,
              "Critical rounds, and iterations before them that a `periodic` of each thread "
              "replied to.");
  visit.field("records", host.records, units::count, "Records of the host.");
  visit.field("rounds_missing_its_records", host.missing_rounds, units::rounds,
              "Rounds that are incomplete because records of the host are missing.");
}

/// Totals of the hosts and threads of a cluster.
struct ClusterReport {
  std::string name;
  std::uint32_t hosts = 0;
  std::uint32_t threads = 0;
  std::uint64_t records = 0;
  std::uint64_t critical_rounds = 0;
  std::int64_t computation_nanos = 0;
  std::int64_t noise_nanos = 0;
  std::int64_t critical_noise_nanos = 0;
  std::int64_t arrival_wait_nanos = 0;
  std::int64_t cache_wait_nanos = 0;
  std::uint64_t lan_messages = 0;
  std::uint64_t lan_payload_bytes = 0;
  std::uint64_t wan_messages = 0;
  std::uint64_t wan_payload_bytes = 0;
};

template <class Visitor>
void describe(Visitor& visit, const ClusterReport& cluster) {
  visit.object("cluster", "Sums over the hosts and threads of a cluster.");
  visit.field("name", cluster.name, units::none, "Name of the cluster.");
  visit.field("hosts", cluster.hosts, units::count, "Hosts of the cluster.");
  visit.field("threads", cluster.threads, units::count, "Threads of the cluster.");
  visit.field("records", cluster.records, units::count, "Records of its hosts.");
  visit.field("critical_rounds", cluster.critical_rounds, units::rounds,
              "Rounds in which all waited for a thread of the cluster.");
  visit.field("computation_nanos", cluster.computation_nanos, units::nanos,
              "Computation of all its threads, with noise.");
  visit.field("noise_nanos", cluster.noise_nanos, units::nanos, "Noise of all its threads.");
  visit.field("critical_noise_nanos", cluster.critical_noise_nanos, units::nanos,
              "Noise of its threads in their critical iterations.");
  visit.field("arrival_wait_nanos", cluster.arrival_wait_nanos, units::nanos,
              "Waits of all contributors in joins on its hosts.");
  visit.field("cache_wait_nanos", cluster.cache_wait_nanos, units::nanos,
              "Waits for values of other clusters.");
  visit.field("lan_messages", cluster.lan_messages, units::count,
              "Messages within the cluster: requests and replies of its forwards, and messages of "
              "groups.");
  visit.field("lan_payload_bytes", cluster.lan_payload_bytes, units::bytes,
              "Payload of these messages.");
  visit.field("wan_messages", cluster.wan_messages, units::count,
              "Messages with other clusters: requests and replies of its forwards, and messages "
              "that its groups send.");
  visit.field("wan_payload_bytes", cluster.wan_payload_bytes, units::bytes,
              "Payload of these messages.");
}

inline constexpr std::array<std::int64_t, 4> lateness_bounds_nanos = {1'000'000, 5'000'000,
                                                                      10'000'000, 30'000'000};

/// Counts the iterations of a collective in which a thread computed longer than its own mean. Also
/// contains the effect of noise on the collective.
struct LatenessReport {
  struct Late {
    std::int64_t nanos = 0;
    std::uint64_t iterations = 0;
  };
  std::string graph;
  std::uint64_t iterations = 0;
  std::array<std::uint64_t, 4> over = {};  ///< iterations above each of lateness_bounds_nanos
  std::int64_t noise_nanos = 0;
  std::int64_t effective_noise_nanos = 0;
  std::int64_t absorbed_noise_nanos = 0;
  std::int64_t waited_for_noise_nanos = 0;
  double noise_amplification = 0;
  std::int64_t critical_wan_two_way_nanos = 0;
  std::int64_t check_wan_one_way_nanos = 0;
  std::int64_t hideable_wan_nanos = 0;
  std::int64_t hideable_check_wan_nanos = 0;

  std::vector<Late> late_iterations() const {
    std::vector<Late> all;
    for (std::size_t bound = 0; bound < over.size(); ++bound)
      all.push_back({lateness_bounds_nanos[bound], over[bound]});
    return all;
  }
};

template <class Visitor>
void describe(Visitor& visit, const LatenessReport::Late& late) {
  visit.object("late_iterations", "Iterations in which a thread was late by more than a bound.");
  visit.field("late_nanos", late.nanos, units::nanos, "The bound.");
  visit.field("iterations", late.iterations, units::iterations,
              "Iterations in which a thread computed longer than its mean by more than the bound.");
}

template <class Visitor>
void describe(Visitor& visit, const LatenessReport& lateness) {
  visit.object("lateness", "Late threads of a collective, and the effect of noise.");
  visit.field("graph", lateness.graph, units::none, "Name of the collective.");
  visit.field("iterations", lateness.iterations, units::iterations, "All iterations.");
  visit.field("with_a_thread_late", lateness.late_iterations(), units::none,
              "Iterations with a late thread, by bound.");
  visit.field("noise_nanos", lateness.noise_nanos, units::nanos, "Noise of all threads.");
  visit.field("effective_noise_nanos", lateness.effective_noise_nanos, units::nanos,
              "Noise that made a round longer.");
  visit.field("absorbed_noise_nanos", lateness.absorbed_noise_nanos, units::nanos,
              "Noise that was hidden behind a later thread.");
  visit.field("waited_for_noise_nanos", lateness.waited_for_noise_nanos, units::nanos,
              "Time that threads of a tree waited in total for noise of one of them.");
  visit.field("noise_amplification", lateness.noise_amplification, units::ratio,
              "Time that all threads lost together by the noise: 0 if all noise was hidden, the "
              "number of threads if all threads waited for all noise.");
  visit.field("critical_wan_two_way_nanos", lateness.critical_wan_two_way_nanos, units::nanos,
              "Two-way time between clusters on the critical paths.");
  visit.field("check_wan_one_way_nanos", lateness.check_wan_one_way_nanos, units::nanos,
              "Time between clusters in waits of conditions for values of other clusters: at most "
              "one one-way time of each wait.");
  visit.field("hideable_wan_two_way_nanos", lateness.hideable_wan_nanos, units::nanos,
              "Part of `critical_wan_two_way_nanos` that does not exceed the noise of a thread in "
              "the same round (the first approach of Bongo et al. 2004).");
  visit.field("hideable_check_wan_one_way_nanos", lateness.hideable_check_wan_nanos, units::nanos,
              "The same part of `check_wan_one_way_nanos`.");
}

}  // namespace eventspace
