// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/conditional.cpp — how condition checks came by the values they needed.
#include "eventspace/analysis/conditional.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace eventspace {
namespace {

constexpr std::uint64_t rows_max = 2048;
/// Rounds whose own record never came: more of them at once than any trace has open.
constexpr std::size_t used_max = 1 << 20;

}  // namespace

Conditional::Conditional(const Shape& shape, std::size_t exact_max)
    : shape_(shape), lanes_(shape.trees.size()) {
  find_checks(exact_max);
  find_prefetches();
}

void Conditional::find_checks(std::size_t exact_max) {
  const Structure& structure = shape_.structure;
  for (std::uint32_t wrapper = 0; wrapper < structure.wrappers.size(); ++wrapper) {
    if (structure.wrappers[wrapper].kind != "condition_check") continue;
    if (structure.wrappers[wrapper].combines.size() < 2) continue;
    check_of_wrapper_.emplace(wrapper, static_cast<std::uint32_t>(checks_.size()));
    Check& check = checks_.emplace_back(exact_max);
    check.wrapper = wrapper;
    check.remotes.assign(structure.wrappers[wrapper].combines.size(), Remote(exact_max));
    check.by_values.assign(check.remotes.size(), 0);
  }
  for (std::uint32_t lane = 0; lane < shape_.lanes.size(); ++lane) {
    const Hop& hop = shape_.hops[shape_.lanes[lane].hop];
    if (hop.kind != HopKind::check) continue;
    const auto check = check_of_wrapper_.find(hop.wrapper);
    if (check == check_of_wrapper_.end()) continue;
    checks_[check->second].tree = shape_.lanes[lane].tree;
    lanes_[shape_.lanes[lane].tree].emplace_back(lane, check->second);
  }
}

/// A prefetch serves the check of its host that combines the cluster its path ends in.
void Conditional::find_prefetches() {
  const Structure& structure = shape_.structure;
  for (std::uint32_t number = 0; number < structure.paths.size(); ++number) {
    const Structure::Path& path = structure.paths[number];
    if (path.threads > 0) continue;
    std::uint32_t last = path.stage;
    for (std::size_t steps = 0; structure.stages[last].below != no_stage && steps < 4096; ++steps)
      last = structure.stages[last].below;
    const std::uint32_t cluster = structure.hosts[structure.host_of(last)].cluster;
    for (std::uint32_t check = 0; check < checks_.size(); ++check) {
      const Structure::Wrapper& wrapper = structure.wrappers[checks_[check].wrapper];
      const bool is_graph = checks_[check].tree == none ||
                            shape_.graphs[shape_.trees[checks_[check].tree].graph] == path.graph;
      if (wrapper.host != path.host || !is_graph) continue;
      const auto place = std::find(wrapper.combines.begin(), wrapper.combines.end(), cluster);
      if (place == wrapper.combines.end()) continue;
      const auto slot = static_cast<std::uint32_t>(place - wrapper.combines.begin());
      checks_[check].remotes[slot].prefetch_path = number;
      prefetch_of_stage_[path.stage] = {check, slot};
    }
  }
}

Conditional::Check* Conditional::check_at(std::uint32_t stage) {
  const auto found = check_of_wrapper_.find(shape_.structure.stages[stage].wrapper);
  return found == check_of_wrapper_.end() ? nullptr : &checks_[found->second];
}

void Conditional::add_cache_read(const EventRecord& record) {
  Check* check = check_at(record.place);
  if (check == nullptr || record.slot >= check->remotes.size()) return;
  Remote& remote = check->remotes[record.slot];
  if ((record.flags & event_undecided) != 0) {
    ++remote.unused;
    return;
  }
  const std::int64_t wait = record.up_nanos - record.down_nanos;
  remote.wait.add(wait);
  remote.waits.add(wait);
  remote.ahead.add(record.bytes);
  if ((record.flags & event_cached) != 0) {
    ++remote.cached;
  } else {
    remote.waited.add(wait);
  }
  if (check->used.size() >= used_max) check->used.clear();
  Used& used = check->used[record.sequence];
  if (used.values == 0 || record.up_nanos < used.first_up) {
    used.first = record.slot;
    used.first_up = record.up_nanos;
  }
  ++used.values;
}

void Conditional::add_prefetch(const EventRecord& record) {
  const auto found = prefetch_of_stage_.find(record.place);
  if (found == prefetch_of_stage_.end()) return;
  const auto [check, slot] = found->second;
  checks_[check].remotes[slot].prefetch.add(record.up_nanos - record.down_nanos);
}

void Conditional::add(const Round& round) {
  if (round.has_failed || round.kind != move_operation) return;
  for (const auto& [number, check] : lanes_[round.tree]) {
    const Lane& lane = shape_.lanes[number];
    const Pass& here = round.passes[lane.place];
    if (!here.is_here) continue;
    const Pass* below = nullptr;
    if (lane.below != none) below = &round.passes[shape_.lanes[lane.below].place];
    add_round(checks_[check], round, here, below);
  }
}

/// The value is moved before anything is decided, so the time to decide begins when that is done.
void Conditional::add_round(Check& check, const Round& round, const Pass& here, const Pass* below) {
  ++check.operations;
  if ((here.flags & event_proved) != 0) ++check.proved;
  Used used;
  if (const auto found = check.used.find(round.sequence); found != check.used.end()) {
    used = found->second;
    check.used.erase(found);
  }
  ++check.by_values[std::min<std::size_t>(used.values, check.by_values.size() - 1)];
  if (used.values > 0) ++check.remotes[used.first].first;
  const bool is_known = below != nullptr && below->is_here;
  const std::int64_t nanos = here.up_nanos - (is_known ? below->up_nanos : here.down_nanos);
  check.time_to_decide.add(nanos);
  check.times_to_decide.add(nanos);
  add_row(check, round.sequence, nanos);
}

void Conditional::add_row(Check& check, std::uint64_t sequence, std::int64_t nanos) {
  // What is far ahead of all rounds so far is no number of a round, and would leave no rows.
  if (sequence > 64 * (check.operations + rows_max)) return;
  while (sequence / check.rounds_per_row >= rows_max) {
    for (std::size_t row = 0; row < check.rows.size(); row += 2) {
      Row both = check.rows[row];
      if (row + 1 < check.rows.size()) {
        both.rounds += check.rows[row + 1].rounds;
        add_to(both.sum, check.rows[row + 1].sum);
        both.max = std::max(both.max, check.rows[row + 1].max);
      }
      check.rows[row / 2] = both;
    }
    check.rows.resize((check.rows.size() + 1) / 2);
    check.rounds_per_row *= 2;
  }
  const std::uint64_t at = sequence / check.rounds_per_row;
  if (at >= check.rows.size()) check.rows.resize(at + 1);
  Row& row = check.rows[at];
  ++row.rounds;
  add_to(row.sum, nanos);
  row.max = std::max(row.max, nanos);
}

void Conditional::report(Report& report, const Figures& figures) const {
  const Structure& structure = shape_.structure;
  for (const Check& check : checks_) {
    const Structure::Wrapper& wrapper = structure.wrappers[check.wrapper];
    ConditionalReport one;
    one.place = place_of(structure, check.wrapper);
    if (check.tree != none) one.graph = shape_.graphs[shape_.trees[check.tree].graph];
    one.operations = check.operations;
    one.proved = check.proved;
    one.by_values_needed = check.by_values;
    one.time_to_decide = check.time_to_decide.summary();
    const std::string where = fmt::format("{} in {}", one.graph, one.place.cluster);
    report.series.push_back({"time to decide", where, check.times_to_decide.means()});
    std::uint64_t reads = 0;
    std::uint64_t cached = 0;
    for (std::size_t row = 0; row < check.rows.size(); ++row) {
      const Row& from = check.rows[row];
      if (from.rounds == 0) continue;
      one.decision_times.push_back({row * check.rounds_per_row,
                                    from.sum / static_cast<std::int64_t>(from.rounds), from.max});
    }
    for (std::size_t slot = 0; slot < check.remotes.size(); ++slot) {
      if (wrapper.combines[slot] == structure.hosts[wrapper.host].cluster) continue;
      const std::uint32_t path = check.remotes[slot].prefetch_path;
      std::int64_t one_way = -1;
      if (path != none && figures.path_network(path).count > 0)
        one_way = figures.path_network(path).p50 / 2;
      one.remotes.push_back(report_remote(check.remotes[slot], one_way));
      ConditionalReport::Remote& remote = one.remotes.back();
      remote.cluster = structure.clusters[wrapper.combines[slot]];
      reads += remote.reads;
      cached += remote.cached;
      report.series.push_back({"cache wait", fmt::format("{} for {}", where, remote.cluster),
                               check.remotes[slot].waits.means()});
    }
    if (reads > 0) one.cached_share = static_cast<double>(cached) / static_cast<double>(reads);
    report.conditionals.push_back(std::move(one));
  }
}

ConditionalReport::Remote Conditional::report_remote(const Remote& remote, std::int64_t one_way) {
  ConditionalReport::Remote one;
  one.reads = remote.wait.count();
  one.unused = remote.unused;
  one.cached = remote.cached;
  if (one.reads > 0)
    one.cached_share = static_cast<double>(one.cached) / static_cast<double>(one.reads);
  // 5%: half of the two-way is a guess of the one-way, and a hand-over is in the wait.
  one.in_flight = one_way < 0 ? 0 : remote.waited.count_at_most(one_way + one_way / 20);
  one.late = one_way < 0 ? 0 : remote.waited.count() - one.in_flight;
  one.first = remote.first;
  one.one_way_half_nanos = one_way;
  one.wait = remote.wait.summary();
  one.ahead = remote.ahead.summary();
  one.prefetch = remote.prefetch.summary();
  return one;
}

}  // namespace eventspace
