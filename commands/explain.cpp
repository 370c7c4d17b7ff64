// SPDX-License-Identifier: Apache-2.0
// commands/explain.cpp — `paths explain`: the selected schedule of a collective, with the reason.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <utility>

#include "base/link_model/host_costs.hpp"
#include "base/units.hpp"
#include "collectives/algorithms/all.hpp"
#include "commands/commands.hpp"
#include "commands/encryption_cost.hpp"
#include "commands/explanation_report.hpp"
#include "commands/output_file.hpp"
#include "commands/schedule_request.hpp"
#include "groups/execution/machine_group.hpp"
#include "groups/execution/mapped_execution.hpp"
#include "groups/selection/explanation.hpp"
#include "groups/selection/network_of.hpp"
#include "wrappers/schedule.hpp"

namespace commands {
namespace {

using collectives::Algorithm;
using collectives::Order;
using groups::RankedSchedule;

struct ExplainOptions {
  ScheduleOptions schedule;
  std::string grouping;   ///< name of an order of summation; "" = not given
  std::string decisions;  ///< file of a table; "" = the table of the config
  bool lists_all = false;
  std::string json;  ///< output file; "-" = standard output; "" = none
};

/// Returns a call whose values may be combined in the order that `grouping` names. The values and
/// the operation of the call are examples: i64 and max for "any", otherwise f64 and sum.
groups::Call call_with(collectives::Collective collective, const std::string& grouping) {
  groups::Call call;
  call.collective = collective;
  call.is_canonical = grouping == "canonical";
  call.operation = grouping == "any" ? "max" : "sum";
  call.scalar = grouping == "any" ? base::Scalar::i64 : base::Scalar::f64;
  return call;
}

/// Returns the key with which the schedule is selected, for a declared collective or for a call of
/// a group.
groups::SelectionKey key_of(const ScheduleRequest& request, const std::string& grouping) {
  const bool is_declared = request.declared && grouping.empty();
  const groups::Call call =
      is_declared ? wrappers::declared_call(
                        request.declared->reduction,
                        request.declared->has_schedule ? request.declared->algorithm : "best")
                  : call_with(request.task.collective, grouping);
  return groups::key_of(call, request.task, request.element_bytes);
}

bool has_order(const std::vector<RankedSchedule>& ranking) {
  return ranking.front().order.has_value();
}

std::string text_of(const ScheduleRequest& request, const RankedSchedule& row) {
  return schedule_text(*row.candidate.algorithm, request.task, row.candidate.parameters);
}

/// Returns why a schedule is selected, or why it is not permitted. Returns "" if it is permitted
/// but slower than the selected schedule.
std::string reason_for(const RankedSchedule& row) {
  if (row.is_taken) return "taken";
  if (row.is_allowed) return "";
  switch (*row.order) {
    case Order::differs: return "hosts disagree: only for sums that are exact";
    case Order::in_order: return "only with --grouping in_order or any";
    default: return "only with --grouping any";
  }
}

/// Returns the title of the output. If the declared collective does not use a schedule, the title
/// states this.
std::string title_of(const ScheduleRequest& request) {
  if (!request.declared) return "Schedule";
  const DeclaredCollective& declared = *request.declared;
  if (declared.has_schedule) return "Schedule of " + declared.name;
  return fmt::format(
      "{} is carried out by `algorithm: {}`, a tree of wrappers without a schedule.\n"
      "With `algorithm: best` it would be",
      declared.name, declared.algorithm);
}

/// Returns a text that states where the costs of hosts in a prediction come from.
std::string costs_text(const tuning::HostCosts& costs) {
  const std::string cores =
      costs.cores == 0
          ? ""
          : fmt::format(", {} core{} for each machine", costs.cores, costs.cores == 1 ? "" : "s");
  return (costs.file.empty() ? "with the costs of hosts that the config states"
                             : "with the costs of hosts measured in " + costs.file) +
         cores;
}

std::string assumptions_text(const groups::AssumedCosts& assumed) {
  std::string text = fmt::format("{} for each message that a host sends or receives",
                                 base::format_time(assumed.message));
  if (!assumed.has_network)
    text += fmt::format(", {} for each host and folds of {:.0f} GB/s",
                        base::format_bits_per_second(assumed.bits_per_second),
                        assumed.fold_bytes_per_second / 1e9);
  return text;
}

/// Returns a text that names the permitted orders of summation: `worst` and all stricter ones.
std::string allowed_text(Order worst) {
  if (worst == Order::canonical) return fmt::format("'{}'", name_of(worst));
  return fmt::format("'{}' or a stricter one", name_of(worst));
}

std::string percent_text(base::Nanos time, base::Nanos reference) {
  return fmt::format("{:+.1f}%",
                     100.0 * static_cast<double>((time - reference).count()) /
                         static_cast<double>(std::max<std::int64_t>(reference.count(), 1)));
}

/// Returns the value as text with three digits, in the largest unit in which it is at least 1. The
/// value is in the first unit of the list. Each other unit is `step` times the unit before it.
std::string rounded_text(double value, double step, std::initializer_list<std::string_view> units) {
  const auto* unit = units.begin();
  while (value >= step && unit + 1 != units.end()) {
    value /= step;
    ++unit;
  }
  return fmt::format("{:.3g}{}", value, *unit);
}

std::string rounded_time(base::Nanos time, double factor) {
  return rounded_text(static_cast<double>(time.count()) * factor, 1000, {"ns", "us", "ms", "s"});
}

/// Returns a cost of the network, multiplied by `factor`, as text. If links have different costs,
/// the text contains only the factor.
std::string cost_text(const pricing::Network& network, groups::NetworkCost cost, double factor) {
  using groups::NetworkCost;
  if (cost == NetworkCost::message && network.frame_costs.empty())
    return rounded_time(network.message_cost, factor);
  std::vector<tuning::LinkSample> samples;
  if (cost == NetworkCost::message || cost == NetworkCost::work) {
    // Adds no value for the costs of frames, folds and copies, because these depend on sizes.
  } else if (cost == NetworkCost::latency_between || cost == NetworkCost::bandwidth_between) {
    for (std::size_t link = 0; link < network.links.size(); ++link)
      if (link % (network.clusters() + 1) != 0)  // not the network inside a cluster
        samples.push_back(network.links[link].model.at(base::Nanos(0)));
  } else {
    for (const tuning::LinkModel& side : network.outgoing)
      samples.push_back(side.at(base::Nanos(0)));
  }
  const auto is_first = [&](const tuning::LinkSample& one) { return one == samples.front(); };
  if (samples.empty() || !std::all_of(samples.begin(), samples.end(), is_first))
    return fmt::format("{:.3g} times the present one", factor);
  if (cost == NetworkCost::latency_between || cost == NetworkCost::latency_inside)
    return rounded_time(samples.front().latency, factor);
  return rounded_text(samples.front().bits_per_second * factor, 1000,
                      {"bit", "kbit", "Mbit", "Gbit"});
}

void print_line(std::string_view label, const std::string& text) {
  std::cout << fmt::format("  {:9}  {}\n", label, text);
}

void print_changes(const ScheduleRequest& request, const groups::Explanation& explanation,
                   const pricing::Network& network) {
  const auto bytes = static_cast<double>(request.bytes_of(request.task.counts.largest()));
  for (const groups::Crossover& size : explanation.sizes)
    print_line("size",
               fmt::format("{} {}: {}", size.is_more ? "above" : "below",
                           rounded_text(size.factor * bytes, 1024, {"B", "KiB", "MiB", "GiB"}),
                           size.schedule));
  for (const auto& [cost, crossover] : explanation.costs)
    print_line("network",
               fmt::format("{} {} {}: {}", name_of(cost), crossover.is_more ? "above" : "below",
                           cost_text(network, cost, crossover.factor), crossover.schedule));
  if (!explanation.examines_changes)
    print_line("changes",
               "other sizes and networks are only examined for up to 32 hosts and equal "
               "blocks");
}

/// Returns a text that describes a row of a decision table: its position in the file, the sizes for
/// which it holds, its note, and its measurements.
std::string row_text(const tuner::Decision& row, groups::Reason reason) {
  std::string text = fmt::format(
      "{}, a row up to {}", row.position.text(),
      row.up_to == tuner::Decision::no_limit ? "any size" : base::format_bytes(row.up_to));
  if (reason == groups::Reason::borrowed) text += ", for another number of hosts";
  if (row.is_pinned) text += ", pinned";
  if (!row.note.empty()) text += fmt::format(": \"{}\"", row.note);
  std::vector<std::string> figures;
  if (row.why.time.count() > 0) figures.push_back("measured " + rounded_time(row.why.time, 1));
  if (row.why.runs > 0) figures.push_back(fmt::format("{} runs", row.why.runs));
  if (row.why.spread > 0) figures.push_back(fmt::format("spread {:.1f}%", row.why.spread));
  if (!row.why.next.empty())
    figures.push_back(
        fmt::format("next best {} {}", row.why.next, rounded_time(row.why.next_time, 1)));
  if (!row.why.candidates.empty()) figures.push_back("only among " + row.why.candidates);
  if (!row.why.under.empty()) figures.push_back(fmt::format("next to '{}'", row.why.under));
  return figures.empty() ? text : fmt::format("{} ({})", text, fmt::join(figures, ", "));
}

std::string reason_text(const groups::Selection& selection, const RankedSchedule& taken,
                        Order worst) {
  if (selection.decision != nullptr) return row_text(*selection.decision, selection.reason);
  if (selection.reason == groups::Reason::named) return "the config names it";
  return fmt::format("least predicted time{}",
                     taken.order ? fmt::format(" among schedules with an allowed order of sums: {}",
                                               allowed_text(worst))
                                 : "");
}

/// Prints the parts of the predicted time, by kind of cost. Leaves out parts below half a percent.
void print_parts(const groups::Explanation& explanation) {
  const auto whole = static_cast<double>(explanation.taken().time.count());
  for (const auto& [cost, time] : explanation.shares)
    if (const double percent = 100 * static_cast<double>(time.count()) / whole; percent >= 0.5)
      print_line("part",
                 fmt::format("{} ({:.0f}%): {}", rounded_time(time, 1), percent, name_of(cost)));
}

void print_answer(const ScheduleRequest& request, const groups::Explanation& explanation,
                  const groups::Selector& selector, Order worst) {
  const RankedSchedule& taken = explanation.taken();
  std::cout << fmt::format("{}: {}\n", title_of(request), text_of(request, taken));
  if (const tuning::HostCosts* const costs = selector.stated_costs()) {
    print_line("predicted", fmt::format("{}, {}", milliseconds(taken.time), costs_text(*costs)));
  } else {
    print_line("predicted", fmt::format("{}, with assumed costs: {}", milliseconds(taken.time),
                                        assumptions_text(selector.assumed())));
    print_line("links", fmt::format("{} without assumed costs, as on the virtual clock",
                                    milliseconds(taken.time_on_links)));
  }
  print_parts(explanation);
  const Participants& all = request.participants;
  if (const auto price = encryption_text(*all.plan, selector.network(), all.clusters);
      !price.empty())
    print_line("encrypted", price);
  print_line("reason", reason_text(*explanation.selection, taken, worst));
  if (const RankedSchedule* const next = explanation.next())
    print_line(next->time < taken.time ? "faster" : "next best",
               fmt::format("{} ({}): {}", milliseconds(next->time),
                           percent_text(next->time, taken.time), text_of(request, *next)));
  if (const RankedSchedule* const faster = explanation.faster())
    print_line("rejected",
               fmt::format("{} ({}): {}, because its order of sums is '{}'",
                           milliseconds(faster->time), percent_text(faster->time, taken.time),
                           text_of(request, *faster), name_of(*faster->order)));
  print_changes(request, explanation, selector.network());
}

void print_rows(const ScheduleRequest& request, const groups::Explanation& explanation,
                bool assumes_costs) {
  const auto on_links = [&](const std::string& text) {
    return assumes_costs ? fmt::format("  {:>14}", text) : "";
  };
  std::cout << fmt::format("\n{:>14}{}  {:>5}  {:24}  schedule\n", "predicted", on_links("links"),
                           "ratio", has_order(explanation.ranking) ? "order of sums" : "");
  for (const RankedSchedule& row : explanation.ranking) {
    const std::string why = reason_for(row);
    std::cout << fmt::format("{:>14}{}  {:>5}  {:24}  {}{}\n", milliseconds(row.time),
                             on_links(milliseconds(row.time_on_links)),
                             ratio_text(row.time_on_links, explanation.bound.time),
                             row.order ? name_of(*row.order) : "", text_of(request, row),
                             why.empty() ? "" : "  <- " + why);
  }
}

void print_shared_memory(const ScheduleRequest& request) {
  if (request.declared) return;
  const auto& machines = request.participants.machines;
  const pricing::Bytes bytes = request.bytes_of(request.task.counts.largest());
  if (machines && machines->is_one()) {
    std::cout << "Processes of one machine use shared memory instead, unless the config contains "
                 "`shared_memory: false`.\n";
    if (groups::MappedExecution::supports(request.task.collective, bytes))
      std::cout << fmt::format(
          "If the arrays are mapped arrays, the processes read these directly ({}).\n",
          groups::mapped_arrays_name);
  } else if (machines && groups::MachineGroup::can_lead(request.task.collective, bytes))
    std::cout << "If the hosts of each cluster are processes of one machine, they use shared "
                 "memory, and one host of each cluster takes part in a schedule. The config can "
                 "forbid that with `shared_memory: false`.\n";
}

/// Prints the algorithms that support the collective in general, but not on this topology, with the
/// reasons.
void print_refused(const ScheduleRequest& request, const std::vector<RankedSchedule>& ranking) {
  bool has_title = false;
  for (const Algorithm& algorithm : collectives::all_algorithms()) {
    const bool is_ranked = std::any_of(
        ranking.begin(), ranking.end(),
        [&](const RankedSchedule& row) { return row.candidate.algorithm == &algorithm; });
    if (!algorithm.does(request.task.collective) || is_ranked) continue;
    if (!std::exchange(has_title, true)) std::cout << "\nImpossible here:\n";
    std::cout << fmt::format("  {}: {}\n", algorithm.name,
                             algorithm.why_not(request.task, algorithm.read("")));
  }
}

/// If a file is named, replaces the plan's table of decisions by the table in the file.
paths::Plan with_decisions(paths::Plan plan, const std::string& file) {
  if (!file.empty()) plan.decisions = tuner::load_decision_table(file);
  return plan;
}

int explain(const ExplainOptions& options) {
  const ScheduleRequest request =
      read_request(options.schedule, {.size = true, .may_be_declared = true});
  const auto& plan = request.participants.plan;
  groups::Selector selector(with_decisions(*plan, options.decisions),
                            groups::participants_of(*plan));
  const groups::SelectionKey key = key_of(request, options.grouping);
  const groups::Explanation explanation = groups::explain(selector, key);
  if (!options.json.empty())
    write_text(options.json,
               to_json(explanation_report(request, explanation, selector, options.lists_all)));
  if (options.json == "-") return succeeded;
  print_task(request);
  print_answer(request, explanation, selector, key.worst);
  print_shared_memory(request);
  if (!options.lists_all) return succeeded;
  print_rows(request, explanation, selector.stated_costs() == nullptr);
  print_refused(request, explanation.ranking);
  return succeeded;
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand(
      "explain",
      "Show which schedule a collective takes, its predicted time, and what would change it");
  command->add_option("FILE", options->schedule.file, "a config of either level")->required();
  add_task_options(*command, options->schedule);
  add_root_option(*command, options->schedule);
  command
      ->add_option("--grouping", options->grouping,
                   "order of sums, instead of that of the caller.\ncanonical: the same bits as "
                   "adding thread by\nthread. in_order: one grouping. any: any order")
      ->type_name("NAME")
      ->check(CLI::IsMember({"canonical", "in_order", "any"}));
  command
      ->add_option("--decisions", options->decisions,
                   "table of decisions, instead of that of the config")
      ->type_name("FILE");
  command->add_flag("--all", options->lists_all,
                    "list the fastest schedule of each algorithm, too");
  command
      ->add_option("--json", options->json,
                   "also write the answer as JSON; - is standard output, without the text")
      ->type_name("FILE");
  set_examples(*command,
               "  paths explain configs/two-clusters.yaml --collective allreduce --size 1MiB\n"
               "  paths explain configs/two-clusters.yaml --collective broadcast --size 8B --root "
               "b1\n"
               "  paths explain configs/multicluster.yaml --collective sum\n");
  command->callback([options, &exit_code] { exit_code = explain(*options); });
}

}  // namespace commands
