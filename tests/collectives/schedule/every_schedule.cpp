// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/every_schedule.cpp — combinations of collectives, groups and
// parameters of algorithms to test.
#include "tests/collectives/schedule/every_schedule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/schedule/tree.hpp"

using collectives::Parameter;

namespace {

std::vector<std::string> candidates(const Parameter& parameter) {
  if (parameter.is_list && parameter.words.empty()) return {"0", "3", "4/2", "2/3", "0/2"};
  if (parameter.is_list) {
    std::vector<std::string> lists{"binomial/flat"};
    for (const std::string& word : parameter.words) {
      const bool is_shape = word != collectives::no_shape;
      lists.push_back(is_shape ? word : word + "/binomial");
      lists.push_back("flat/" + lists.back());
    }
    return lists;
  }
  if (!parameter.words.empty()) return parameter.words;
  const Count small = std::clamp<Count>(3, parameter.least, parameter.most);
  std::vector<std::string> numbers{parameter.fallback};
  if (std::to_string(small) != parameter.fallback) numbers.push_back(std::to_string(small));
  return numbers;
}

/// Returns the counts 1, 0, 3, 2, 1, and so on. Adjacent counts differ, and some are 0.
std::vector<Count> ragged(std::size_t blocks) {
  std::vector<Count> counts;
  for (std::size_t index = 0; index < blocks; ++index) counts.push_back((index * 3 + 1) % 4);
  return counts;
}

std::vector<Counts> counts_for(Collective collective, std::size_t participants) {
  switch (collective) {
    case Collective::barrier: return {Counts::each(1, 1)};
    case Collective::gather:
    case Collective::scatter:
    case Collective::allgather:
    case Collective::reduce_scatter:
      return {Counts::each(2, participants), Counts::listed(ragged(participants))};
    case Collective::alltoall:
      return {Counts::each(1, participants * participants),
              Counts::listed(ragged(participants * participants))};
    default: return {Counts::each(2 * participants + 1, 1), Counts::each(participants / 2, 1)};
  }
}

}  // namespace

std::vector<std::vector<std::size_t>> splits(std::size_t participants, std::size_t clusters) {
  std::vector<std::vector<std::size_t>> all{{participants}};
  for (std::size_t first = 1; clusters > 1 && first < participants; ++first)
    for (std::vector<std::size_t> rest : splits(participants - first, clusters - 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(rest);
    }
  return all;
}

std::vector<Parameters> variants(const Algorithm& algorithm, Collective collective) {
  std::vector<Parameters> all{Parameters()};
  for (const Parameter& parameter : algorithm.parameters) {
    std::vector<Parameters> longer;
    for (const Parameters& values : all)
      if (algorithm.matters(parameter, collective, values))
        for (const std::string& value : candidates(parameter))
          longer.push_back(Parameters(values).set(parameter.name, value));
      else
        longer.push_back(Parameters(values).set(parameter.name, parameter.fallback));
    all = longer;
  }
  return all;
}

std::vector<CollectiveSpec> tasks(Collective collective, std::shared_ptr<const Topology> group) {
  std::vector<CollectiveSpec> all;
  const Rank roots = collectives::has_root(collective) ? group->size() : 1;
  for (const Counts& counts : counts_for(collective, group->size()))
    for (Rank root = 0; root < roots; ++root) all.push_back({collective, group, counts, root});
  return all;
}

void for_every_schedule(const std::shared_ptr<const Topology>& group, const See& see) {
  for (const Algorithm& algorithm : collectives::all_algorithms()) {
    for (const Collective collective : algorithm.collectives) {
      const std::vector<Parameters> all = variants(algorithm, collective);
      for (const CollectiveSpec& task : tasks(collective, group))
        for (const Parameters& parameters : all)
          if (algorithm.why_not(task, parameters).empty()) see(algorithm, task, parameters);
    }
  }
}

std::string text(const Algorithm& algorithm, const CollectiveSpec& task,
                 const Parameters& parameters) {
  std::vector<std::size_t> sizes;
  for (std::size_t number = 0; number < task.group().clusters(); ++number)
    sizes.push_back(task.group().cluster(number).size());
  return fmt::format("{} {} on {}, root {}, {} elements, {}", algorithm.name,
                     name_of(task.collective), fmt::join(sizes, "+"), task.root,
                     task.counts.total(), parameters.text());
}

std::shared_ptr<const Topology> clustered(const std::vector<std::size_t>& sizes) {
  return std::make_shared<const Topology>(Topology::clustered(sizes));
}
