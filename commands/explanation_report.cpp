// SPDX-License-Identifier: Apache-2.0
// commands/explanation_report.cpp — the fields of an explanation.
#include "commands/explanation_report.hpp"

#include <cmath>

#include "commands/encryption_cost.hpp"
#include "eventspace/analysis/report/json.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace commands {
namespace {

using groups::RankedSchedule;

ExplanationReport::Schedule schedule_of(const ScheduleRequest& request, const RankedSchedule& row) {
  return {
      .schedule = schedule_text(*row.candidate.algorithm, request.task, row.candidate.parameters),
      .predicted_nanos = row.time.count(),
      .links_nanos = row.time_on_links.count(),
      .order = row.order ? std::string(name_of(*row.order)) : "",
      .is_allowed = row.is_allowed,
      .is_taken = row.is_taken};
}

ExplanationReport::Row row_of(const tuner::Decision& decision) {
  return {.file = std::string(decision.position.file),
          .line = static_cast<std::uint64_t>(decision.position.line),
          .has_limit = decision.up_to != tuner::Decision::no_limit,
          .up_to_bytes = decision.up_to,
          .is_pinned = decision.is_pinned,
          .note = decision.note,
          .measured_nanos = decision.why.time.count(),
          .runs = decision.why.runs,
          .spread_percent = decision.why.spread,
          .candidates = decision.why.candidates,
          .under = decision.why.under};
}

}  // namespace

ExplanationReport explanation_report(const ScheduleRequest& request,
                                     const groups::Explanation& explanation,
                                     const groups::Selector& selector, bool lists_all) {
  const auto size = request.bytes_of(request.task.counts.largest());
  ExplanationReport report;
  report.collective = name_of(request.task.collective);
  if (request.declared) report.declared = request.declared->name;
  report.hosts = request.task.size();
  report.clusters = request.participants.clusters;
  report.bytes = size;
  report.element_bytes = request.element_bytes;
  report.bound_nanos = explanation.bound.time.count();
  report.bound_reason = with_names(explanation.bound.reason, request.participants);
  report.taken = schedule_of(request, explanation.taken());
  report.reason = name_of(explanation.selection->reason);
  if (explanation.selection->decision != nullptr)
    report.row = row_of(*explanation.selection->decision);
  report.assumes_costs = selector.stated_costs() == nullptr;
  if (!report.assumes_costs) report.costs_file = selector.stated_costs()->file;
  report.encryption = encryption_text(*request.participants.plan, selector.network(),
                                      request.participants.clusters);
  for (const auto& [cost, time] : explanation.shares)
    report.parts.push_back({name_of(cost), time.count()});
  if (const auto* const next = explanation.next()) report.next = schedule_of(request, *next);
  if (const auto* const faster = explanation.faster())
    report.rejected = schedule_of(request, *faster);
  report.examines_changes = explanation.examines_changes;
  for (const groups::Crossover& change : explanation.sizes)
    report.size_changes.push_back(
        {change.is_more,
         static_cast<std::uint64_t>(std::llround(change.factor * static_cast<double>(size))),
         change.schedule});
  for (const auto& [cost, change] : explanation.costs)
    report.cost_changes.push_back({name_of(cost), change.is_more, change.factor, change.schedule});
  if (lists_all)
    for (const RankedSchedule& row : explanation.ranking)
      report.schedules.push_back(schedule_of(request, row));
  return report;
}

eventspace::FileFormat explanation_format() {
  eventspace::FileFormat format{
      .title = "explanation",
      .title_with_article = "an explanation",
      .description = "Output of `paths explain --json`.",
      .root = {{"$ref", "#/$defs/explanation"}},
      .introduction =
          "`paths explain --json` writes an [explanation](#explanation). "
          "[Pick an algorithm](../how-to/pick-an-algorithm.md) explains it.",
      .types = {}};
  format.types.add(ExplanationReport{});
  return format;
}

std::string to_json(const ExplanationReport& report) {
  return eventspace::print_json(eventspace::JsonWriter::json_of(report));
}

}  // namespace commands
