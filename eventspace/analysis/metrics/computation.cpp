// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/computation.cpp — computation of threads between operations.
#include "eventspace/analysis/metrics/computation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "eventspace/analysis/metrics/others.hpp"
#include "eventspace/analysis/metrics/period.hpp"

namespace eventspace {
namespace {

std::int64_t median_of(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

constexpr std::uint32_t in_micros = 1u << 31;

/// Maximum plausible duration of a computation: half a year. Longer computations come from damaged
/// records.
constexpr std::int64_t computation_max = std::int64_t{1} << 54;

std::int64_t least_noise(std::int64_t base, std::int64_t spread) {
  return static_cast<std::int64_t>(
      std::max({outlier_share * static_cast<double>(base), static_cast<double>(outlier_nanos),
                outlier_spreads * static_cast<double>(spread)}));
}

/// Whether noise events are rarer than computations. In that case a period of rare events predicts
/// the late computations clearly better than any period of frequent events.
bool is_rare(const std::vector<Computed>& computed, const FrequentNoise& frequent) {
  constexpr double least_agreement = 0.9;
  constexpr double clearly = 0.1;
  const auto period = find_period(computed);
  return period && period->agreement >= least_agreement &&
         period->agreement > agreement_of_frequent_noise(computed, frequent) + clearly;
}

/// Returns the mean time from the begin of a computation to the begin of the next one at the same
/// place. Noise and waits are included, because noise events continue during them.
template <typename Kept>
double iteration_of(const std::vector<Kept>& kept) {
  if (kept.size() < 2) return 0;
  const auto [first, last] = std::minmax_element(
      kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.begin() < b.begin(); });
  return static_cast<double>(last->begin() - first->begin()) / static_cast<double>(kept.size() - 1);
}

/// Returns the computations of a place that are still in memory. After a very long run, these are
/// only the last ones.
template <typename Kept>
std::vector<Computed> computed_of(const std::vector<Kept>& all, std::int64_t base,
                                  std::int64_t outlier) {
  std::vector<Computed> computed;
  computed.reserve(all.size());
  for (const Kept& kept : all) {
    const bool is_late = kept.nanos() > outlier;
    computed.push_back({kept.begin(), is_late ? base : kept.nanos(), is_late});
  }
  std::sort(computed.begin(), computed.end(),
            [](const Computed& a, const Computed& b) { return a.begin_nanos < b.begin_nanos; });
  return computed;
}

}  // namespace

/// Stores durations below 2^31 ns (about two seconds) in nanoseconds, and longer ones in
/// microseconds.
Computation::Kept::Kept(std::int64_t begin, std::int64_t nanos, std::uint64_t sequence)
    : begin_(begin), sequence_(static_cast<std::uint32_t>(sequence)) {
  if (nanos < in_micros) {
    span_ = static_cast<std::uint32_t>(nanos);
  } else {
    span_ =
        in_micros | static_cast<std::uint32_t>(std::min<std::int64_t>(nanos / 1000, in_micros - 1));
  }
}

std::int64_t Computation::Kept::nanos() const {
  if ((span_ & in_micros) == 0) return span_;
  return static_cast<std::int64_t>(span_ & ~in_micros) * 1000;
}

Computation::Computation(const Shape& shape, const Figures& figures, std::size_t kept_max,
                         std::size_t exact_max)
    : shape_(shape),
      figures_(figures),
      kept_max_(kept_max),
      leaves_(shape.leaves.size()),
      exact_max_(exact_max),
      graphs_(shape.graphs.size()) {
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
  const bool is_start = operation.kind == number_of_kind(EventKind::start);
  const bool is_wait = operation.kind == number_of_kind(EventKind::wait);
  const bool is_move = operation.kind == move_operation;
  if (is_move && leaf.started.erase(operation.sequence) > 0) return -1;
  if (is_start) leaf.started.insert(operation.sequence);
  // If records of operations in between are missing, the time since the previous record is not one
  // computation.
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
  // Operations through joins that are no moves belong to no round. The computation before such an
  // operation cannot make a round late, so it is not kept.
  if (!is_move && !is_start && !is_wait &&
      shape_.trees[shape_.probes[shape_.leaves[number].probe].tree].has_joins())
    return nanos;
  const Kept kept(begin, nanos, operation.sequence);
  if (last == At{}) {
    thread.before_first = First{here, kept};
  } else {
    const std::uint32_t place = place_between(last, here);
    keep(place, kept);
    // The kept computation before the thread's first operation is counted at the first place that
    // is followed by the same operation. That is this place.
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
/// places. If a trace shows more than `places_max`, further ones count as the last one.
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
  } else if (record.kind == number_of_kind(EventKind::start)) {
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
  const Kept kept(life.down_nanos, nanos, thread.first_sequence);
  const At first = std::exchange(thread.first, At{});
  const auto& places = leaves_[first.leaf].places;
  const auto same = std::find_if(places.begin(), places.end(), [&](std::uint32_t place) {
    return places_[place].before == first;
  });
  keep(same == places.end() ? place_between(At{}, first) : *same, kept);
}

void Computation::keep(std::uint32_t place, const Kept& kept) {
  if (kept_ >= kept_max_) judge(false);
  PlaceState& state = places_[place];
  state.all.add(kept.nanos());
  state.blocks.add(kept.nanos());
  state.begins.add(kept.begin());
  if (kept.nanos() > state.longest_nanos) {
    state.longest_nanos = kept.nanos();
    state.longest_begin_nanos = kept.begin();
  }
  state.kept.push_back(kept);
  ++kept_;
}

void Computation::finish() {
  for (ThreadState& thread : threads_)
    if (thread.before_first)
      keep(place_between(At{}, thread.before_first->at), thread.before_first->kept);
  judge(true);
}

/// Returns the usual values for each place. The median is taken from the other threads of the same
/// host, if there are any, because all threads of a slow host are slow.
std::vector<Computation::Usual> Computation::usual() const {
  const std::size_t groups = groups_.size();
  std::vector<std::vector<std::int64_t>> medians(groups);
  std::vector<std::vector<std::int64_t>> spreads(groups);
  std::vector<std::vector<std::int64_t>> far_spreads(groups);
  // Medians of threads, keyed by group and host.
  std::map<std::pair<std::size_t, std::uint32_t>, Others> of_hosts;
  std::vector<std::int64_t> own(places_.size(), 0);
  for (std::uint32_t number = 0; number < places_.size(); ++number) {
    const PlaceState& place = places_[number];
    if (place.all.count() == 0) continue;
    own[number] = place.all.quantile(0.5);
    medians[place.group].push_back(own[number]);
    spreads[place.group].push_back(own[number] - place.all.quantile(0.1));
    far_spreads[place.group].push_back(own[number] - place.all.quantile(0.01));
    of_hosts[{place.group, host_of(place.before.leaf)}].add(own[number]);
  }
  for (auto& [host, threads] : of_hosts) threads.sort();
  std::vector<Usual> of_groups(groups);
  for (std::size_t group = 0; group < groups; ++group)
    of_groups[group] = {median_of(medians[group]), median_of(spreads[group]),
                        median_of(far_spreads[group])};
  std::vector<Usual> usual(places_.size());
  for (std::uint32_t number = 0; number < places_.size(); ++number) {
    const PlaceState& place = places_[number];
    if (place.all.count() == 0) continue;
    usual[number] = of_groups[place.group];
    const auto mates =
        of_hosts.at({place.group, host_of(place.before.leaf)}).median_without(own[number]);
    if (mates > 0) usual[number].median = mates;
  }
  return usual;
}

/// Finds the base of a thread's computations, and the bound above which a computation is an
/// outlier. If most computations contain noise, the noise changes the median, but not the 1st
/// percentile. The search therefore starts at the 1st percentile, plus the spread that is usual in
/// the cluster. Then it computes base and bound from each other until both no longer change.
Computation::Bounds Computation::bounds_of(const PlaceState& place, const Usual& like) {
  const Distribution& all = place.all;
  const std::int64_t median = all.quantile(0.5);
  Bounds bounds;
  bounds.mean = all.mean();
  if (all.count() < base_computations) {
    bounds.base = median;
    bounds.outlier = std::numeric_limits<std::int64_t>::max();
    return bounds;
  }
  bounds.base = std::min(median, all.quantile(0.01) + like.far_spread);
  std::int64_t spread = std::min(median - all.quantile(0.1), like.spread);
  double share = 0;
  for (int round = 0; round < 10; ++round) {
    bounds.outlier = bounds.base + least_noise(bounds.base, spread);
    const double below =
        static_cast<double>(all.count_at_most(bounds.outlier)) / static_cast<double>(all.count());
    if (below == share || below == 0) break;
    share = below;
    bounds.base = all.quantile(0.5 * share);
    spread = bounds.base - all.quantile(0.1 * share);
  }
  return bounds;
}

/// Corrects the bounds of a thread if all its computations contain noise. If noise events are more
/// frequent than computations, each computation contains n or n + 1 events. The difference between
/// these two kinds of computations is the duration of one event. The thread is then slower than
/// other threads by n events. A thread with rarer noise may be slower by the same time for another
/// reason. Only the period of the noise distinguishes these two cases (is_rare()).
void Computation::find_noise_in_all(PlaceState& place, const Usual& like, Bounds& bounds) {
  const Distribution& all = place.all;
  const double below =
      static_cast<double>(all.count_at_most(bounds.outlier)) / static_cast<double>(all.count());
  if (1 - below < noise_in_all_share) return;
  const std::int64_t noise = all.quantile((1 + below) / 2) - bounds.base;
  const std::int64_t more = bounds.base - like.median;
  if (!noise_explains(more, noise)) return;
  const std::int64_t times = (more + noise / 2) / noise;
  place.is_noise_rare =
      is_rare(computed_of(place.kept, bounds.base, bounds.outlier),
              {.computation_nanos = static_cast<double>(bounds.base - times * noise),
               .nanos = static_cast<double>(noise),
               .least_ticks = static_cast<double>(times)});
  if (place.is_noise_rare) return;
  place.is_noise_in_all = true;
  bounds.base -= times * noise;
  bounds.outlier = bounds.base + noise / 2;
}

void Computation::judge(bool all) {
  const std::vector<Usual> like = usual();
  for (std::uint32_t number = 0; number < places_.size(); ++number) {
    PlaceState& place = places_[number];
    if (place.kept.empty()) continue;
    Bounds bounds = bounds_of(place, like[number]);
    find_noise_in_all(place, like[number], bounds);
    place.base = bounds.base;
    place.outlier = bounds.outlier;
    const std::size_t count = all ? place.kept.size() : (place.kept.size() + 1) / 2;
    for (std::size_t one = 0; one < count; ++one) judge_one(place, place.kept[one], bounds);
    kept_ -= count;
    if (all && place.noise.count() >= period_outliers) {
      if (const auto period = find_period(computed_of(place.kept, bounds.base, bounds.outlier))) {
        place.period_nanos = period->nanos;
        place.period_agreement = period->agreement;
        place.iteration = iteration_of(place.kept);
        place.spectrum = period->spectrum;
      }
    }
    if (!all) judged_early_ += count;
    place.kept.erase(place.kept.begin(), place.kept.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

void Computation::judge_one(PlaceState& place, const Kept& kept, const Bounds& bounds) {
  const std::uint32_t number = place.before.leaf;
  const Probe& probe = shape_.probes[shape_.leaves[number].probe];
  const Tree& tree = shape_.trees[probe.tree];
  GraphState& graph = graphs_[tree.graph];
  LeafState& leaf = leaves_[number];
  const std::int64_t nanos = kept.nanos();
  const bool is_outlier = nanos > bounds.outlier;
  place.quiet.add(is_outlier ? bounds.base : nanos);
  place.disturbance.add(is_outlier ? nanos - bounds.base : 0);
  Iteration* iteration = nullptr;
  if (tree.has_joins()) {
    iteration = &graph.iterations.at(kept.sequence());
    iteration->is_seen = true;
    const double late = static_cast<double>(nanos) - bounds.mean;
    const auto over =
        std::count_if(lateness_bounds_nanos.begin(), lateness_bounds_nanos.end(),
                      [late](std::int64_t bound) { return late > static_cast<double>(bound); });
    iteration->lateness = std::max(iteration->lateness, static_cast<std::uint8_t>(over));
  }
  if (!is_outlier) return;
  const std::int64_t noise = nanos - bounds.base;
  place.noise.add(noise);
  if (iteration == nullptr) return;
  iteration->greatest_noise = std::max(iteration->greatest_noise, static_cast<float>(noise));
  const RoundNote* note = figures_.note(probe.tree, kept.sequence());
  if (note == nullptr || note->critical_leaf == none) return;
  add_to(graph.noise, noise);
  if (note->critical_leaf != number) return;
  add_to(place.critical_noise, noise);
  if (leaf.lead_of != note->complete) leaf.lead_used = 0;
  leaf.lead_of = note->complete;
  const std::int64_t effective = std::min(noise, note->lead_nanos - leaf.lead_used);
  leaf.lead_used += effective;
  add_to(graph.effective, effective);
  graph.lost += static_cast<double>(effective) * static_cast<double>(tree.leaves.size());
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
    return nanos > place.outlier ? nanos - place.base : 0;
  }
  return 0;
}

std::uint32_t Computation::main_place_of(std::uint32_t leaf) const {
  std::uint32_t main = none;
  for (const std::uint32_t place : leaves_[leaf].places)
    if (places_[place].all.count() > 0 &&
        (main == none || places_[place].all.sum() > places_[main].all.sum()))
      main = place;
  return main;
}

namespace {

/// Removes the spectra of the noise from the reports of all threads except the noisiest. A spectrum
/// needs as much space as all other figures of a thread together.
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
      if (places_[place].all.count() == 0) continue;
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
  report_lateness(report, conditional);
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
  thread.computation = state.all.summary();
  thread.computation_bins = state.all.bins();
  thread.longest_begin_nanos = state.longest_begin_nanos;
  thread.blocks = state.blocks.rows();
  thread.block_begins = state.begins.rows();
  thread.quiet_blocks = state.quiet.rows();
  thread.noise_blocks = state.disturbance.rows();
  thread.is_noise_in_all = state.is_noise_in_all;
  thread.is_main_place = place == main_place_of(number);
  thread.base_nanos = state.base;
  thread.outlier_nanos = state.outlier;
  thread.outliers = state.noise.count();
  thread.noise_nanos = state.noise.sum();
  thread.noise_median_nanos = state.noise.quantile(0.5);
  if (state.all.sum() > 0)
    thread.noise_share =
        static_cast<double>(state.noise.sum()) / static_cast<double>(state.all.sum());
  thread.is_noise_rare = state.is_noise_rare;
  thread.period_nanos = state.period_nanos;
  thread.spectrum = state.spectrum;
  thread.period_agreement = state.period_agreement;
  if (state.period_nanos && state.iteration > 0) {
    thread.iterations_per_period = *state.period_nanos / state.iteration;
    const double whole = std::round(thread.iterations_per_period);
    thread.resonates = whole >= 1 && whole <= resonance_iterations &&
                       std::abs(thread.iterations_per_period - whole) <= resonance_share;
  }
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
    medians[host].push_back(places_[place].all.quantile(0.5));
    bases[host].push_back(places_[place].base);
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

void Computation::report_lateness(Report& report, const Conditional& conditional) const {
  for (std::uint32_t graph = 0; graph < graphs_.size(); ++graph) {
    const GraphState& state = graphs_[graph];
    LatenessReport lateness;
    lateness.graph = shape_.graphs[graph];
    state.iterations.for_each([&](std::uint64_t, const Iteration& iteration) {
      lateness.iterations += iteration.is_seen;
      for (std::size_t bound = 0; bound < iteration.lateness; ++bound) ++lateness.over[bound];
    });
    if (lateness.iterations == 0) continue;
    lateness.noise_nanos = state.noise;
    lateness.effective_noise_nanos = state.effective;
    lateness.absorbed_noise_nanos = state.noise - state.effective;
    const double waited = state.lost - static_cast<double>(state.effective);
    lateness.waited_for_noise_nanos = static_cast<std::int64_t>(std::min(waited, 9e18));
    if (state.noise > 0)
      lateness.noise_amplification = state.lost / static_cast<double>(state.noise);
    for (std::uint32_t tree = 0; tree < shape_.trees.size(); ++tree)
      if (shape_.trees[tree].graph == graph) add_wan(tree, conditional, lateness);
    report.lateness.push_back(lateness);
  }
}

void Computation::add_wan(std::uint32_t tree, const Conditional& conditional,
                          LatenessReport& lateness) const {
  const GraphState& state = graphs_[shape_.trees[tree].graph];
  const auto add = [&](std::uint64_t sequence, std::int64_t nanos, std::int64_t& sum,
                       std::int64_t& hideable) {
    add_to(sum, nanos);
    const Iteration* iteration = state.iterations.find(sequence);
    const auto noise =
        iteration == nullptr ? 0 : static_cast<std::int64_t>(iteration->greatest_noise);
    add_to(hideable, std::clamp<std::int64_t>(nanos, 0, noise));
  };
  figures_.for_each_note(tree, [&](std::uint64_t sequence, const RoundNote& note) {
    if (note.critical_leaf != none)
      add(sequence, note.wan_nanos, lateness.critical_wan_two_way_nanos,
          lateness.hideable_wan_nanos);
  });
  conditional.for_each_wan_wait(tree, figures_, [&](std::uint64_t sequence, std::int64_t nanos) {
    add(sequence, nanos, lateness.check_wan_one_way_nanos, lateness.hideable_check_wan_nanos);
  });
}

}  // namespace eventspace
