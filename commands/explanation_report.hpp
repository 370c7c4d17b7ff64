// SPDX-License-Identifier: Apache-2.0
// commands/explanation_report.hpp — JSON of `paths explain`.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/schedule_request.hpp"
#include "eventspace/analysis/report/fields.hpp"
#include "eventspace/analysis/report/object_types.hpp"
#include "groups/selection/explanation.hpp"

namespace commands {

/// Result of `paths explain`, with the fields of its JSON output.
///
/// Units: nanoseconds and bytes.
struct ExplanationReport {
  struct Schedule {
    std::string schedule;
    std::int64_t predicted_nanos = 0, links_nanos = 0;
    std::string order;  ///< "" if nothing is reduced
    bool is_allowed = true, is_taken = false;
  };
  struct Part {
    std::string_view cost;
    std::int64_t nanos = 0;
  };
  struct SizeChange {
    bool is_above = false;
    std::uint64_t bytes = 0;
    std::string schedule;
  };
  struct CostChange {
    std::string_view cost;
    bool is_above = false;
    double factor = 1;
    std::string schedule;
  };
  /// Row of a table of decisions.
  struct Row {
    std::string file;
    std::uint64_t line = 0;
    bool has_limit = false;
    std::uint64_t up_to_bytes = 0;
    bool is_pinned = false;
    std::string note;
    std::int64_t measured_nanos = 0;
    std::uint64_t runs = 0;
    double spread_percent = 0;
    std::string candidates, under;  ///< as tuner::Evidence has them
  };

  std::string_view collective;
  std::string declared;  ///< name of the collective of the config; "" = a call of a group
  std::uint64_t hosts = 0;
  std::vector<std::string> clusters;
  std::uint64_t bytes = 0, element_bytes = 1;
  std::int64_t bound_nanos = 0;
  std::string bound_reason;
  Schedule taken;
  std::string_view reason;
  std::optional<Row> row;
  bool assumes_costs = false;
  std::string costs_file;  ///< file with measured costs; "" = none
  /// Price of encryption between hosts, and the link that it limits; "" = nothing is encrypted.
  std::string encryption;
  std::vector<Part> parts;
  std::optional<Schedule> next, rejected;
  bool examines_changes = true;
  std::vector<SizeChange> size_changes;
  std::vector<CostChange> cost_changes;
  std::vector<Schedule> schedules;  ///< empty without `--all`
};

inline constexpr std::array<std::string_view, 6> reason_words = {"named",    "pinned", "tuned",
                                                                 "borrowed", "priced", "assumed"};
inline constexpr std::array<std::string_view, 6> cost_words = {
    "latency between clusters",        "bandwidth between clusters",
    "latency inside clusters",         "bandwidth inside clusters",
    "time of a host for each message", "time of a host for folds and copies"};

template <class Visitor>
void describe(Visitor& visit, const ExplanationReport::Schedule& schedule) {
  using namespace eventspace;
  visit.object("schedule", "A schedule with its predicted time.");
  visit.field("schedule", schedule.schedule, units::none, "Algorithm and parameters.");
  visit.field("predicted_nanos", schedule.predicted_nanos, units::nanos,
              "Predicted time, with assumed costs if the config states none.");
  visit.field("links_nanos", schedule.links_nanos, units::nanos,
              "Predicted time without assumed costs, as on the virtual clock.");
  visit.field("order", schedule.order, units::none, "Order of sums.",
              left_out(schedule.order.empty(), "if nothing is reduced"));
  visit.field("allowed", schedule.is_allowed, units::none,
              "Whether the operation may be summed in this order.");
  visit.field("taken", schedule.is_taken, units::none, "Whether the collective takes it.");
}

template <class Visitor>
void describe(Visitor& visit, const ExplanationReport::Part& part) {
  using namespace eventspace;
  visit.object("time_part", "Part of the predicted time that one cost causes.");
  visit.field("cost", Word{part.cost, cost_words}, units::none, "The cost.");
  visit.field("nanos", part.nanos, units::nanos, "Its time on the critical path.");
}

template <class Visitor>
void describe(Visitor& visit, const ExplanationReport::SizeChange& change) {
  using namespace eventspace;
  visit.object("size_change", "Size at which another schedule is taken.");
  visit.field("above", change.is_above, units::none,
              "Whether the other schedule is taken above the size, not below it.");
  visit.field("bytes", change.bytes, units::bytes, "The size, to within 2%.");
  visit.field("schedule", change.schedule, units::none, "The other schedule.");
}

template <class Visitor>
void describe(Visitor& visit, const ExplanationReport::CostChange& change) {
  using namespace eventspace;
  visit.object("cost_change", "Cost of the network at which another schedule is taken.");
  visit.field("cost", Word{change.cost, cost_words}, units::none, "The cost.");
  visit.field("above", change.is_above, units::none,
              "Whether the other schedule is taken above the value, not below it.");
  visit.field("factor", change.factor, units::ratio,
              "The value divided by the present one, to within 2%.");
  visit.field("schedule", change.schedule, units::none, "The other schedule.");
}

template <class Visitor>
void describe(Visitor& visit, const ExplanationReport::Row& row) {
  using namespace eventspace;
  visit.object("table_row", "Row of a table of decisions.");
  visit.field("file", row.file, units::none, "File of the table.");
  visit.field("line", row.line, units::none, "Line in the file.");
  visit.field("up_to_bytes", row.up_to_bytes, units::bytes, "Largest size of the row.",
              left_out(!row.has_limit, "if the row has no largest size"));
  visit.field("pinned", row.is_pinned, units::none, "Whether a person pinned the row.");
  visit.field("note", row.note, units::none, "Note of the row.");
  visit.field("measured_nanos", row.measured_nanos, units::nanos, "Measured time.",
              left_out(row.measured_nanos == 0, "if nothing was measured"));
  visit.field("runs", row.runs, units::count, "Runs of the measurement.");
  visit.field("spread_percent", row.spread_percent, units::none,
              "Spread of the measured times in percent.");
  visit.field("candidates", row.candidates, units::none,
              "Schedules among which tuning chose, such as trees.",
              left_out(row.candidates.empty(), "if it chose among all"));
  visit.field("under", row.under, units::none,
              "Program that ran next to each host during the measurement.",
              left_out(row.under.empty(), "if the hosts were idle"));
}

template <class Visitor>
void describe(Visitor& visit, const ExplanationReport& report) {
  using namespace eventspace;
  using Report = ExplanationReport;
  visit.object("explanation", "Why a collective takes its schedule: `paths explain --json`.");
  visit.field("format", Constant<std::string_view>{"paths-explanation"}, units::none,
              "Name of the format.");
  visit.field("version", Constant<int>{1}, units::none, "Version of the format.");
  visit.field("collective", report.collective, units::none, "Kind of the collective.");
  visit.field("declared", report.declared, units::none, "Name of the collective in the config.",
              left_out(report.declared.empty(), "for a call of a group"));
  visit.field("hosts", report.hosts, units::count, "Hosts that take part.");
  visit.field("clusters", report.clusters, units::none, "Their clusters.");
  visit.field("bytes", report.bytes, units::bytes, "Size of the vector, or of the largest block.");
  visit.field("element_bytes", report.element_bytes, units::bytes, "Size of an element.");
  visit.field("bound_nanos", report.bound_nanos, units::nanos,
              "Lower bound of the time, which no schedule can beat.");
  visit.field("bound_reason", report.bound_reason, units::none, "What limits the time.");
  visit.field("taken", report.taken, units::none, "The schedule that the collective takes.");
  visit.field("reason", Word{report.reason, reason_words}, units::none, "Why it is taken.");
  visit.field("row", report.row.value_or(Report::Row{}), units::none, "Row that names it.",
              left_out(!report.row, "if no row of a table names it"));
  visit.field("assumes_costs", report.assumes_costs, units::none,
              "Whether the predicted time includes assumed costs of hosts.");
  visit.field("costs_file", report.costs_file, units::none, "File with measured costs of hosts.",
              left_out(report.costs_file.empty(), "if no measured costs are used"));
  visit.field("encryption", report.encryption, units::none,
              "Price of encrypted connections, which the predicted time does not contain.",
              left_out(report.encryption.empty(), "if no connection is encrypted"));
  visit.field("parts", report.parts, units::none,
              "Parts of the predicted time, largest first. They add up to it.");
  visit.field("next", report.next.value_or(Report::Schedule{}), units::none, "The second choice.",
              left_out(!report.next, "if there is no other"));
  visit.field("rejected", report.rejected.value_or(Report::Schedule{}), units::none,
              "A faster schedule whose order of sums is not allowed.",
              left_out(!report.rejected, "if there is none"));
  visit.field("examines_changes", report.examines_changes, units::none,
              "Whether other sizes and costs were tried.");
  visit.field("size_changes", report.size_changes, units::none,
              "Nearest sizes at which another schedule is taken.");
  visit.field("cost_changes", report.cost_changes, units::none,
              "Nearest costs at which another schedule is taken. All links or hosts change "
              "together.");
  visit.field("schedules", report.schedules, units::none,
              "The fastest schedule of each algorithm and order of sums, fastest first.",
              left_out(report.schedules.empty(), "without `--all`"));
}

/// Returns the explanation as a report. If `lists_all`, the report contains the ranking of all
/// schedules.
ExplanationReport explanation_report(const ScheduleRequest& request,
                                     const groups::Explanation& explanation,
                                     const groups::Selector& selector, bool lists_all);

/// Returns the description of the format that `paths explain --json` writes.
eventspace::FileFormat explanation_format();
/// Returns the report as JSON text.
std::string to_json(const ExplanationReport& report);

}  // namespace commands
