// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/topology.cpp — groups as slices of one sorted list.
#include "collectives/schedule/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace collectives {

Topology::Topology(const std::vector<Path>& paths)
    : order_(paths.size()), positions_(paths.size()) {
  if (paths.empty()) throw std::invalid_argument("expected participants, found none");
  for (std::size_t rank = 0; rank < paths.size(); ++rank)
    if (paths[rank].size() != paths[0].size())
      throw std::invalid_argument(
          fmt::format("expected {} levels of groups for participant {} as for 0, found {}",
                      paths[0].size(), rank, paths[rank].size()));
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](Rank left, Rank right) { return paths[left] < paths[right]; });
  for (std::size_t position = 0; position < order_.size(); ++position)
    positions_[order_[position]] = position;
  add_level(paths, 0);
  for (std::size_t length = 1; length <= paths[0].size(); ++length) add_level(paths, length);
  const bool has_groups = levels_.size() > 1;
  const bool is_one_cluster = has_groups && std::ranges::all_of(paths, [&](const Path& path) {
                                return path.front() == paths[0].front();
                              });
  if (is_one_cluster) levels_.insert(levels_.begin() + 1, levels_.front());
  Level each;
  each.begins.resize(order_.size() + 1);
  each.groups.resize(order_.size());
  std::iota(each.begins.begin(), each.begins.end(), 0);
  std::iota(each.groups.begin(), each.groups.end(), 0);
  levels_.push_back(std::move(each));
}

/// Adds a level. Participants are in the same group of this level if their paths agree in the first
/// `length` numbers. Adds nothing if the level above has the same groups.
void Topology::add_level(const std::vector<Path>& paths, std::size_t length) {
  Level level;
  const auto end = static_cast<std::ptrdiff_t>(length);
  for (std::size_t position = 0; position < order_.size(); ++position) {
    const Path& path = paths[order_[position]];
    const bool begins = position == 0 || !std::equal(path.begin(), path.begin() + end,
                                                     paths[order_[position - 1]].begin());
    if (begins) level.begins.push_back(position);
    level.groups.push_back(level.begins.size() - 1);
  }
  level.begins.push_back(order_.size());
  if (levels_.empty() || levels_.back().begins != level.begins) levels_.push_back(level);
}

Topology Topology::clustered(const std::vector<std::size_t>& sizes) {
  std::vector<Path> paths;
  for (std::size_t number = 0; number < sizes.size(); ++number)
    paths.insert(paths.end(), sizes[number], Path{static_cast<std::uint32_t>(number)});
  return Topology(paths);
}

bool Topology::is_in_order() const { return std::is_sorted(order_.begin(), order_.end()); }

std::span<const Rank> Topology::members(std::size_t level, std::size_t group) const {
  const std::vector<std::size_t>& begins = levels_[level].begins;
  return std::span(order_).subspan(begins[group], begins[group + 1] - begins[group]);
}

Topology::Inner Topology::inner(std::size_t level, std::size_t group, std::size_t below) const {
  const std::vector<std::size_t>& begins = levels_[level].begins;
  const std::vector<std::size_t>& groups = levels_[below].groups;
  return {groups[begins[group]], groups[begins[group + 1] - 1] + 1};
}

}  // namespace collectives
