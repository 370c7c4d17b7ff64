// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/time_report.hpp — time of a run and of its threads, by operation and
// cause.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/fields.hpp"
#include "eventspace/analysis/report/predictions.hpp"

namespace eventspace {

/// Causes of time. Each part of a run's time has exactly one cause.
enum class TimeCause : std::uint8_t {
  computing,
  noise,
  link_latency,
  link_transmission,
  link_queue,
  network,
  hold,
  sending,
  folding,
  runtime,
  unknown,
};
inline constexpr std::size_t time_causes = 11;

/// Words for a cause in all forms of the report, and advice on how to reduce its time.
struct TimeCauseWords {
  std::string_view name;  ///< name in the JSON and in the data of the page
  std::string_view text;
  std::string_view advice;
};
inline constexpr std::array<TimeCauseWords, time_causes> time_cause_words = {{
    {"computing", "computing",
     "the run computes: faster hosts or fewer computations make it shorter"},
    {"noise", "noise: computing longer than usual",
     "find what disturbs that host; its period is in the table of threads"},
    {"link_latency", "on the way over the link",
     "in an allreduce use a relaxed algorithm such as conditional, in an exchange send earlier, or "
     "do fewer operations in an iteration"},
    {"link_transmission", "being transmitted over the link",
     "send fewer bytes, or use more bandwidth or streams"},
    {"link_queue", "queueing before the link", "see who sends at the same time: Between clusters"},
    {"network", "on the network within a cluster",
     "place threads that communicate on one host, or use a faster transport"},
    {"hold", "held back by a delay", "remove the delay of the broadcast"},
    {"sending", "sending", "send fewer bytes, or use another schedule"},
    {"folding", "folding", "choose another algorithm or smaller values"},
    {"runtime", "in PATHS itself: waking, storing, deciding",
     "do fewer or larger operations, or give each thread a core"},
    {"unknown", "unknown", "trace the hosts whose records are missing"},
}};
inline constexpr auto time_cause_names = [] {
  std::array<std::string_view, time_causes> names;
  for (std::size_t cause = 0; cause < time_causes; ++cause)
    names[cause] = time_cause_words[cause].name;
  return names;
}();
constexpr const TimeCauseWords& words_of(TimeCause cause) {
  return time_cause_words[static_cast<std::size_t>(cause)];
}

/// Whether `cause` is a thread's computing, or noise in a thread's computing.
constexpr bool is_of_thread(TimeCause cause) {
  return cause == TimeCause::computing || cause == TimeCause::noise;
}

/// Whether `cause` is a message on a link between clusters, or its wait for the link.
constexpr bool is_of_link(TimeCause cause) {
  return cause == TimeCause::link_latency || cause == TimeCause::link_transmission ||
         cause == TimeCause::link_queue;
}

/// Time that all threads, or the critical path, spent in one operation for one cause at one place.
struct TimeRow {
  std::string operation;  ///< "" for time between operations
  TimeCause cause = TimeCause::unknown;
  /// Place of the cause, such as a link, a network, or the cluster of the computing threads. For an
  /// unknown cause, it is the reason.
  std::string where;
  std::int64_t nanos = 0;
  double share = 0;
  /// Thread with the largest part of `nanos`. If `nanos` is wait for other threads' computing or
  /// noise, it is the thread for which all threads together waited longest.
  std::string most;
  std::int64_t most_nanos = 0;
};

/// Whether the time is a wait for the computing or the noise of other threads.
inline bool is_wait_for_threads(const TimeRow& row) {
  return is_of_thread(row.cause) && !row.operation.empty();
}

/// Returns a text that names the cause and the place, such as "on the way over the link between a
/// and b".
std::string text_of(const TimeRow& row);

template <class Visitor>
void describe(Visitor& visit, const TimeRow& row) {
  visit.object("time_row", "Part of a time that has one operation and one cause.");
  visit.field("operation", row.operation, units::none,
              "Operation of the program during that time; empty between operations.");
  visit.field("cause", Word{words_of(row.cause).name, time_cause_names}, units::none,
              "What happened in that time.");
  visit.field("where", row.where, units::none,
              "Link, network, threads or host of the cause; empty if it is the same for all.");
  visit.field("text", text_of(row), units::none, "Cause and place in words.");
  visit.field("nanos", row.nanos, units::nanos, "The time.");
  visit.field("share", row.share, units::share, "Its share of the whole.");
  visit.field("most", row.most, units::none,
              "Thread with the largest part. If the time is a wait for computing or noise of other "
              "threads, the thread for which all threads together waited longest.");
  visit.field("most_nanos", row.most_nanos, units::nanos, "That part.");
}

inline constexpr std::array<std::string_view, 4> iteration_rules = {"mark", "collective", "element",
                                                                    "none"};

/// Iterations of the whole run. An iteration lasts until the last thread returns from the
/// operation at which iterations are cut.
struct IterationReport {
  std::string rule = "none";  ///< one of iteration_rules
  std::string cut_at;         ///< operation whose return ends an iteration
  std::uint64_t each = 0;  ///< number of cuts (calls of that operation by a thread) per iteration
  std::uint64_t count = 0;
  Summary length;
  std::int64_t beginning_nanos = 0;
  std::int64_t end_nanos = 0;
  Blocks lengths;
  std::vector<std::int64_t> ends;  ///< end of each iteration; not in the JSON
};

/// Returns a sentence that tells when an iteration ends.
std::string text_of(const IterationReport& iterations);

template <class Visitor>
void describe(Visitor& visit, const IterationReport& iterations) {
  visit.object("iterations", "Iterations of the run. Beginning, iterations and end are the run.");
  visit.field(
      "rule", Word{iterations.rule, iteration_rules}, units::none,
      "How iterations were found: by marks of the program, at a collective, at operations on "
      "an element, or not.");
  const Presence some = left_out_if("count", iterations.count);
  visit.field("count", iterations.count, units::iterations, "Number of iterations.");
  visit.field("cut_at", iterations.cut_at, units::none,
              "Operation whose return ends an iteration; empty for marks.", some);
  visit.field("each", iterations.each, units::count, "Such operations in an iteration.", some);
  visit.field("length_nanos", iterations.length, units::nanos, "Time of an iteration.", some);
  visit.field("beginning_nanos", iterations.beginning_nanos, units::nanos,
              "Time before the first iteration.", some);
  visit.field("end_nanos", iterations.end_nanos, units::nanos, "Time after the last iteration.",
              some);
}

/// Time of a run and of its threads by operation and cause, and conclusions from it.
struct TimeReport {
  std::int64_t begin_nanos = 0;  ///< begin of the first thread
  std::int64_t run_nanos = 0;
  std::uint64_t threads = 0;
  std::int64_t threads_nanos = 0;
  bool has_critical_path = false;
  IterationReport iterations;
  std::string headline;
  TimeCause headline_cause = TimeCause::unknown;  ///< largest cause of time in the headline
  std::string headline_where;                     ///< place of that cause, as in TimeRow::where
  std::string advice;
  std::string sensitivity;
  std::int64_t predicted_nanos = 0;
  /// Whether results may depend on the order in which values of clusters arrived. Predictions
  /// assume the recorded order.
  bool has_recorded_decisions = false;
  std::vector<TimeRow> rows;
  std::vector<TimeRow> critical;
  double unknown_share = 0;
  std::vector<std::string> not_recorded;
  std::uint64_t contradictions = 0;
  std::optional<WhatIfReport> what_if;
  std::vector<Sensitivity> sensitivities;  ///< empty unless Questions::asks_for_sensitivities
  /// Whether the times cover only the first part of the run because the run has too many records.
  bool is_cut = false;
};

/// Returns a text on the effect of a small change of the headline's cause. It includes a caution if
/// predictions assume recorded decisions.
std::string sensitivity_text(const TimeReport& time);

template <class Visitor>
void describe(Visitor& visit, const TimeReport& time) {
  visit.object("time", "Time of the run and of its threads, divided without remainder.");
  visit.field("run_nanos", time.run_nanos, units::nanos,
              "From the begin of the first thread to the end of the last.");
  visit.field("threads", time.threads, units::count, "Threads with records.");
  visit.field("threads_nanos", time.threads_nanos, units::nanos,
              "Time of all threads, from begin to end: the sum of `rows`.");
  visit.field("iterations", time.iterations, units::none, "Iterations.");
  visit.field("headline", time.headline, units::none,
              "Largest part of the critical path, as a sentence.");
  visit.field("advice", time.advice, units::none, "What can be done about it.");
  visit.field("sensitivity", time.sensitivity, units::none,
              "What a small change of that part would do to the run; empty if it is not known.");
  visit.field("predicted_nanos", time.predicted_nanos, units::nanos,
              "Time of the run as it is predicted without any change; 0 if it is not predicted.");
  visit.field("decisions_as_recorded", time.has_recorded_decisions, units::none,
              "True if clusters decided by the values that had arrived. Predictions keep these "
              "decisions, so they may be wrong.");
  visit.field("what_if", time.what_if.value_or(WhatIfReport{}), units::none,
              "Answer to --what-if and --without.",
              left_out(!time.what_if, "without these options"));
  visit.field("sensitivities", time.sensitivities, units::none, "Answer to --sensitivity.",
              left_out(time.sensitivities.empty(), "without this option"));
  visit.field("rows", time.rows, units::none, "Parts of the time of all threads, largest first.");
  const Presence known = left_out(!time.has_critical_path, "if hosts' clocks are not compared");
  visit.field("critical_path", time.critical, units::none,
              "Parts of the critical path, which add up to `run_nanos`, largest first.", known);
  visit.field("unknown_share", time.unknown_share, units::share,
              "Share of the time of all threads without a known cause.");
  visit.field("not_recorded", time.not_recorded, units::none,
              "Collectives and elements whose operations have no records. Their time counts as "
              "computing.");
  visit.field("contradictions", time.contradictions, units::count,
              "Moments that were recorded before a moment that they waited for.");
  visit.field("cut", time.is_cut, units::none,
              "True if the run has too many records, so that these times are of its first part.");
}

}  // namespace eventspace
