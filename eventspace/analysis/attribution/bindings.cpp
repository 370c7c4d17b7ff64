// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/bindings.cpp — the moment for which each moment of a run waited.
#include "eventspace/analysis/attribution/bindings.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace eventspace {
/// Chooses the binding moment: the latest of the moments that must precede a given moment.
class Bindings::Best {
 public:
  Best(const Moments& all, Moment of, std::vector<Moment>* considered)
      : all_(all),
        considered_(considered),
        thread_(all.thread_of(of)),
        host_(all.host_of(of)),
        until_nanos_(all.time_of(of)) {}

  void add(Moment before, std::uint32_t label, std::uint64_t bytes = 0) {
    if (!before) return;
    const std::uint32_t host = all_.host_of(before);
    if (host != host_ && !all_.has_common_clock()) {
      hidden_host_ = host;
      return;
    }
    if (considered_ != nullptr) considered_->push_back(before);
    const std::int64_t nanos = std::min(all_.time_of(before), until_nanos_);
    const int closeness = thread_ != none && all_.thread_of(before) == thread_ ? 2
                          : host == host_                                      ? 1
                                                                               : 0;
    if (best_.before && (nanos < nanos_ || (nanos == nanos_ && closeness <= closeness_))) return;
    best_ = {before, label};
    bytes_ = bytes;
    nanos_ = nanos;
    closeness_ = closeness;
  }
  /// Returns a host whose moments were left out because its clock cannot be compared, or none.
  std::uint32_t hidden_host() const { return hidden_host_; }
  std::int64_t until_nanos() const { return until_nanos_; }
  std::int64_t nanos() const { return nanos_; }
  std::uint64_t bytes() const { return bytes_; }
  Binding& binding() { return best_; }

 private:
  const Moments& all_;
  std::vector<Moment>* considered_;
  std::uint32_t thread_;
  std::uint32_t host_;
  std::int64_t until_nanos_;
  Binding best_;
  std::uint64_t bytes_ = 0;
  std::int64_t nanos_ = 0;
  int closeness_ = -1;
  std::uint32_t hidden_host_ = none;
};

Moment Bindings::before_in_thread(std::uint32_t thread, std::uint32_t order, bool is_end) const {
  const ThreadState& state = all_.threads_[thread];
  const std::uint32_t place = is_end ? state.place_of_end[order] : state.place_of_begin[order];
  if (place == 0) return {Moment::Kind::thread_begin, thread};
  return state.moments[place - 1].moment;
}

Moment Bindings::latest_store(std::uint32_t element, std::int64_t until_nanos) const {
  return element == none ? Moment{} : latest(all_.stores_[element], until_nanos);
}

/// Returns the latest of `moments` that is not after `until_nanos`; an empty Moment if there is
/// none.
/// Requires: `moments` are sorted by time.
template <typename Timed>
Moment Bindings::latest(const std::vector<Timed>& moments, std::int64_t until_nanos) {
  const auto after = std::upper_bound(
      moments.begin(), moments.end(), until_nanos,
      [](std::int64_t nanos, const TimedMoment& one) { return nanos < one.time_nanos; });
  return after == moments.begin() ? Moment{} : std::prev(after)->moment;
}

/// Returns the first pass of the operation to which `pass` belongs. It is the pass at which the
/// operation entered its path, or the first pass below a join.
std::uint32_t Bindings::first_pass_of(std::uint32_t pass) const {
  const KeptRound& round = all_.rounds_[all_.passes_[pass].round];
  const Probe* probe = &all_.probe_of(pass);
  while (probe->above != none) probe = &all_.shape_.probes[probe->above];
  return round.first_pass + probe->place;
}

/// Returns the latest of `moments` that is not after `until_nanos`, as latest() does. Leaves out
/// moments of the operation at `pass` and of later operations of the same thread. The operation
/// cannot wait for its own moments, or for those of later operations.
template <typename Timed>
Moment Bindings::latest_of_others(const std::vector<Timed>& moments, std::uint32_t pass,
                                  std::int64_t until_nanos) const {
  const auto leaf_of = [&](std::uint32_t number) -> const Leaf* {
    const Probe& probe = all_.probe_of(number);
    return probe.leaf == none ? nullptr : &all_.shape_.leaves[probe.leaf];
  };
  const std::uint32_t own = first_pass_of(pass);
  const Leaf* const leaf = leaf_of(own);
  const std::uint32_t thread = leaf == nullptr ? none : leaf->thread;
  auto at = std::upper_bound(
      moments.begin(), moments.end(), until_nanos,
      [](std::int64_t nanos, const TimedMoment& one) { return nanos < one.time_nanos; });
  while (at != moments.begin()) {
    --at;
    const std::uint32_t first = first_pass_of(at->moment.number);
    const Leaf* const other = leaf_of(first);
    const bool is_own_later = thread != none && other != nullptr && other->thread == thread &&
                              all_.passes_[first].order >= all_.passes_[own].order;
    if (!is_own_later) return at->moment;
  }
  return {};
}

/// Returns how long a message waited behind earlier messages before it entered an emulated link.
/// The record of the link shows this time. The message reached the link at or after `from_nanos`,
/// and left it at or before `until_nanos`.
std::int64_t Bindings::queued_at(std::uint32_t stage, std::int64_t from_nanos,
                                 std::int64_t until_nanos) const {
  const auto found = all_.passages_.find(stage);
  if (found == all_.passages_.end()) return 0;
  const auto after = std::upper_bound(
      found->second.begin(), found->second.end(), until_nanos,
      [](std::int64_t nanos, const LinkPassage& one) { return nanos < one.up_nanos; });
  for (auto at = after; at != found->second.begin();) {
    --at;
    if (at->up_nanos < from_nanos) break;
    if (at->down_nanos >= from_nanos) return at->queued_nanos;
  }
  return 0;
}

Binding Bindings::binding_of(Moment moment, std::vector<Moment>* considered) const {
  Best best(all_, moment, considered);
  switch (moment.kind) {
    case Moment::Kind::down: bind_down(moment.number, best); break;
    case Moment::Kind::up: bind_up(moment.number, best); break;
    case Moment::Kind::node: bind_node(moment.number, best); break;
    case Moment::Kind::thread_end: {
      const ThreadState& thread = all_.threads_[moment.number];
      const Moment last = latest(thread.moments, best.until_nanos());
      best.add(last ? last : Moment{Moment::Kind::thread_begin, moment.number},
               all_.labels_.computing_of(moment.number));
      break;
    }
    case Moment::Kind::thread_begin:
      best.binding().label =
          all_.labels_.unknown_of(all_.host_of(moment), UnknownReason::thread_not_begun);
      break;
    case Moment::Kind::nothing: break;
  }
  Binding binding = best.binding();
  if (!binding.before) return binding;
  const TimeLabel& label = all_.labels_.at(binding.label);
  const std::int64_t nanos = best.until_nanos() - best.nanos();
  if (label.cause == TimeCause::computing && moment.kind != Moment::Kind::thread_end) {
    binding.noise_nanos = noise_before(label.one, all_.order_of(moment), nanos);
  } else if (label.cause == TimeCause::link_latency) {
    binding.queued_nanos = std::min(binding.queued_nanos, nanos);
    const double needed = std::ceil(static_cast<double>(best.bytes()) * label.nanos_per_byte);
    binding.transmitted_nanos = static_cast<std::int64_t>(
        std::min(needed, static_cast<double>(nanos - binding.queued_nanos)));
  }
  return binding;
}

/// Returns the noise in the computation before the operation with index `order` of a thread. The
/// result is at least 0 and at most `nanos`, the length of the computation.
std::int64_t Bindings::noise_before(std::uint32_t thread, std::uint32_t order,
                                    std::int64_t nanos) const {
  const auto& operations = all_.threads_[thread].operations;
  const ThreadOperation first;
  const std::int64_t noise =
      noise_between_(order == 0 ? first : operations[order - 1], operations[order], nanos);
  return std::clamp<std::int64_t>(noise, 0, nanos);
}

void Bindings::bind_down(std::uint32_t pass, Best& best) const {
  const KeptPass& here = all_.passes_[pass];
  const KeptRound& round = all_.rounds_[here.round];
  const Probe& probe = all_.probe_of(pass);
  const std::uint32_t host = all_.shape_.structure.host_of(probe.stage);
  std::uint32_t missing = all_.labels_.unknown_of(host, UnknownReason::missing_records);
  const HopLabels* above = nullptr;
  if (probe.leaf != none) {
    const std::uint32_t thread = all_.shape_.leaves[probe.leaf].thread;
    if (thread == none) {
      add_start_of_driver(pass, probe, best);
      missing = all_.hop_labels_[probe.hop].runtime;
    } else if (here.is_started) {
      best.add({Moment::Kind::node, all_.starts_.at(pass)}, all_.labels_.runtime_of(host));
    } else {
      best.add(before_in_thread(thread, here.order, false),
               all_.threads_[thread].operations[here.order].label_before);
    }
  } else if (probe.above != none) {
    above = &all_.hop_labels_[all_.shape_.probes[probe.above].hop];
    if (all_.pass_at(round, probe.above) != nullptr)
      best.add({Moment::Kind::down, all_.pass_number(round, probe.above)}, above->down,
               is_read_operation(round.kind) ? 0 : here.bytes);
    if (above->is_schedule && all_.pass_at(round, probe.above) != nullptr)
      add_end_of_schedule(round, *all_.pass_at(round, probe.above), host, best);
  } else if (probe.join_above != none) {
    const Join& join = all_.shape_.joins[probe.join_above];
    if (!join.contributors.empty())
      add_contributors(round, join,
                       all_.hop_labels_[all_.shape_.probes[join.contributors[0]].hop].down, best);
  } else {
    missing = all_.hop_labels_[probe.hop].runtime;
  }
  Binding& binding = best.binding();
  if (!binding.before)
    binding.label =
        best.hidden_host() == none
            ? missing
            : all_.labels_.unknown_of(best.hidden_host(), UnknownReason::clocks_not_compared);
  if (above != nullptr && binding.before && above->link_down != none)
    binding.queued_nanos = queued_at(above->link_down, best.nanos(), here.down_nanos);
}

/// Adds to `best` the end of the group operation by which a `schedule` wrapper carried out this
/// operation of a declared collective.
void Bindings::add_end_of_schedule(const KeptRound& round, const KeptPass& call, std::uint32_t host,
                                   Best& best) const {
  const std::string& collective = all_.shape_.graphs[all_.shape_.trees[round.tree].graph];
  const auto found = all_.share_ends_.find({host, collective});
  if (found == all_.share_ends_.end()) return;
  const Moment end = latest(found->second, best.until_nanos());
  if (end && all_.time_of(end) > call.down_nanos) best.add(end, all_.labels_.runtime_of(host));
}

/// Returns the end of the operation that the driver (a wrapper that begins a path) did before its
/// operation at `pass`. A driver does one operation after another.
Moment Bindings::operation_of_driver_before(std::uint32_t leaf, std::uint32_t pass) const {
  const auto& ends = all_.drivers_.at(leaf).ends;
  auto at = std::upper_bound(
      ends.begin(), ends.end(), all_.passes_[pass].down_nanos,
      [](std::int64_t nanos, const TimedMoment& end) { return nanos < end.time_nanos; });
  while (at != ends.begin()) {
    --at;
    if (at->moment.number != pass) return at->moment;
  }
  return {};
}

/// Returns the moment at which an element received the tuple for which a read waited.
Moment Bindings::store_that_was_read(std::uint32_t element, std::uint32_t pass) const {
  const auto& stores = all_.stores_[element];
  const KeptPass& read = all_.passes_[pass];
  if ((read.flags & event_numbered) == 0) return latest_of_others(stores, pass, read.up_nanos);
  std::uint64_t number = all_.rounds_[read.round].sequence;
  // A prefetch accepts any tuple after the tuple that it read last. It therefore waited for the
  // next tuple after that.
  const std::uint32_t first = first_pass_of(pass);
  const std::uint32_t leaf = all_.probe_of(first).leaf;
  if (leaf != none && all_.shape_.leaves[leaf].thread == none) {
    const Moment before = operation_of_driver_before(leaf, first);
    const bool has_number = before && (all_.passes_[before.number].flags & event_numbered) != 0;
    const std::uint64_t next =
        has_number ? all_.rounds_[all_.passes_[before.number].round].sequence + 1 : 0;
    number = std::min(number, next);
  }
  if (number >= stores.size() || stores[number].time_nanos > read.up_nanos)
    return latest_of_others(stores, pass, read.up_nanos);
  return stores[number].moment;
}

/// Returns the first moment at which a cache received a cluster's value of `round` or of a later
/// round. If no record shows this, returns the latest store before `until_nanos`.
Moment Bindings::value_of_round(std::uint32_t cache, std::uint64_t round,
                                std::int64_t until_nanos) const {
  if (cache == none) return {};
  const auto& stores = all_.stores_[cache];
  const auto first = std::lower_bound(
      stores.begin(), stores.end(), round,
      [](const StoredTuple& one, std::uint64_t wanted) { return one.round < wanted; });
  if (first == stores.end() || first->round == unknown_round || first->time_nanos > until_nanos)
    return latest(stores, until_nanos);
  return first->moment;
}

void Bindings::add_start_of_driver(std::uint32_t pass, const Probe& probe, Best& best) const {
  const Driver& driver = all_.drivers_.at(probe.leaf);
  const std::uint32_t label = all_.hop_labels_[probe.hop].runtime;
  const std::int64_t until = all_.passes_[pass].down_nanos;
  best.add(operation_of_driver_before(probe.leaf, pass), label);
  best.add(latest_store(driver.sends, until), label);
  best.add(latest_store(driver.asks, until), label);
  // A push that began after all of these, and after all threads of its host had ended, sent its
  // newest tuple because the host stopped.
  std::int64_t stop_nanos = best.nanos();
  for (const Moment end : driver.stops) stop_nanos = std::max(stop_nanos, all_.time_of(end));
  if (stop_nanos == best.nanos() || stop_nanos > until) return;
  for (const Moment end : driver.stops) best.add(end, label);
}

void Bindings::add_contributors(const KeptRound& round, const Join& join, std::uint32_t label,
                                Best& best) const {
  for (const std::uint32_t probe : join.contributors) {
    const KeptPass* pass = all_.pass_at(round, probe);
    if (pass != nullptr && pass->down_nanos <= best.until_nanos())
      best.add({Moment::Kind::down, all_.pass_number(round, probe)}, label);
  }
}

void Bindings::bind_up(std::uint32_t pass, Best& best) const {
  const KeptPass& here = all_.passes_[pass];
  const KeptRound& round = all_.rounds_[here.round];
  const Probe& probe = all_.probe_of(pass);
  const HopLabels& labels = all_.hop_labels_[probe.hop];
  const bool is_one_way = (here.flags & event_one_way) != 0;
  // The records may show that the result passed the collector below before the operation arrived at
  // this collector. Even then, the time counts for the link or network below.
  const bool has_way_up =
      !is_one_way && probe.join == none && all_.pass_at(round, probe.below) != nullptr;
  best.add({Moment::Kind::down, pass}, has_way_up ? labels.up : labels.runtime,
           bytes_up(round, here));
  const std::uint32_t thread = all_.thread_of({Moment::Kind::up, pass});
  if (thread != none) best.add(before_in_thread(thread, here.order, true), labels.runtime);
  if (!is_one_way) add_below(pass, best);
  Binding& binding = best.binding();
  if (best.hidden_host() != none)
    binding.label = all_.labels_.unknown_of(best.hidden_host(), UnknownReason::clocks_not_compared);
  else if (binding.label == labels.up && labels.link_up != none)
    binding.queued_nanos = queued_at(labels.link_up, best.nanos(), here.up_nanos);
}

/// Returns the number of bytes of an operation's result. A move has a result only if it goes
/// through a join.
std::uint32_t Bindings::bytes_up(const KeptRound& round, const KeptPass& pass) const {
  const bool has_result =
      is_read_operation(round.kind) || all_.shape_.trees[round.tree].has_joins();
  return has_result ? pass.bytes : 0;
}

/// Adds to `best` the moments below a collector for which a result waited before it could pass up.
void Bindings::add_below(std::uint32_t number, Best& best) const {
  const KeptPass& pass = all_.passes_[number];
  const KeptRound& round = all_.rounds_[pass.round];
  const Probe& probe = all_.probe_of(number);
  const HopLabels& labels = all_.hop_labels_[probe.hop];
  if (labels.check != none) add_values_of_check(round, labels, best);
  if (labels.lag > 0 && labels.check == none) return add_earlier_round(round, probe, best);
  const KeptPass* below = all_.pass_at(round, probe.below);
  if (below != nullptr) {
    // Some contributors of a join return before the join's result is known. Such a contributor did
    // not wait for the result, so the result is no binding moment for it.
    if (probe.join == none || below->up_nanos <= pass.up_nanos)
      best.add({Moment::Kind::up, all_.pass_number(round, probe.below)},
               probe.join == none ? labels.up : labels.runtime, bytes_up(round, pass));
    return;
  }
  if (probe.below != none) return;
  if (probe.join != none) {
    const auto all_arrived = all_.all_arrived_.find(pass.round);
    if (all_arrived == all_.all_arrived_.end()) return;
    const Moment node{Moment::Kind::node, all_arrived->second};
    if (all_.time_of(node) <= pass.up_nanos) best.add(node, labels.runtime);
    return;
  }
  const std::uint32_t element =
      all_.element_of_probe_[all_.shape_.trees[round.tree].probes[probe.place]];
  if (element == none) return;
  if (is_read_operation(round.kind)) best.add(store_that_was_read(element, number), labels.runtime);
  // A move into a full element waits until another operation observes or discards a tuple. The end
  // of that operation is therefore a candidate.
  if (round.kind == move_operation)
    best.add(latest_of_others(all_.rooms_[element], number, pass.up_nanos), labels.runtime);
}

void Bindings::add_values_of_check(const KeptRound& round, const HopLabels& labels,
                                   Best& best) const {
  if (round.sequence < labels.lag) return;
  const std::uint64_t decided = round.sequence - labels.lag;
  const auto reads = all_.cache_reads_.find({labels.check, decided});
  const auto caches = all_.caches_.find(labels.check);
  if (reads == all_.cache_reads_.end() || caches == all_.caches_.end()) return;
  for (const CacheRead& read : reads->second)
    if (read.slot < caches->second.size() && read.up_nanos <= best.until_nanos())
      best.add(value_of_round(caches->second[read.slot], decided, read.up_nanos), labels.runtime);
  // If the check read fewer values than it combines, another cluster may have sent the result of
  // the round together with a later value. In that case, the check waited for the latest value.
  if (reads->second.size() + 1 >= caches->second.size()) return;
  Moment adopted;
  for (const std::uint32_t cache : caches->second) {
    const Moment store = latest_store(cache, best.until_nanos());
    if (store && all_.time_of(store) > best.nanos() &&
        (!adopted || all_.time_of(store) > all_.time_of(adopted)))
      adopted = store;
  }
  best.add(adopted, labels.runtime);
}

/// Adds to `best` the end of the earlier round whose result a `lagged` wrapper returned.
void Bindings::add_earlier_round(const KeptRound& round, const Probe& probe, Best& best) const {
  const HopLabels& labels = all_.hop_labels_[probe.hop];
  if (round.sequence < labels.lag) return;  // the operation returned immediately
  const auto earlier = all_.lagged_rounds_.find({round.tree, round.sequence - labels.lag});
  if (earlier == all_.lagged_rounds_.end()) return;
  const KeptRound& one = all_.rounds_[earlier->second];
  if (all_.pass_at(one, probe.below) != nullptr)
    best.add({Moment::Kind::up, all_.pass_number(one, probe.below)}, labels.up);
}

void Bindings::bind_node(std::uint32_t number, Best& best) const {
  const Node& node = all_.nodes_[number];
  if (node.thread != none)
    best.add(before_in_thread(node.thread, node.order, node.is_end),
             node.is_end ? all_.labels_.runtime_of(node.host)
                         : all_.threads_[node.thread].operations[node.order].label_before);
  for (std::uint32_t place = 0; place < node.befores; ++place) {
    const Before& before = all_.befores_[node.first_before + place];
    best.add(before.moment, before.label);
  }
  Binding& binding = best.binding();
  if (best.hidden_host() != none)
    binding.label = all_.labels_.unknown_of(best.hidden_host(), UnknownReason::clocks_not_compared);
  else if (!binding.before)
    binding.label = all_.labels_.unknown_of(node.host, UnknownReason::missing_records);
}

}  // namespace eventspace
