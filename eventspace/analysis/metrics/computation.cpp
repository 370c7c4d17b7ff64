// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/computation.cpp — computation of threads between operations.
#include "eventspace/analysis/metrics/computation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "eventspace/analysis/metrics/others.hpp"

namespace eventspace {
namespace {

std::int64_t median_of(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Maximum plausible duration of a computation: half a year. Longer computations come from damaged
/// records.
constexpr std::int64_t computation_max = std::int64_t{1} << 54;

}  // namespace

Computation::Computation(const Shape& shape, const Figures& figures, std::size_t kept_max,
                         std::size_t exact_max)
    : shape_(shape),
      figures_(figures),
      kept_max_(kept_max),
      leaves_(shape.leaves.size()),
      exact_max_(exact_max),
      lateness_(shape, figures) {
  std::uint32_t threads = 0;
  for (const Leaf& leaf : shape.leaves)
    if (leaf.thread != none) threads = std::max(threads, leaf.thread + 1);
  threads_.resize(threads);
}

std::int64_t Computation::add(std::uint32_t number, const EventRecord& operation) {
  const std::uint32_t rank = shape_.leaves[number].thread;
  if (rank == none) return -1;
  ThreadState& thread = threads_[rank];
  LeafState& leaf = leaves_[number];
  const bool is_start = is(operation, EventKind::start);
  const bool is_wait = is(operation, EventKind::wait);
  const bool is_move = operation.kind == move_operation;
  if (is_move && leaf.started.erase(operation.sequence) > 0) return -1;
  if (is_start) leaf.started.insert(operation.sequence);
  // If records of earlier operations are missing, the time since the thread's previous record is
  // not a single computation.
  const bool is_next = !(is_move || is_start) || operation.sequence == leaf.next_sequence;
  if (is_move || is_start) leaf.next_sequence = operation.sequence + 1;
  const bool had_begun = thread.has_begun;
  const std::int64_t begin = thread.last_up;
  const At here{number, operation.kind};
  if (!had_begun) {
    thread.has_begun = true;
    thread.last_up = operation.up_nanos;
    thread.last = here;
    thread.first_down = operation.down_nanos;
    if (is_next) thread.first = here;
    thread.first_sequence = operation.sequence;
    return -1;
  }
  thread.last_up = std::max(begin, +operation.up_nanos);
  const std::int64_t nanos = operation.down_nanos - begin;
  const At last = std::exchange(thread.last, here);
  if (!is_next || nanos < 0 || nanos > computation_max) {
    ++unknown_;
    return -1;
  }
  // An operation through a join that is not a move belongs to no round. The computation before such
  // an operation cannot make a round late, so the computation is not kept.
  if (!is_move && !is_start && !is_wait &&
      shape_.trees[shape_.probes[shape_.leaves[number].probe].tree].has_joins())
    return nanos;
  const KeptComputation kept(begin, nanos, operation.sequence);
  if (last == At{}) {
    thread.before_first = First{here, kept};
  } else {
    const std::uint32_t place = place_between(last, here);
    keep(place, kept);
    // The kept computation before the thread's first operation counts at the first place after
    // which the same operation follows. If the condition is true, `place` is that place.
    if (thread.before_first && thread.before_first->at == here) {
      keep(place, thread.before_first->kept);
      thread.before_first.reset();
    }
  }
  return nanos;
}

std::uint32_t Computation::group_of(const At& after, const At& before) {
  const std::uint32_t cluster = shape_.structure.hosts[host_of(before.leaf)].cluster;
  const auto graph_of = [&](const At& at) {
    return at.leaf == none ? none
                           : shape_.trees[shape_.probes[shape_.leaves[at.leaf].probe].tree].graph;
  };
  return groups_
      .try_emplace({cluster, graph_of(before), before.kind, graph_of(after), after.kind},
                   static_cast<std::uint32_t>(groups_.size()))
      .first->second;
}

/// Returns the number of the place between two operations. In a real program, a leaf has few
/// places. If a trace shows more than `places_max` places, each further place counts as the last of
/// them.
std::uint32_t Computation::place_between(const At& after, const At& before) {
  constexpr std::size_t places_max = 32;
  LeafState& leaf = leaves_[before.leaf];
  for (const std::uint32_t place : leaf.places)
    if (places_[place].after == after && places_[place].before == before) return place;
  if (leaf.places.size() == places_max) return leaf.places.back();
  leaf.places.push_back(static_cast<std::uint32_t>(places_.size()));
  places_.emplace_back(after, before, group_of(after, before), exact_max_);
  return leaf.places.back();
}

void Computation::add_in_group(const EventRecord& record) {
  if (record.place >= threads_.size() || !threads_[record.place].has_begun) return;
  ThreadState& thread = threads_[record.place];
  std::uint64_t kind = record.kind;
  if (is(record, GroupEvent::member)) {
    const GroupMember member = member_of(record);
    if (thread.started_shares.erase(member.share) > 0) return;
    kind = group_operation_kind(member.text);
  } else if (is(record, EventKind::start)) {
    thread.started_shares.insert(record.slot);
  }
  thread.last_up = std::max(thread.last_up, +record.up_nanos);
  thread.last = At{none, kind};
}

void Computation::add_thread(const EventRecord& life) {
  if (life.place >= threads_.size()) return;
  ThreadState& thread = threads_[life.place];
  if (!thread.has_begun) {  // this record marks the begin of the thread
    thread.has_begun = true;
    thread.last_up = life.down_nanos;
    return;
  }
  const std::int64_t nanos = thread.first_down - life.down_nanos;
  if (thread.first.leaf == none || nanos < 0 || nanos > computation_max) return;
  const KeptComputation kept(life.down_nanos, nanos, thread.first_sequence);
  const At first = std::exchange(thread.first, At{});
  const auto& places = leaves_[first.leaf].places;
  const auto same = std::find_if(places.begin(), places.end(), [&](std::uint32_t place) {
    return places_[place].before == first;
  });
  keep(same == places.end() ? place_between(At{}, first) : *same, kept);
}

void Computation::keep(std::uint32_t place, const KeptComputation& kept) {
  if (kept_ >= kept_max_) judge(false);
  places_[place].figures.keep(kept);
  ++kept_;
}

void Computation::finish() {
  for (ThreadState& thread : threads_)
    if (thread.before_first)
      keep(place_between(At{}, thread.before_first->at), thread.before_first->kept);
  judge(true);
}

/// Returns the usual values for each place. The median is that of the other threads of the same
/// host, if the host has other threads. Threads of the same host are preferred because all threads
/// of a slow host are slow.
std::vector<UsualComputation> Computation::usual() const {
  const std::size_t groups = groups_.size();
  std::vector<std::vector<std::int64_t>> medians(groups);
  std::vector<std::vector<std::int64_t>> spreads(groups);
  std::vector<std::vector<std::int64_t>> far_spreads(groups);
  // Medians of threads. The key is the set of places (index in groups_) and the host.
  std::map<std::pair<std::size_t, std::uint32_t>, Others> of_hosts;
  std::vector<std::int64_t> own(places_.size(), 0);
  for (std::uint32_t number = 0; number < places_.size(); ++number) {
    const PlaceState& place = places_[number];
    if (place.figures.all().count() == 0) continue;
    own[number] = place.figures.all().quantile(0.5);
    medians[place.group].push_back(own[number]);
    spreads[place.group].push_back(own[number] - place.figures.all().quantile(0.1));
    far_spreads[place.group].push_back(own[number] - place.figures.all().quantile(0.01));
    of_hosts[{place.group, host_of(place.before.leaf)}].add(own[number]);
  }
  for (auto& [host, threads] : of_hosts) threads.sort();
  std::vector<UsualComputation> of_groups(groups);
  for (std::size_t group = 0; group < groups; ++group)
    of_groups[group] = {median_of(medians[group]), median_of(spreads[group]),
                        median_of(far_spreads[group])};
  std::vector<UsualComputation> usual(places_.size());
  for (std::uint32_t number = 0; number < places_.size(); ++number) {
    const PlaceState& place = places_[number];
    if (place.figures.all().count() == 0) continue;
    usual[number] = of_groups[place.group];
    const auto mates =
        of_hosts.at({place.group, host_of(place.before.leaf)}).median_without(own[number]);
    if (mates > 0) usual[number].median = mates;
  }
  return usual;
}

void Computation::judge(bool all) {
  const std::vector<UsualComputation> like = usual();
  for (std::uint32_t number = 0; number < places_.size(); ++number) {
    PlaceState& place = places_[number];
    PlaceFigures& figures = place.figures;
    if (figures.kept().empty()) continue;
    figures.find_bounds(like[number]);
    const std::size_t kept = figures.kept().size();
    const std::size_t count = all ? kept : (kept + 1) / 2;
    for (const KeptComputation& one : figures.kept().first(count)) judge_one(place, one);
    kept_ -= count;
    if (all) figures.find_periods();
    if (!all) judged_early_ += count;
    figures.drop_oldest(count);
  }
}

void Computation::judge_one(PlaceState& place, const KeptComputation& kept) {
  const std::int64_t noise = place.figures.judge(kept);
  const std::uint32_t leaf = place.before.leaf;
  if (!shape_.trees[shape_.probes[shape_.leaves[leaf].probe].tree].has_joins()) return;
  lateness_.add(leaf, kept.sequence(), static_cast<double>(kept.nanos()) - place.figures.mean());
  if (noise > 0 && lateness_.add_noise(leaf, kept.sequence(), noise))
    add_to(place.critical_noise, noise);
}

std::vector<std::int64_t> Computation::critical_noise() const {
  std::vector<std::int64_t> noise(leaves_.size(), 0);
  for (const PlaceState& place : places_) add_to(noise[place.before.leaf], place.critical_noise);
  return noise;
}

std::int64_t Computation::noise_between(const At& after, const At& before,
                                        std::int64_t nanos) const {
  if (before.leaf == none) return 0;
  for (const std::uint32_t number : leaves_[before.leaf].places) {
    const PlaceState& place = places_[number];
    if (place.before != before || (place.after != after && after != At{})) continue;
    return place.figures.noise_in(nanos);
  }
  return 0;
}

std::uint32_t Computation::main_place_of(std::uint32_t leaf) const {
  std::uint32_t main = none;
  for (const std::uint32_t place : leaves_[leaf].places)
    if (places_[place].figures.all().count() > 0 &&
        (main == none || places_[place].figures.all().sum() > places_[main].figures.all().sum()))
      main = place;
  return main;
}

namespace {

/// Removes the noise spectrum from the reports of all but the noisiest threads. The reason is that
/// a spectrum needs as much space as all other figures of a thread together.
void keep_spectra_of_noisiest(std::vector<ThreadReport>& threads) {
  constexpr std::size_t spectra_max = 32;
  std::vector<ThreadReport*> with;
  for (ThreadReport& thread : threads)
    if (!thread.spectrum.empty()) with.push_back(&thread);
  std::stable_sort(with.begin(), with.end(), [](const ThreadReport* a, const ThreadReport* b) {
    return a->noise_nanos > b->noise_nanos;
  });
  for (std::size_t place = spectra_max; place < with.size(); ++place) with[place]->spectrum = {};
}

}  // namespace

void Computation::report(Report& report, const Conditional& conditional,
                         const GroupTexts& texts) const {
  for (const LeafState& leaf : leaves_)
    for (const std::uint32_t place : leaf.places) {
      if (places_[place].figures.all().count() == 0) continue;
      report.threads.push_back(report_thread(place, texts));
      const ThreadReport& thread = report.threads.back();
      const std::string after =
          leaf.places.size() == 1 ? "" : fmt::format(" after {}", thread.after);
      report.series.push_back({"computation",
                               fmt::format("{} before {}{}", thread.name, thread.graph, after),
                               thread.blocks});
    }
  keep_spectra_of_noisiest(report.threads);
  report_hosts(report);
  lateness_.report(report, conditional);
}

ThreadReport Computation::report_thread(std::uint32_t place, const GroupTexts& texts) const {
  const PlaceState& state = places_[place];
  const std::uint32_t number = state.before.leaf;
  const Leaf& leaf = shape_.leaves[number];
  const Structure::Path& path = shape_.structure.paths[leaf.path];
  const Structure::Host& host = shape_.structure.hosts[path.host];
  ThreadReport thread;
  thread.name = shape_.structure.thread_name(leaf.thread);
  thread.rank = leaf.thread;
  thread.graph = path.graph;
  const std::string* const group = texts.find(static_cast<std::uint32_t>(state.after.kind));
  if (state.after.leaf == none && state.after.kind != 0 && group != nullptr)
    thread.after = group_operation_of(*group).group;
  if (state.after.leaf != none)
    thread.after = shape_.structure.paths[shape_.leaves[state.after.leaf].path].graph;
  thread.host = host.name;
  thread.cluster = shape_.structure.clusters[host.cluster];
  thread.is_main_place = place == main_place_of(number);
  state.figures.report(thread);
  thread.critical_noise_nanos = state.critical_noise;
  if (!thread.is_main_place) return thread;
  thread.critical_rounds = figures_.critical_rounds(number);
  thread.critical_iterations = figures_.critical_iterations(number);
  thread.critical_computation_nanos = figures_.critical_computation(number);
  return thread;
}

void Computation::report_hosts(Report& report) const {
  const Structure& structure = shape_.structure;
  std::vector<std::vector<std::int64_t>> medians(structure.hosts.size());
  std::vector<std::vector<std::int64_t>> bases(structure.hosts.size());
  report.hosts.resize(structure.hosts.size());
  for (std::uint32_t number = 0; number < leaves_.size(); ++number) {
    const std::uint32_t host = host_of(number);
    report.hosts[host].critical_rounds += figures_.critical_rounds(number);
    report.hosts[host].critical_iterations += figures_.critical_iterations(number);
    const std::uint32_t place = main_place_of(number);
    if (place == none) continue;
    medians[host].push_back(places_[place].figures.all().quantile(0.5));
    bases[host].push_back(places_[place].figures.base());
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_cluster;
  for (std::uint32_t number = 0; number < structure.hosts.size(); ++number) {
    HostReport& host = report.hosts[number];
    host.name = structure.hosts[number].name;
    host.cluster = structure.clusters[structure.hosts[number].cluster];
    host.threads = structure.hosts[number].threads;
    host.computation_nanos = median_of(medians[number]);
    host.base_nanos = median_of(bases[number]);
    host.missing_rounds = figures_.incomplete_rounds_of(number);
    if (!medians[number].empty()) by_cluster[structure.hosts[number].cluster].push_back(number);
  }
  for (const auto& [cluster, hosts] : by_cluster)
    for (const std::uint32_t number : hosts) compare_with_others(report.hosts, hosts, number);
}

void Computation::compare_with_others(std::vector<HostReport>& all,
                                      const std::vector<std::uint32_t>& hosts,
                                      std::uint32_t number) {
  std::vector<std::int64_t> medians;
  std::vector<std::int64_t> bases;
  for (const std::uint32_t other : hosts) {
    if (other == number) continue;
    medians.push_back(all[other].computation_nanos);
    bases.push_back(all[other].base_nanos);
  }
  HostReport& host = all[number];
  host.others_nanos = median_of(std::move(medians));
  host.others_base_nanos = median_of(std::move(bases));
  if (host.others_base_nanos > 0)
    host.factor =
        static_cast<double>(host.base_nanos) / static_cast<double>(host.others_base_nanos);
}

}  // namespace eventspace
