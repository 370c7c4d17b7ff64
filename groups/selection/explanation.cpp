// SPDX-License-Identifier: Apache-2.0
// groups/selection/explanation.cpp — search for sizes and costs at which the schedule changes
#include "groups/selection/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace groups {
namespace {

using collectives::CollectiveSpec;
using collectives::Count;

constexpr std::uint32_t hosts_max = 32;
constexpr double factor_max = 16;
/// Accuracy of a crossover. The search ends when the two factors between which the schedule changes
/// have at most this ratio.
constexpr double exactness = 1.02;

constexpr NetworkCost all_costs[] = {NetworkCost::latency_between, NetworkCost::bandwidth_between,
                                     NetworkCost::latency_inside,  NetworkCost::bandwidth_inside,
                                     NetworkCost::message,         NetworkCost::work};

/// Function that returns the schedule that is used if a size or cost is multiplied by the given
/// factor. Returns nullopt if that factor gives no other valid size of the operation.
using TakenAt = std::function<std::optional<std::string>(double)>;

/// Returns the factor nearest to 1 at which a schedule other than `taken` was found; nullopt if
/// none was found. Tries the factors step, step^2 and so on. `step` is above 1 to search larger
/// values, below 1 to search smaller ones.
std::optional<Crossover> find_crossover(const TakenAt& taken_at, const std::string& taken,
                                        double step) {
  const auto differs = [&](double factor) -> std::optional<std::string> {
    const auto there = taken_at(factor);
    return there && *there != taken ? there : std::nullopt;
  };
  double same = 1;
  for (double factor = step; factor <= factor_max && factor >= 1 / factor_max; factor *= step) {
    auto other = differs(factor);
    if (!other) {
      same = factor;
      continue;
    }
    while (std::max(same / factor, factor / same) > exactness) {
      const double middle = std::sqrt(same * factor);
      if (auto there = differs(middle)) {
        factor = middle;
        other = std::move(there);
      } else {
        same = middle;
      }
    }
    return Crossover{.factor = factor, .is_more = step > 1, .schedule = *other};
  }
  return std::nullopt;
}

void scale_frame_costs(pricing::Network& network, double factor) {
  std::map<const tuning::FrameCosts*, std::shared_ptr<const tuning::FrameCosts>> scaled;
  for (auto& costs : network.frame_costs) {
    auto& one = scaled[costs.get()];
    if (one == nullptr) {
      tuning::FrameCosts changed = *costs;
      changed.send = costs->send.scaled(factor);
      changed.receive = costs->receive.scaled(factor);
      one = std::make_shared<const tuning::FrameCosts>(std::move(changed));
    }
    costs = one;
  }
}

/// Returns whether the hosts of two networks have the same costs.
bool have_same_hosts(const pricing::Network& left, const pricing::Network& right) {
  const auto& costs = left.frame_costs;
  return left.message_cost == right.message_cost &&
         left.fold_bytes_per_second == right.fold_bytes_per_second &&
         left.copy_bytes_per_second == right.copy_bytes_per_second && left.cores == right.cores &&
         left.machines == right.machines &&
         std::equal(costs.begin(), costs.end(), right.frame_costs.begin(),
                    [](const auto& one, const auto& other) { return *one == *other; });
}

pricing::Network with_cost(pricing::Network network, NetworkCost cost, double factor) {
  const bool is_latency =
      cost == NetworkCost::latency_between || cost == NetworkCost::latency_inside;
  const auto scale = [&](tuning::LinkModel& model) {
    model = model.scaled(is_latency ? factor : 1, is_latency ? 1 : factor);
  };
  switch (cost) {
    case NetworkCost::latency_between:
    case NetworkCost::bandwidth_between:
      for (tuning::Link& link : network.links) {
        scale(link.model);
        if (!is_latency) link.stream_rate *= factor;
      }
      break;
    case NetworkCost::latency_inside:
    case NetworkCost::bandwidth_inside:
      for (auto* models : {&network.outgoing, &network.receiving})
        std::for_each(models->begin(), models->end(), scale);
      break;
    case NetworkCost::message:
      for (base::Nanos* const time : {&network.message_cost, &network.wake_up})
        *time = base::Nanos(std::llround(static_cast<double>(time->count()) * factor));
      scale_frame_costs(network, factor);
      break;
    case NetworkCost::work:
      network.fold_bytes_per_second /= factor;
      network.copy_bytes_per_second /= factor;
      break;
  }
  return network;
}

/// Returns whether the cost exists in the network, so that a different value of the cost would
/// change times.
bool has_cost(const pricing::Network& network, NetworkCost cost) {
  const auto is_changed = [&](const std::vector<tuning::LinkModel>& before,
                              const std::vector<tuning::LinkModel>& after) {
    return before != after;
  };
  const pricing::Network other = with_cost(network, cost, 2);
  return is_changed(network.outgoing, other.outgoing) ||
         is_changed(network.receiving, other.receiving) || network.links != other.links ||
         !have_same_hosts(network, other);
}

class Changes {
 public:
  Changes(const Selector& selector, const SelectionKey& key, const CollectiveSpec& task,
          const pricing::Candidate& taken)
      : selector_(selector),
        key_(key),
        task_(task),
        present_(taken),
        taken_(text_without_length(taken, task.collective)) {}

  std::vector<Crossover> sizes() const {
    const Count whole = key_.counts.largest();
    if (task_.collective == collectives::Collective::barrier || whole == 0) return {};
    const TakenAt taken_at = [&](double factor) -> std::optional<std::string> {
      const auto count = static_cast<Count>(std::llround(static_cast<double>(whole) * factor));
      if (count == 0 || count == whole) return std::nullopt;
      return taken(make_spec(task_.collective, task_.topology, count, task_.root),
                   selector_.network());
    };
    return crossovers(taken_at);
  }

  std::vector<CostCrossover> costs() const {
    std::vector<CostCrossover> all;
    for (const NetworkCost cost : all_costs) {
      if (!has_cost(selector_.network(), cost)) continue;
      const TakenAt taken_at = [&](double factor) {
        return std::optional(taken(task_, with_cost(selector_.network(), cost, factor)));
      };
      for (const Crossover& crossover : crossovers(taken_at)) all.push_back({cost, crossover});
    }
    return all;
  }

 private:
  std::vector<Crossover> crossovers(const TakenAt& taken_at) const {
    std::vector<Crossover> found;
    for (const double step : {0.5, 2.0})
      if (const auto crossover = find_crossover(taken_at, taken_, step))
        found.push_back(*crossover);
    return found;
  }
  /// Returns the schedule that is used for another operation or network. Returns taken_ if it takes
  /// no longer there, because a limit at which no time changes would mislead.
  std::string taken(const CollectiveSpec& task, const pricing::Network& network) const {
    const pricing::Best best = pricing::best_of(task, key_.element_bytes, network, key_.worst);
    const std::string other = text_without_length(best.candidate, task.collective);
    const auto& [algorithm, parameters] = present_;
    if (other == taken_ || !algorithm->why_not(task, parameters).empty()) return other;
    const auto time =
        pricing::price(*algorithm, task, parameters, key_.element_bytes, network).time;
    return time <= best.price.time ? taken_ : other;
  }

  const Selector& selector_;
  const SelectionKey& key_;
  const CollectiveSpec& task_;
  const pricing::Candidate present_;
  const std::string taken_;
};

bool is_bandwidth(NetworkCost cost) {
  return cost == NetworkCost::bandwidth_between || cost == NetworkCost::bandwidth_inside;
}

std::vector<TimeShare> shares_of(const RankedSchedule& taken, const SelectionKey& key,
                                 const CollectiveSpec& task, const pricing::Network& network) {
  constexpr double step = 0.01;
  const auto predict = [&](NetworkCost cost, double factor) {
    const double changed = is_bandwidth(cost) ? 1 / factor : factor;
    const auto price = pricing::price(*taken.candidate.algorithm, task, taken.candidate.parameters,
                                      key.element_bytes, with_cost(network, cost, changed));
    return static_cast<double>(price.time.count());
  };
  std::vector<std::pair<NetworkCost, double>> parts;
  double sum = 0;
  for (const NetworkCost cost : all_costs) {
    if (!has_cost(network, cost)) continue;
    const double part = (predict(cost, 1 + step) - predict(cost, 1 - step)) / (2 * step);
    parts.emplace_back(cost, std::max(part, 0.0));
    sum += parts.back().second;
  }
  if (sum <= 0) return {};
  // If several paths are equally long, the parts do not add up to the predicted time. The parts are
  // therefore scaled to that time.
  const double scale = static_cast<double>(taken.time.count()) / sum;
  std::vector<TimeShare> shares;
  for (const auto& [cost, part] : parts)
    if (const base::Nanos time(std::llround(part * scale)); time > base::Nanos(0))
      shares.push_back({cost, time});
  std::stable_sort(shares.begin(), shares.end(), [](const TimeShare& left, const TimeShare& right) {
    return left.time > right.time;
  });
  return shares;
}

/// Returns the nearest smaller and larger size at which the table of decisions names another
/// schedule, as factors of `size`, the size of the operation. The table names a schedule for the
/// sizes of the operation, which are multiples of the element size.
std::vector<Crossover> limits_of(const Selector& selector, const Selection& selection,
                                 const SelectionKey& key, tuner::Bytes size) {
  std::set<tuner::Bytes> ends;  // sizes at which rows end
  for (const tuner::DecisionSection& section : selection.table->sections())
    if (section.collective == key.collective)
      for (const tuner::Decision& row : section.rows)
        if (row.up_to != tuner::Decision::no_limit && row.up_to >= key.element_bytes)
          ends.insert(row.up_to - row.up_to % key.element_bytes);
  const auto other_at = [&](tuner::Bytes bytes) -> std::optional<std::string> {
    const auto found = selector.row_for(key, bytes);
    const std::string use = found ? found->decision->use() : "best";
    return use == selection.decision->use() ? std::nullopt : std::optional(use);
  };
  const auto factor = [&](tuner::Bytes limit) {
    return static_cast<double>(limit) / static_cast<double>(std::max<tuner::Bytes>(size, 1));
  };
  std::vector<Crossover> limits;
  const auto above = ends.lower_bound(size);
  for (auto end = std::make_reverse_iterator(above); end != ends.rend(); ++end)
    if (const auto other = other_at(*end)) {
      limits.push_back({factor(*end + key.element_bytes), false, *other});
      break;
    }
  for (auto end = above; end != ends.end(); ++end)
    if (const auto other = other_at(*end + key.element_bytes)) {
      limits.push_back({factor(*end), true, *other});
      break;
    }
  return limits;
}

}  // namespace

std::string_view name_of(NetworkCost cost) {
  switch (cost) {
    case NetworkCost::latency_between: return "latency between clusters";
    case NetworkCost::bandwidth_between: return "bandwidth between clusters";
    case NetworkCost::latency_inside: return "latency inside clusters";
    case NetworkCost::bandwidth_inside: return "bandwidth inside clusters";
    case NetworkCost::message: return "time of a host for each message";
    case NetworkCost::work: return "time of a host for folds and copies";
  }
  return "";
}

std::string text_without_length(const pricing::Candidate& candidate,
                                collectives::Collective collective) {
  std::string words;
  for (const collectives::Parameter& parameter : candidate.algorithm->parameters)
    if (!parameter.is_piece && parameter.name != "element" &&
        candidate.algorithm->matters(parameter, collective, candidate.parameters))
      words += fmt::format("{}{}={}", words.empty() ? ":" : ",", parameter.name,
                           candidate.parameters.word(parameter.name));
  return candidate.algorithm->name + words;
}

const RankedSchedule& Explanation::taken() const {
  return *std::find_if(ranking.begin(), ranking.end(),
                       [](const RankedSchedule& one) { return one.is_taken; });
}

const RankedSchedule* Explanation::next() const {
  const auto found = std::find_if(ranking.begin(), ranking.end(), [](const RankedSchedule& one) {
    return one.is_allowed && !one.is_taken;
  });
  return found == ranking.end() ? nullptr : &*found;
}

const RankedSchedule* Explanation::faster() const {
  const auto found = std::find_if(ranking.begin(), ranking.end(),
                                  [](const RankedSchedule& one) { return !one.is_allowed; });
  return found == ranking.end() || found->time >= taken().time ? nullptr : &*found;
}

Explanation explain(Selector& selector, const SelectionKey& key) {
  Explanation explanation;
  explanation.ranking = rank_schedules(selector, key);
  explanation.selection = selector.answer(key);
  const Selection& selection = *explanation.selection;
  const CollectiveSpec& task = selection.task;
  explanation.bound = pricing::bound_of(task, key.element_bytes, selector.links());
  explanation.shares = shares_of(explanation.taken(), key, task, selector.network());
  if (selection.decision != nullptr)
    explanation.sizes =
        limits_of(selector, selection, key, tuner::size_of(task, key.element_bytes));
  if (selection.reason != Reason::priced && selection.reason != Reason::assumed) return explanation;
  const bool is_even = key.counts.total() == key.counts.largest() * key.counts.blocks();
  explanation.examines_changes = task.size() <= hosts_max && is_even;
  if (!explanation.examines_changes) return explanation;
  const Changes changes(selector, key, task, explanation.taken().candidate);
  explanation.sizes = changes.sizes();
  explanation.costs = changes.costs();
  return explanation;
}

}  // namespace groups
