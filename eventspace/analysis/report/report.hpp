// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/report.hpp — figures and findings of an analysis.
#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "eventspace/analysis/report/conditional_report.hpp"
#include "eventspace/analysis/report/critical_report.hpp"
#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/fields.hpp"
#include "eventspace/analysis/report/group_report.hpp"
#include "eventspace/analysis/report/place_reports.hpp"
#include "eventspace/analysis/report/significance.hpp"
#include "eventspace/analysis/report/thread_reports.hpp"
#include "eventspace/analysis/report/time_report.hpp"
#include "eventspace/analysis/report/timeline_report.hpp"
#include "eventspace/analysis/report/transfer_report.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

/// Text that names the clock of times measured on one host. Finding::basis and headings contain it.
inline constexpr const char* basis_of_one_clock = "one host's own clock";

enum class FindingKind : std::uint8_t {
  slow_host,
  slow_thread,
  noisy_thread,
  slow_link,
  slow_network,
  late_broadcast,
  slow_cluster,
  stall,
  change,
};
inline constexpr std::array<std::string_view, 9> finding_names = {
    "slow_host",      "slow_thread",  "noisy_thread", "slow_link", "slow_network",
    "late_broadcast", "slow_cluster", "stall",        "change"};
constexpr std::string_view finding_name(FindingKind kind) { return name_in(finding_names, kind); }
inline constexpr std::array<std::string_view, 3> finding_units = {"percent", "nanoseconds",
                                                                  "times"};

/// Cause of lost time that the report names. The limits for findings are in
/// eventspace/analysis/report/significance.hpp.
struct Finding {
  FindingKind kind = FindingKind::slow_host;
  Place place;
  std::string thread;
  double figure = 0;
  std::string unit;  ///< one of finding_units
  std::int64_t cost_nanos = 0;
  /// Total time that the cause took at its own place. The run lost at most that time, because other
  /// threads or messages may have taken as long.
  std::int64_t lost_nanos = 0;
  /// Comparison on which the finding rests. nullopt if the finding rests on no comparison. An
  /// example is a delay that the config declares.
  std::optional<Compared> compared;
  std::string basis;
  /// Whether cost_nanos is the difference to a predicted run without the finding. Otherwise it is
  /// an estimate: a difference of times multiplied by a number of rounds.
  bool is_predicted = false;
  bool is_of_group = false;  ///< whether the finding is about operations of a group
  /// Whether the predicted cost is less than Report::name_from_share of the run. The run may still
  /// become shorter if other findings are removed as well.
  bool is_hidden = false;
  /// Predicted time of the run without this finding and all earlier findings in the list; 0 if not
  /// predicted.
  std::int64_t run_without_nanos = 0;
  /// Hosts that have the finding in common; empty if the finding is about one place.
  std::vector<std::string> hosts;
  std::string after, before;  ///< objects whose operations precede and follow the computation
  std::string from, to;       ///< clusters or hosts at both ends of the link or network
  /// Part of the place's computations or messages that the finding concerns. Sorted by time, it is
  /// the part from the fraction `from_share` of their number to the fraction `to_share`.
  double from_share = 0;
  double to_share = 1;
  /// Time at which the finding shows, from the begin of the run; below 0 if the finding has no
  /// particular time.
  std::int64_t at_nanos = -1;
  std::string sentence;
  std::vector<std::string> rests_on_damage;
};

template <class Visitor>
void describe(Visitor& visit, const Finding& finding) {
  visit.object("finding", "One thing that stands out.");
  visit.field("kind", Word{finding_name(finding.kind), finding_names}, units::none,
              "Kind of the finding.");
  visit.field("place", finding.place, units::none, "Position of the wrapper, or the host.");
  visit.field("figure", finding.figure, units::none, "Size of the finding, in `unit`.");
  visit.field("unit", Word{finding.unit, finding_units}, units::none, "Unit of `figure`.");
  const Presence part =
      left_out(finding.from_share == 0 && finding.to_share == 1, "if it concerns the whole run");
  visit.field("from_share", finding.from_share, units::share,
              "Begin of the part that is concerned, as a share of all computations or messages.",
              part);
  visit.field("to_share", finding.to_share, units::share, "End of that part.", part);
  visit.field("at_nanos", finding.at_nanos, units::nanos,
              "Time since the begin of the run at which the finding shows.",
              left_out(finding.at_nanos < 0, "if it is no certain time"));
  visit.field("cost_nanos", finding.cost_nanos, units::nanos,
              "Time by which the run would be shorter without the finding. If it could not be "
              "predicted: cost on the critical paths, in total.");
  visit.field(
      "lost_nanos", finding.lost_nanos, units::nanos,
      "Time that the cause took at its own place, in total. The run lost at most that much.");
  const Presence compared =
      left_out(!finding.compared, "if the finding rests on no comparison, as a declared delay");
  const Compared comparison = finding.compared.value_or(Compared{});
  visit.field(
      "mean_nanos", comparison.nanos, units::nanos,
      "Mean time of a computation or message; for noise and late replies: their part of it.",
      compared);
  visit.field("usual_nanos", comparison.usual_nanos, units::nanos,
              "Mean or declared time that it is compared with.", compared);
  visit.field("interval_nanos", std::tuple(comparison.low, comparison.high), units::nanos,
              "Confidence interval of `mean_nanos` minus `usual_nanos`. The intervals of all "
              "comparisons of a report hold together in 99 of 100 reports.",
              compared);
  visit.field("predicted", finding.is_predicted, units::none,
              "True if the cost is from a predicted run without the finding.");
  visit.field("hidden", finding.is_hidden, units::none,
              "True if the finding alone costs less than `named_from_share` of the run.");
  visit.field("run_without_nanos", finding.run_without_nanos, units::nanos,
              "Predicted time of the run without this finding and all before it.",
              left_out_if_false("predicted", finding.is_predicted));
  visit.field("basis", finding.basis, units::none, "Clocks that the figure is from.");
  visit.field("sentence", finding.sentence, units::none, "The finding as a sentence.");
  visit.field("thread", finding.thread, units::none, "Name of the thread.",
              left_out(finding.thread.empty(), "if the finding is not about a thread"));
  visit.field("hosts", finding.hosts, units::none, "Hosts that have the finding in common.",
              left_out(finding.hosts.empty(), "if the finding is about one place"));
  visit.field("rests_on_damage", finding.rests_on_damage, units::none,
              "Hosts whose traces lack records that the finding needs.",
              left_out(finding.rests_on_damage.empty(), "if there is none"));
}

struct CoverageReport {
  std::uint64_t records = 0;
  std::uint64_t operations = 0;
  std::uint64_t transfers = 0;
  std::uint64_t unknown = 0;
  std::uint64_t passed_by = 0;
  std::uint64_t late = 0;
  std::uint64_t repeated = 0;
  std::uint64_t contradictory = 0;
  std::uint64_t without_computation = 0;
  std::uint64_t judged_early = 0;
};

template <class Visitor>
void describe(Visitor& visit, const CoverageReport& coverage) {
  visit.object("coverage", "Records, and the part of them that was of no use.");
  visit.field("records", coverage.records, units::count, "All records.");
  visit.field("operations", coverage.operations, units::count, "Records of operations.");
  visit.field("transfers", coverage.transfers, units::count,
              "Records of data that lanes sent between clusters.");
  visit.field("of_no_known_place", coverage.unknown, units::count,
              "Records of a place or host that the structure lacks, or of an impossible time.");
  visit.field("passed_by_joins", coverage.passed_by, units::count,
              "Operations through joins that are no move.");
  visit.field("of_rounds_given_up", coverage.late, units::count,
              "Records that arrived after their round was dropped to save memory.");
  visit.field("repeated", coverage.repeated, units::count, "Second records of one operation.");
  visit.field("contradictory_rounds", coverage.contradictory, units::rounds,
              "Rounds that are left out, because a result arrived before it was wanted.");
  visit.field("operations_without_computation", coverage.without_computation, units::count,
              "Operations of a thread after a gap, or that overlap.");
  visit.field("computations_judged_early", coverage.judged_early, units::count,
              "Computations that were judged before all were known, to save memory.");
}

/// Values of a figure in the course of the run, for the comparison of two runs. Each row is the sum
/// over equally many rounds.
struct Series {
  std::string figure;  ///< "iteration", "wait"...
  std::string what;    ///< thread, wrapper or collective of the figure
  std::vector<Blocks::Row> rows;
};

struct Report {
  CoverageReport coverage;
  TimeReport time;
  /// Least cost at which a finding is named, as a share of the run's time.
  double name_from_share = eventspace::name_from_share;
  std::vector<Finding> findings;
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
  GroupsReport groups;
  TransfersReport transfers;
  std::vector<Series> series;  ///< figures in the course of the run; not in the JSON
  /// Timeline for the page, not in the JSON. It is empty unless AnalysisOptions::timeline_parts is
  /// set.
  TimelineReport timeline;
};

template <class Visitor>
void describe(Visitor& visit, const Report& report) {
  visit.object("figures", "Findings and figures of a run.");
  visit.field("clocks",
              "differences of one host's own clock; two_way: of each side's own; one_way: half of "
              "it",
              units::none, "Clocks that the figures are from.");
  visit.field("coverage", report.coverage, units::none, "Records that were used.");
  visit.field("time", report.time, units::none, "Where the time of the run went.");
  visit.field("named_from_share", report.name_from_share, units::share,
              "Least cost of a finding, as a share of the run.");
  visit.field("findings", report.findings, units::none, "Findings, the most expensive first.");
  visit.field("critical_paths", report.critical, units::none, "Trees of collectives.");
  visit.field("lateness", report.lateness, units::none, "Collectives with late threads.");
  visit.field("clusters", report.clusters, units::none, "Clusters.");
  visit.field("hosts", report.hosts, units::none, "Hosts.");
  visit.field("threads", report.threads, units::none,
              "Threads, once for each place of their programs.");
  visit.field("joins", report.joins, units::none, "Joins.");
  visit.field("crossings", report.crossings, units::none, "Forwards to other hosts.");
  visit.field("links", report.links, units::none, "Emulated links.");
  visit.field("stages", report.stages, units::none, "Wrappers between two collectors.");
  visit.field("paths", report.paths, units::none, "Paths of the threads of a host.");
  visit.field("conditionals", report.conditionals, units::none, "Condition checks.");
  visit.field("groups", report.groups, units::none, "Operations of groups.",
              left_out(report.groups.records == 0, "if there are none"));
  visit.field("transfers", report.transfers, units::none, "Data that crossed between clusters.",
              left_out(!report.transfers.has_several_clusters, "if there is one cluster"));
}

/// Returns sentences about records that could not be used, or that may be missing.
std::vector<std::string> notes_of(const Report& report);
/// Returns the time of the run. If the hosts have no common clock, returns the mean time of the
/// threads.
std::int64_t length_of_run(const TimeReport& time);
/// Whether a finding that chance does not explain costs enough to be named. Its predicted cost, or
/// the time that its cause took at its own place, must be at least Report::name_from_share of the
/// run. If only the time at its own place is that long, the finding is hidden (Finding::is_hidden).
bool costs_enough(const Finding& finding, const Report& report);
/// Whether a cause took so much time that the report names it, even if the cause is too rare for a
/// comparison.
bool is_always_named(std::int64_t lost_nanos, const Report& report);
/// Returns a text with the cost of a finding and the interval of its difference; "" if the cost is
/// not known.
std::string cost_text(const Finding& finding, const TimeReport& time);
/// Returns the text that a report contains in place of findings if there are none.
std::string text_without_findings(const Report& report);

nlohmann::ordered_json to_json(const Report& report);
/// Returns JSON as text in UTF-8. Names from a forged trace may be invalid UTF-8; such bytes are
/// replaced.
std::string print_json(const nlohmann::ordered_json& json);
/// Returns a report as text for a terminal: the greatest costs and the distribution of time, on one
/// screen. If `rows` is not 0, tables of at most `rows` rows follow. Each sentence in `losses`
/// describes a missing part of the trace.
std::string to_text(const Report& report, std::size_t rows = 0,
                    const std::vector<std::string>& losses = {});

/// Returns a text with the run's iterations, its headline, and its time by operation and cause.
/// Returns "" if no thread has records.
std::string to_text(const TimeReport& report, std::size_t rows);
/// Returns a text with the group operations that took most time; "" if there were no group
/// operations. If `rows` is not 0, the text also has tables.
std::string to_text(const GroupsReport& report, std::size_t rows);
/// Returns a text with a line for each ordered pair of clusters: at most `rows` lines, or a few if
/// `rows` is 0. Returns "" if there is only one cluster.
std::string to_text(const TransfersReport& report, std::size_t rows);

Place place_of(const Structure& structure, std::uint32_t wrapper);

}  // namespace eventspace
