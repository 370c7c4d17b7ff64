// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/conditional.cpp — figures of condition checks (wrappers that test a
// condition).
#include "eventspace/analysis/metrics/conditional.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace eventspace {
namespace {

constexpr std::uint64_t rows_max = 2048;
/// Maximum number of rounds whose cache reads are kept until the record of their condition check
/// arrives. If there are more rounds, the trace lacks the check's records for most of them, so all
/// kept reads are dropped.
constexpr std::size_t used_max = 1 << 18;
/// Maximum number of sets of clusters for which rounds are counted separately. With five clusters
/// there are 16 sets, because no set contains the check's own cluster.
constexpr std::size_t together_max = 64;

/// Returns the number of rounds by which a condition check's result is late; 0 if each round
/// returns its own result.
std::uint64_t rounds_of(const Structure::Wrapper& check) {
  const std::string_view text = setting_of(check, "rounds");
  std::uint64_t rounds = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounds);
  return rounds;
}

}  // namespace

Conditional::Conditional(const Shape& shape, std::size_t exact_max)
    : shape_(shape), probes_(shape.trees.size()) {
  find_checks(exact_max);
  find_prefetches();
}

void Conditional::find_checks(std::size_t exact_max) {
  const Structure& structure = shape_.structure;
  for (std::uint32_t wrapper = 0; wrapper < structure.wrappers.size(); ++wrapper) {
    if (structure.wrappers[wrapper].job != Job::check) continue;
    if (structure.wrappers[wrapper].combines.size() < 2) continue;
    check_of_wrapper_.emplace(wrapper, static_cast<std::uint32_t>(checks_.size()));
    Check& check = checks_.emplace_back(exact_max);
    check.wrapper = wrapper;
    check.lag = rounds_of(structure.wrappers[wrapper]);
    check.remotes.assign(structure.wrappers[wrapper].combines.size(), Remote(exact_max));
    for (Remote& remote : check.remotes) remote.by_place.assign(check.remotes.size() - 1, 0);
    check.by_values.assign(check.remotes.size(), 0);
  }
  for (std::uint32_t probe = 0; probe < shape_.probes.size(); ++probe) {
    const Hop& hop = shape_.hops[shape_.probes[probe].hop];
    if (hop.kind != HopKind::check) continue;
    const auto check = check_of_wrapper_.find(hop.wrapper);
    if (check == check_of_wrapper_.end()) continue;
    checks_[check->second].tree = shape_.probes[probe].tree;
    probes_[shape_.probes[probe].tree].emplace_back(probe, check->second);
  }
}

/// Finds for each prefetch and push the condition check that uses its values.
/// - For a prefetch, the check is on the same host. It combines values of the cluster where the
///   prefetch's path ends.
/// - For a push, the check is on the host where the push's path ends. It combines values of the
///   cluster where the path begins.
void Conditional::find_prefetches() {
  const Structure& structure = shape_.structure;
  for (std::uint32_t number = 0; number < structure.paths.size(); ++number) {
    const Structure::Path& path = structure.paths[number];
    if (path.threads > 0) continue;
    std::uint32_t last = path.stage;
    while (structure.stages[last].below != no_stage) last = structure.stages[last].below;
    const bool is_push = structure.wrapper_of(path.stage).job == Job::push;
    const std::uint32_t far = structure.host_of(last);
    const std::uint32_t reader = is_push ? far : path.host;
    const std::uint32_t source = structure.hosts[is_push ? path.host : far].cluster;
    for (std::uint32_t check = 0; check < checks_.size(); ++check) {
      const Structure::Wrapper& wrapper = structure.wrappers[checks_[check].wrapper];
      const bool is_graph = checks_[check].tree == none ||
                            shape_.graphs[shape_.trees[checks_[check].tree].graph] == path.graph;
      if (wrapper.host != reader || !is_graph) continue;
      // If the check does not combine the values of an element, a push into that element carries
      // requests for values.
      const std::string_view stored = setting_of(structure.wrapper_of(last), "element");
      if (is_push && !names_element(wrapper, stored)) continue;
      const auto place = std::find(wrapper.combines.begin(), wrapper.combines.end(), source);
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
  const bool is_cached = (record.flags & event_cached) != 0;
  check->used[record.sequence + check->lag].push_back({record.up_nanos, record.slot, is_cached});
}

void Conditional::add_prefetch(const EventRecord& record) {
  const auto found = prefetch_of_stage_.find(record.place);
  if (found == prefetch_of_stage_.end()) return;
  const auto [check, slot] = found->second;
  checks_[check].remotes[slot].prefetch.add(record.up_nanos - record.down_nanos);
}

void Conditional::add(const Round& round) {
  if (round.has_failed || round.kind != move_operation) return;
  for (const auto& [number, check] : probes_[round.tree]) {
    const Probe& probe = shape_.probes[number];
    const Pass& here = round.passes[probe.place];
    if (!here.is_here) continue;
    const Pass* below = nullptr;
    if (probe.below != none) below = &round.passes[shape_.probes[probe.below].place];
    add_round(checks_[check], round, here, below);
  }
}

/// Adds a round of a condition check. The check first moves the value of its own cluster down. The
/// time to decide is counted from the return of this move.
void Conditional::add_round(Check& check, const Round& round, const Pass& here, const Pass* below) {
  if (round.sequence < check.lag) return;  // the first `lag` rounds return without a decision
  ++check.operations;
  if ((here.flags & event_proved) != 0) ++check.proved;
  std::vector<Value> used;
  if (const auto found = check.used.find(round.sequence); found != check.used.end()) {
    used = std::move(found->second);
    check.used.erase(found);
  }
  add_used(check, used);
  const bool is_known = below != nullptr && below->is_here;
  const std::int64_t nanos = here.up_nanos - (is_known ? below->up_nanos : here.down_nanos);
  check.time_to_decide.add(nanos);
  check.times_to_decide.add(nanos);
  add_row(check, round.sequence, nanos, static_cast<std::uint32_t>(used.size()));
  if (!used.empty() && !used.back().is_cached)
    check.awaited.at(round.sequence) = {used.back().slot, nanos};
}

/// Counts the values of other clusters that a round used. Sorts them by time of arrival.
void Conditional::add_used(Check& check, std::vector<Value>& used) {
  std::stable_sort(used.begin(), used.end(),
                   [](const Value& a, const Value& b) { return a.up_nanos < b.up_nanos; });
  ++check.by_values[std::min<std::size_t>(used.size(), check.by_values.size() - 1)];
  if (used.empty()) return;
  std::vector<std::uint32_t> slots;
  bool are_cached = true;
  for (std::size_t place = 0; place < used.size(); ++place) {
    Remote& remote = check.remotes[used[place].slot];
    ++remote.by_place[std::min(place, remote.by_place.size() - 1)];
    slots.push_back(used[place].slot);
    are_cached = are_cached && used[place].is_cached;
  }
  std::sort(slots.begin(), slots.end());
  if (check.together.size() >= together_max && !check.together.contains(slots)) {
    ++check.other_together;
    return;
  }
  Together& together = check.together[slots];
  ++together.operations;
  together.all_cached += are_cached ? 1 : 0;
}

void Conditional::add_row(Check& check, std::uint64_t sequence, std::int64_t nanos,
                          std::uint32_t needed) {
  // A sequence far beyond the sequences of all rounds is from a damaged record. The function
  // ignores it, because it would merge all rows into one.
  if (sequence > 64 * (check.operations + rows_max)) return;
  while (sequence / check.rounds_per_row >= rows_max) {
    for (std::size_t row = 0; row < check.rows.size(); row += 2) {
      Row both = check.rows[row];
      if (row + 1 < check.rows.size()) {
        both.rounds += check.rows[row + 1].rounds;
        add_to(both.sum, check.rows[row + 1].sum);
        both.max = std::max(both.max, check.rows[row + 1].max);
        both.needing += check.rows[row + 1].needing;
        both.needed_max = std::max(both.needed_max, check.rows[row + 1].needed_max);
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
  row.needing += needed > 0 ? 1 : 0;
  row.needed_max = std::max(row.needed_max, needed);
}

std::int64_t Conditional::one_way_of(const Remote& remote, const Figures& figures) {
  if (remote.prefetch_path == none) return -1;
  const Summary two_way = figures.path_network(remote.prefetch_path);
  if (two_way.count > 0) return two_way.p50 / 2;
  const std::int64_t pushed = figures.path_one_way(remote.prefetch_path).p50;
  return pushed > 0 ? pushed : -1;
}

void Conditional::report(Report& report, const Figures& figures) const {
  for (const Check& check : checks_) {
    report.conditionals.push_back(report_check(check, figures));
    const ConditionalReport& one = report.conditionals.back();
    const std::string where = fmt::format("{} in {}", one.graph, one.place.cluster);
    report.series.push_back({"time to decide", where, check.times_to_decide.rows()});
    std::size_t remote = 0;
    for (std::size_t slot = 0; slot < check.remotes.size(); ++slot)
      if (!is_own(check, slot))
        report.series.push_back({"cache wait",
                                 fmt::format("{} for {}", where, one.remotes[remote++].cluster),
                                 check.remotes[slot].waits.rows()});
  }
}

bool Conditional::is_own(const Check& check, std::size_t slot) const {
  const Structure::Wrapper& wrapper = shape_.structure.wrappers[check.wrapper];
  return wrapper.combines[slot] == shape_.structure.hosts[wrapper.host].cluster;
}

ConditionalReport Conditional::report_check(const Check& check, const Figures& figures) const {
  const Structure::Wrapper& wrapper = shape_.structure.wrappers[check.wrapper];
  ConditionalReport one;
  one.place = place_of(shape_.structure, check.wrapper);
  if (check.tree != none) one.graph = shape_.graphs[shape_.trees[check.tree].graph];
  one.operations = check.operations;
  one.proved = check.proved;
  one.by_values_needed = check.by_values;
  one.time_to_decide = check.time_to_decide.summary();
  for (std::size_t row = 0; row < check.rows.size(); ++row) {
    const Row& from = check.rows[row];
    if (from.rounds == 0) continue;
    one.decision_times.push_back({row * check.rounds_per_row,
                                  from.sum / static_cast<std::int64_t>(from.rounds), from.max,
                                  from.needing, from.needed_max});
  }
  std::uint64_t reads = 0;
  std::uint64_t cached = 0;
  for (std::size_t slot = 0; slot < check.remotes.size(); ++slot) {
    if (is_own(check, slot)) continue;
    const Remote& remote = check.remotes[slot];
    one.remotes.push_back(report_remote(remote, one_way_of(remote, figures)));
    one.remotes.back().cluster = shape_.structure.clusters[wrapper.combines[slot]];
    reads += one.remotes.back().reads;
    cached += one.remotes.back().cached;
  }
  if (reads > 0) one.cached_share = static_cast<double>(cached) / static_cast<double>(reads);
  one.together = report_together(check);
  one.other_together = check.other_together;
  return one;
}

std::vector<ConditionalReport::Together> Conditional::report_together(const Check& check) const {
  const Structure::Wrapper& wrapper = shape_.structure.wrappers[check.wrapper];
  std::vector<ConditionalReport::Together> all;
  for (const auto& [slots, counts] : check.together) {
    ConditionalReport::Together& one = all.emplace_back();
    for (const std::uint32_t slot : slots)
      one.clusters.push_back(shape_.structure.clusters[wrapper.combines[slot]]);
    one.operations = counts.operations;
    one.all_cached = counts.all_cached;
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.operations > b.operations; });
  return all;
}

ConditionalReport::Remote Conditional::report_remote(const Remote& remote, std::int64_t one_way) {
  ConditionalReport::Remote one;
  one.reads = remote.wait.count();
  one.unused = remote.unused;
  one.cached = remote.cached;
  if (one.reads > 0)
    one.cached_share = static_cast<double>(one.cached) / static_cast<double>(one.reads);
  // A value counts as in flight if the check waited for it no longer than the one-way time plus 5%.
  // The 5% are needed because the one-way time is only an estimate, half of the two-way time. The
  // wait also contains the time to hand over the value.
  one.in_flight = one_way < 0 ? 0 : remote.waited.count_at_most(one_way + one_way / 20);
  one.late = one_way < 0 ? 0 : remote.waited.count() - one.in_flight;
  one.by_place = remote.by_place;
  one.one_way_half_nanos = one_way;
  one.wait = remote.wait.summary();
  one.ahead = remote.ahead.summary();
  one.prefetch = remote.prefetch.summary();
  return one;
}

}  // namespace eventspace
