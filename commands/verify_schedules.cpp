// SPDX-License-Identifier: Apache-2.0
// commands/verify_schedules.cpp — selection of schedules to verify, and shortening of their
// vectors.
#include "commands/verify_schedules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "collectives/algorithms/all.hpp"
#include "collectives/cost/best.hpp"
#include "collectives/schedule/verifier.hpp"
#include "groups/selection/network_of.hpp"
#include "groups/selection/selection.hpp"
#include "paths/joins/reduction.hpp"

namespace commands {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using collectives::CollectiveSpec;
using collectives::Count;
using collectives::Counts;
using collectives::Order;
using collectives::Parameter;
using collectives::Parameters;
using collectives::Rank;
using collectives::Verdict;

/// Maximum number of vector elements, summed over all hosts. The verification executes a schedule
/// on symbols. The time of the verification is proportional to the number of elements that steps
/// move.
constexpr Count elements_max = 1 << 20;
/// Size of an element in bytes that is given to families_of(). This size is so large that some of
/// the candidates divide even a vector of a few elements.
constexpr pricing::Bytes bytes_as_if = 1024;

bool is_length(const Parameter& parameter) {
  return parameter.name == "segment" || parameter.name == "stretch";
}

Count divided(Count count, Count by) { return count / by + (count % by > 0 ? 1 : 0); }

/// Makes a request smaller for verification. It divides all lengths by the same factor: the lengths
/// of the vectors, and the parameters `segment` and `stretch`. The schedule therefore cuts its
/// vectors into as many parts as before. The factor is chosen so that the shortest of these lengths
/// is about one element for each participant.
class Cut {
 public:
  Cut(const ScheduleRequest& request) : task(request.task), parameters(request.parameters) {
    Count piece = request.task.counts.largest();
    for (const Parameter& parameter : request.algorithm->parameters)
      if (is_length(parameter))
        for (const Count length : parameters.numbers(parameter.name))
          if (length > 0) piece = std::min(piece, length);
    const Count by = std::max<Count>(piece / task.size(), 1);
    if (by == 1) return;
    std::vector<Count> counts;
    for (std::size_t block = 0; block < task.counts.blocks(); ++block)
      counts.push_back(divided(task.counts.block(block).count, by));
    task.counts = Counts::listed(counts);
    for (const Parameter& parameter : request.algorithm->parameters) {
      if (!is_length(parameter)) continue;
      std::vector<Count> lengths;
      for (const Count length : parameters.numbers(parameter.name))
        lengths.push_back(divided(length, by));
      parameters.set(parameter.name, fmt::format("{}", fmt::join(lengths, "/")));
    }
  }

  CollectiveSpec task;
  Parameters parameters;
};

std::vector<Rank> roots_of(const CollectiveSpec& task, bool is_reported) {
  std::vector<Rank> roots{task.root};
  if (is_reported || !has_root(task.collective)) return roots;
  for (Rank root = 1; root < task.size(); ++root) roots.push_back(root);
  return roots;
}

/// Counts the verified schedules, and collects the mistakes in them.
class Summary {
 public:
  void add(const Algorithm& algorithm, const CollectiveSpec& task, const Parameters& parameters) {
    const Verdict verdict = verify(algorithm, task, parameters);
    ++schedules_;
    window_ = std::max(window_, verdict.least_window);
    if (is_reduction(task.collective) && task.collective != Collective::barrier)
      order_ = std::max(order_.value_or(Order::canonical), verdict.order);
    if (verdict.holds()) return;
    const std::string root =
        has_root(task.collective) ? fmt::format(", root {}", task.root) : std::string();
    mistakes_.push_back(fmt::format("  {}{}, {} elements: {}\n",
                                    schedule_text(algorithm, task, parameters), root,
                                    task.counts.total(), verdict.mistake));
  }
  bool holds() const { return mistakes_.empty(); }
  void print(const std::string& what) const {
    std::cout << fmt::format(
        "{}: {} schedule{} {}; least window {}{}\n", what, schedules_, schedules_ == 1 ? "" : "s",
        holds() ? (schedules_ == 1 ? "holds" : "hold")
                : fmt::format("of which {} do not hold", mistakes_.size()),
        window_, order_ ? fmt::format("; sums at worst {}", name_of(*order_)) : "");
    for (const std::string& mistake : mistakes_) std::cout << mistake;
  }

 private:
  std::size_t schedules_ = 0, window_ = 0;
  std::optional<Order> order_;
  std::vector<std::string> mistakes_;
};

bool verify_one(const ScheduleOptions& options) {
  const ScheduleRequest request = read_request(options, {.algorithm = true});
  Cut cut(request);
  if (cut.task.counts.total() > elements_max / cut.task.size())
    throw std::invalid_argument(
        fmt::format("--size: expected one that takes at most {} elements on symbols, found {} for "
                    "each host, cut down; expected longer stretches or segments",
                    elements_max, cut.task.counts.total()));
  Summary summary;
  for (const Rank root : roots_of(cut.task, !options.root.empty())) {
    cut.task.root = root;
    if (request.algorithm->why_not(cut.task, cut.parameters).empty())
      summary.add(*request.algorithm, cut.task, cut.parameters);
  }
  if (cut.task.counts.total() != request.task.counts.total())
    std::cout << fmt::format("{} elements stand for {}: {}\n", cut.task.counts.total(),
                             request.task.counts.total(),
                             schedule_text(*request.algorithm, cut.task, cut.parameters));
  summary.print(fmt::format("{}, {}", request.task_text(), request.schedule_text()));
  return summary.holds();
}

bool verify_all(const ScheduleOptions& options) {
  base::Mistakes mistakes;
  const Participants all = read_participants(options, mistakes);
  std::vector<Collective> chosen(std::begin(collectives::all_collectives),
                                 std::end(collectives::all_collectives));
  if (!options.collective.empty())
    if (const auto one = read_collective(options.collective, mistakes)) chosen = {*one};
  for (const auto& [option, word] : {std::pair("--size", options.size), {"--root", options.root}})
    if (!word.empty())
      add_mistake(mistakes, fmt::format("{}: expected --algorithm, too, found none", option));
  mistakes.throw_if_any();
  bool all_hold = true;
  for (const Collective collective : chosen) {
    Summary summary;
    CollectiveSpec task = make_spec(collective, all.topology, 1);
    const bool has_one_block = task.counts.blocks() == 1;
    if (has_one_block && collective != Collective::barrier)
      task.counts = Counts::each(2 * Count{task.size()} + 1, 1);
    for (const Rank root : roots_of(task, false)) {
      task.root = root;
      for (const pricing::Family& family : pricing::families_of(task, bytes_as_if, Order::differs))
        for (const pricing::Candidate& candidate : family)
          summary.add(*candidate.algorithm, task, candidate.parameters);
    }
    summary.print(std::string(name_of(collective)));
    all_hold = all_hold && summary.holds();
  }
  return all_hold;
}

constexpr std::size_t hosts_verified_most = 128;

/// Returns the request that a wrapper of the kind `schedule` makes, for the hosts that have
/// threads. Returns nullopt if PATHS selects the schedule (the wrapper names `best` or `tuned`), or
/// if there are too many hosts.
std::optional<ScheduleRequest> request_of(const paths::Plan& plan,
                                          const paths::Plan::PlanWrapper& wrapper) {
  const base::Settings* const by = wrapper.settings.find("by");
  if (wrapper.kind != "schedule" || by == nullptr || groups::is_selected(by->text()))
    return std::nullopt;
  const auto hosts = groups::participants_of(plan);
  if (hosts.size() > hosts_verified_most) return std::nullopt;
  ScheduleRequest request;
  request.participants.topology =
      std::make_shared<const collectives::Topology>(groups::topology_of(plan, hosts));
  request.task = make_spec(Collective::allreduce, request.participants.topology,
                           paths::reduction_of(wrapper.settings).shape.count);
  const auto [name, parameters] = collectives::split_at_colon(by->text());
  request.algorithm = &collectives::algorithm_named(name);
  request.parameters = request.algorithm->read(parameters);
  return request;
}

}  // namespace

std::vector<std::string> wrong_schedules(const paths::Plan& plan) {
  std::vector<std::string> wrong;
  std::set<std::string> seen;
  for (const auto& wrapper : plan.wrappers) {
    const auto request = request_of(plan, wrapper);
    if (!request) continue;
    const std::string collective = wrapper.settings.find("collective")->text();
    if (!seen.insert(collective).second) continue;
    const Cut cut(*request);
    if (cut.task.counts.total() > elements_max / cut.task.size()) continue;
    const Verdict verdict = verify(*request->algorithm, cut.task, cut.parameters);
    if (!verdict.holds())
      wrong.push_back(fmt::format("collective {}: {}: {}", collective, request->schedule_text(),
                                  verdict.mistake));
  }
  return wrong;
}

bool verify_schedules(const ScheduleOptions& options) {
  return options.algorithm.empty() ? verify_all(options) : verify_one(options);
}

}  // namespace commands
