// SPDX-License-Identifier: Apache-2.0
// groups/selection/ranking.cpp — the fastest schedule of each algorithm and order of summation.
#include "groups/selection/ranking.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace groups {
namespace {

using collectives::CollectiveSpec;
using collectives::Order;

std::optional<Order> order_of(const CollectiveSpec& task, const pricing::Candidate& candidate) {
  if (!is_reduction(task.collective) || task.collective == collectives::Collective::barrier)
    return std::nullopt;
  return candidate.algorithm->order(task, candidate.parameters);
}

/// Algorithm and order of summation, which all schedules of one row of the ranking share.
using Kind = std::pair<const collectives::Algorithm*, std::optional<Order>>;

std::map<Kind, std::vector<pricing::Family>> families_by_kind(const CollectiveSpec& task,
                                                              std::size_t element_bytes) {
  std::map<Kind, std::vector<pricing::Family>> all;
  for (const auto& family : pricing::families_of(task, element_bytes, Order::differs)) {
    std::map<std::optional<Order>, pricing::Family> parts;
    for (const pricing::Candidate& candidate : family)
      parts[order_of(task, candidate)].push_back(candidate);
    for (auto& [order, part] : parts)
      all[{family.front().algorithm, order}].push_back(std::move(part));
  }
  return all;
}

}  // namespace

std::vector<RankedSchedule> rank_schedules(Selector& selector, const SelectionKey& key) {
  const auto taken = selector.answer(key);
  const CollectiveSpec& task = taken->task;
  const auto time_on = [&](const pricing::Network& network, const pricing::Candidate& candidate) {
    return pricing::price(*candidate.algorithm, task, candidate.parameters, key.element_bytes,
                          network)
        .time;
  };
  const pricing::Candidate chosen{taken->algorithm, taken->parameters};
  const Kind chosen_kind{taken->algorithm, order_of(task, chosen)};
  std::vector<RankedSchedule> ranking;
  for (const auto& [kind, families] : families_by_kind(task, key.element_bytes)) {
    RankedSchedule& one = ranking.emplace_back();
    one.order = kind.second;
    one.is_allowed = !kind.second || *kind.second <= key.worst;
    one.is_taken = kind == chosen_kind;
    one.candidate =
        one.is_taken
            ? chosen
            : pricing::best_among(families, task, key.element_bytes, selector.network()).candidate;
    one.time = time_on(selector.network(), one.candidate);
    one.time_on_links = time_on(selector.links(), one.candidate);
  }
  std::stable_sort(ranking.begin(), ranking.end(),
                   [](const RankedSchedule& left, const RankedSchedule& right) {
                     return std::tuple(left.time, !left.is_taken, left.order) <
                            std::tuple(right.time, !right.is_taken, right.order);
                   });
  return ranking;
}

}  // namespace groups
