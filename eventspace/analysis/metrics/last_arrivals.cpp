// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/last_arrivals.cpp — search for the last contributor at a join.
#include "eventspace/analysis/metrics/last_arrivals.hpp"

#include <algorithm>
#include <limits>

namespace eventspace {
namespace {

/// Returns the contributor (Probe) that arrived last at a join. It is the contributor whose record
/// has the flag event_last_arriver. If no record has this flag, it is the contributor with the
/// latest arrival time.
std::uint32_t find_last(const Shape& shape, const Round& round, std::uint32_t number) {
  const Pass* last = nullptr;
  std::uint32_t last_probe = none;
  for (const std::uint32_t probe : shape.joins[number].contributors) {
    const Pass* pass = pass_of(shape, round, probe);
    if (pass == nullptr) return none;
    const bool says_so = (pass->flags & event_last_arriver) != 0;
    const bool was_said = last != nullptr && (last->flags & event_last_arriver) != 0;
    if (last != nullptr && !says_so && (was_said || pass->down_nanos < last->down_nanos)) continue;
    last = pass;
    last_probe = probe;
  }
  return last_probe;
}

}  // namespace

LastArrivals::LastArrivals(const Shape& shape)
    : shape_(shape), last_(shape.joins.size(), none), lead_(shape.joins.size(), 0) {}

std::optional<std::int64_t> LastArrivals::add(const Round& round, std::uint32_t join) {
  last_[join] = find_last(shape_, round, join);
  if (last_[join] == none) return std::nullopt;
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
  std::int64_t latest = never;
  std::int64_t second = never;
  for (const std::uint32_t probe : shape_.joins[join].contributors) {
    const std::int64_t down = pass_of(shape_, round, probe)->down_nanos;
    second = std::max(second, std::min(latest, down));
    latest = std::max(latest, down);
  }
  lead_[join] = second == never ? std::numeric_limits<std::int64_t>::max() : latest - second;
  return latest;
}

std::uint32_t LastArrivals::critical_leaf(std::uint32_t number) const {
  const Tree& tree = shape_.trees[number];
  std::uint32_t probe = tree.bottom_join != none ? last_[tree.bottom_join] : tree.bottom_probe;
  while (probe != none) {
    const Probe& here = shape_.probes[probe];
    if (here.leaf != none) return here.leaf;
    probe = here.join_above != none ? last_[here.join_above] : here.above;
  }
  return none;
}

std::int64_t LastArrivals::lead_of(std::uint32_t probe) const {
  std::int64_t lead = std::numeric_limits<std::int64_t>::max();
  for (; probe != none; probe = shape_.probes[probe].below)
    if (shape_.probes[probe].join != none) lead = std::min(lead, lead_[shape_.probes[probe].join]);
  return lead;
}

}  // namespace eventspace
