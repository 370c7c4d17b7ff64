// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/figures.cpp — figures of rounds: latencies, joins and critical paths.
#include "eventspace/analysis/metrics/figures.hpp"

#include <algorithm>
#include <limits>

namespace eventspace {
namespace {

/// Tolerance when durations by the clocks of two hosts are compared. It is the sum of two parts.
/// The duration divided by clocks_differ_part accounts for different rates of the clocks.
/// clocks_differ_nanos accounts for reads of the clocks at different moments.
constexpr std::int64_t clocks_differ_part = 1000;
constexpr std::int64_t clocks_differ_nanos = 1'000'000;

/// Whether an operation's times at a collector enclose the operation's times at the collector
/// below.
bool is_around(const Shape& shape, const Round& round, std::uint32_t number) {
  const Pass& here = round.passes[shape.probes[number].place];
  const Pass* below = pass_of(shape, round, shape.probes[number].below);
  return below == nullptr ||
         (here.down_nanos <= below->down_nanos && below->up_nanos <= here.up_nanos);
}

/// Whether the records of a round contradict each other: an operation took longer at a collector
/// than at the collector above it. Times of two hosts are compared with a tolerance. Times above
/// and below a join are not compared, because some contributors do not wait for the result from
/// below the join.
bool is_contradictory(const Shape& shape, const Round& round) {
  if (round.is_one_way) return false;
  for (const std::uint32_t number : shape.trees[round.tree].probes) {
    const Probe& probe = shape.probes[number];
    const Pass* here = pass_of(shape, round, number);
    const Pass* below = pass_of(shape, round, probe.below);
    if (here == nullptr || below == nullptr || probe.join != none) continue;
    const std::int64_t within = below->up_nanos - below->down_nanos;
    const std::int64_t unsure = clocks_differ_nanos + within / clocks_differ_part;
    const std::uint32_t far = shape.structure.host_of(shape.probes[probe.below].stage);
    if (shape.structure.host_of(probe.stage) != far) {
      if (within > here->up_nanos - here->down_nanos + unsure) return true;
    } else if (!is_around(shape, round, number)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Cause cause_of(const Hop& hop) {
  switch (hop.kind) {
    case HopKind::join: return Cause::join;
    case HopKind::crossing: return Cause::network;
    case HopKind::link: return hop.is_hold ? Cause::broadcast_delay : Cause::link;
    case HopKind::check: return Cause::check;
    case HopKind::internal:
    case HopKind::end: break;
  }
  return Cause::internal;
}

Figures::Figures(const Shape& shape, std::size_t exact_max, bool has_common_clock)
    : shape_(shape),
      hops_(shape.hops.size(), HopFigures(exact_max)),
      tree_of_hop_(shape.hops.size(), 0),
      joins_(shape.joins.size(), JoinFigures(exact_max)),
      paths_(shape.structure.paths.size(), PathFigures(exact_max)),
      trees_(shape.trees.size(), TreeFigures(exact_max)),
      critical_leaves_(shape.leaves.size()),
      missing_(shape.structure.hosts.size(), 0),
      exact_max_(exact_max),
      has_common_clock_(has_common_clock),
      arrivals_(shape) {
  for (const Probe& probe : shape.probes) tree_of_hop_[probe.hop] = probe.tree;
  for (std::size_t join = 0; join < joins_.size(); ++join)
    joins_[join].contributors.assign(shape.joins[join].contributors.size(),
                                     ContributorFigures(exact_max));
}

void Figures::add(const Round& round) {
  TreeFigures& tree = trees_[round.tree];
  if (round.has_failed) {
    ++tree.failed;
    return;
  }
  if (is_contradictory(shape_, round)) {
    ++contradictory_;
    return;
  }
  if (round.is_complete()) {
    ++tree.complete;
  } else if (is_answered_above(shape_, round)) {
    add_answered(round);
    return;
  } else {
    ++tree.incomplete;
    count_missing(round);
  }
  add_hops(round);
  add_paths(round);
  if (round.kind != move_operation && round.is_one_way) return;
  for (const std::uint32_t join : shape_.trees[round.tree].joins) add_join(round, join);
  if (round.is_complete() && shape_.trees[round.tree].has_joins()) add_critical(round);
}

/// Adds a round in which each thread got its reply from a wrapper of the kind `periodic`, so that
/// no thread waited for others. Such a round is added after the next complete round, which is
/// `latest`. The critical thread of `latest` spent time in the added round, which delayed `latest`.
/// This time is therefore added to the critical times of the thread.
void Figures::add_answered(const Round& round) {
  TreeFigures& tree = trees_[round.tree];
  ++tree.answered;
  const std::uint32_t number = tree.latest.critical_leaf;
  if (number == none) return;
  const std::uint32_t probe = shape_.leaves[number].probe;
  const Pass* pass = pass_of(shape_, round, probe);
  if (pass == nullptr) return;
  std::array<std::int64_t, causes> by_cause = {};
  const std::int64_t computed = std::max<std::int64_t>(0, pass->computation_nanos);
  by_cause[static_cast<std::size_t>(Cause::computation)] = computed;
  add_to(critical_leaves_[number].nanos, computed);
  ++critical_leaves_[number].iterations;
  const std::int64_t nanos = pass->up_nanos - pass->down_nanos;
  const Cause cause = cause_of(shape_.hops[shape_.probes[probe].hop]);
  add_to(by_cause[static_cast<std::size_t>(cause)], nanos);
  add_to(hops_[shape_.probes[probe].hop].critical.nanos, nanos);
  for (std::size_t one = 0; one < causes; ++one) add_to(tree.by_cause[one], by_cause[one]);
  if (pass->computation_nanos >= 0) tree.add_iteration(*pass, by_cause);
  tree.notes.at(round.sequence) = tree.latest;
  tree.notes.at(round.sequence).wan_nanos = 0;
}

void Figures::count_missing(const Round& round) {
  std::vector<std::uint32_t> hosts;
  for (const std::uint32_t probe : shape_.trees[round.tree].probes) {
    if (pass_of(shape_, round, probe) == nullptr)
      hosts.push_back(shape_.structure.host_of(shape_.probes[probe].stage));
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  for (const std::uint32_t host : hosts) ++missing_[host];
}

/// Adds the times of a round's hops. A hop is the wrappers between two collectors of a path. Hops
/// of lower collectors are added first, because the hop of a collector needs the network time below
/// the collector.
void Figures::add_hops(const Round& round) {
  const Tree& tree = shape_.trees[round.tree];
  on_the_way_.assign(tree.probes.size(), {});
  for (const std::uint32_t number : tree.probes) {
    const Probe& probe = shape_.probes[number];
    const Pass* here = pass_of(shape_, round, number);
    if (here == nullptr) continue;
    const Hop& hop = shape_.hops[probe.hop];
    const Pass* below = pass_of(shape_, round, probe.below);
    add_hop(round, hop, hops_[probe.hop], *here, below);
    on_the_way_[probe.place] = way_of(probe, hop, *here, below, round.is_one_way);
  }
}

void Figures::add_hop(const Round& round, const Hop& hop, HopFigures& figures, const Pass& here,
                      const Pass* below) {
  const bool is_one_way = round.is_one_way;
  const bool is_move = round.kind == move_operation;
  if (hop.kind == HopKind::crossing) {
    figures.messages += is_one_way ? 1 : 2;
    const bool comes_back = is_move && !is_one_way && hop.is_answered_in_kind;
    figures.payload_bytes += (comes_back ? 2 : 1) * std::uint64_t{here.bytes};
    if (below != nullptr && !is_one_way) {
      const std::int64_t two_way =
          (here.up_nanos - here.down_nanos) - (below->up_nanos - below->down_nanos);
      figures.both.add(two_way);
      figures.travel.add(two_way);
    }
    if (below != nullptr && has_common_clock_) {
      figures.down.add(below->down_nanos - here.down_nanos);
      if (!is_one_way) figures.up.add(here.up_nanos - below->up_nanos);
    }
    return;
  }
  if (hop.kind == HopKind::join) return;
  if (below == nullptr) {
    if (hop.kind == HopKind::end || hop.kind == HopKind::check)
      figures.both.add(here.up_nanos - here.down_nanos);
    return;
  }
  const std::int64_t down = below->down_nanos - here.down_nanos;
  const std::int64_t up = here.up_nanos - below->up_nanos;
  figures.down.add(down);
  if (!is_one_way) figures.up.add(up);
  if (hop.kind == HopKind::link) {
    figures.travel.add(hop.role == 1 ? up : down);
    figures.travel_begins.add(hop.role == 1 ? below->up_nanos : here.down_nanos);
  }
  figures.payload_bytes += here.bytes;
}

/// Returns the network time from a collector down to the end of its path and back. For a push, it
/// contains only the time down: on links and, if there is a common clock, at crossings to other
/// hosts.
Figures::OnTheWay Figures::way_of(const Probe& probe, const Hop& hop, const Pass& here,
                                  const Pass* below, bool is_one_way) const {
  if (below == nullptr) return {};
  OnTheWay way = on_the_way_[shape_.probes[probe.below].place];
  if (hop.kind != HopKind::crossing && (hop.kind != HopKind::link || hop.is_hold)) return way;
  if (is_one_way) {
    if (hop.kind == HopKind::link || has_common_clock_)
      add_to(way.network, below->down_nanos - here.down_nanos);
    return way;
  }
  const std::int64_t nanos =
      (here.up_nanos - here.down_nanos) - (below->up_nanos - below->down_nanos);
  add_to(way.network, nanos);
  if (hop.is_wan) add_to(way.wan, nanos);
  return way;
}

void Figures::add_paths(const Round& round) {
  if (!round.is_complete()) return;
  for (const std::uint32_t number : shape_.trees[round.tree].leaves) {
    const Leaf& leaf = shape_.leaves[number];
    const Probe& probe = shape_.probes[leaf.probe];
    const Pass& pass = round.passes[probe.place];
    PathFigures& path = paths_[leaf.path];
    if (round.is_one_way) {
      path.one_way.add(on_the_way_[probe.place].network);
      continue;
    }
    path.total.add(pass.up_nanos - pass.down_nanos);
    path.network.add(on_the_way_[probe.place].network);
    path.wan.add(on_the_way_[probe.place].wan);
  }
}

void Figures::add_join(const Round& round, std::uint32_t number) {
  const Join& join = shape_.joins[number];
  JoinFigures& figures = joins_[number];
  figures.is_reply_late = false;
  const std::optional<std::int64_t> latest = arrivals_.add(round, number);
  if (!latest) return;
  ++figures.rounds;
  for (std::size_t place = 0; place < join.contributors.size(); ++place) {
    ContributorFigures& from = figures.contributors[place];
    const std::int64_t wait =
        *latest - pass_of(shape_, round, join.contributors[place])->down_nanos;
    from.last += join.contributors[place] == arrivals_.last(number);
    from.wait.add(wait);
    from.waits.add(wait);
  }
  add_through(round, number);
  if (!round.is_one_way) add_departures(round, number);
}

/// Adds the time from the arrival of the leader at a join until the round continued below the join.
/// The leader is the last contributor that arrived before the round continued. In a broadcast,
/// other contributors may arrive later.
void Figures::add_through(const Round& round, std::uint32_t number) {
  const Join& join = shape_.joins[number];
  const Pass* below = pass_of(shape_, round, join.below);
  if (below == nullptr) return;
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
  std::int64_t carrier = never;
  for (const std::uint32_t probe : join.contributors) {
    const std::int64_t down = pass_of(shape_, round, probe)->down_nanos;
    if (down <= below->down_nanos) carrier = std::max(carrier, down);
  }
  if (carrier == never) return;
  joins_[number].through.add(below->down_nanos - carrier);
  if (!round.is_one_way) joins_[number].below.add(below->up_nanos - below->down_nanos);
}

void Figures::add_departures(const Round& round, std::uint32_t number) {
  const Join& join = shape_.joins[number];
  JoinFigures& figures = joins_[number];
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = never;
  std::int64_t last = -never;
  std::int64_t first_local = never;
  std::int64_t last_remote = -never;
  std::size_t latest_reply = 0;
  std::size_t left_first = 0;
  std::size_t left_last = 0;
  for (std::size_t place = 0; place < join.contributors.size(); ++place) {
    const std::int64_t up = pass_of(shape_, round, join.contributors[place])->up_nanos;
    if (up < first) left_first = place;
    if (up > last) left_last = place;
    first = std::min(first, up);
    last = std::max(last, up);
    const bool is_remote = shape_.probes[join.contributors[place]].is_remote;
    if (!is_remote) first_local = std::min(first_local, up);
    if (is_remote && up > last_remote) {
      last_remote = up;
      latest_reply = place;
    }
  }
  const Pass* below = pass_of(shape_, round, join.below);
  const std::int64_t came_up = below != nullptr ? below->up_nanos : first;
  figures.spread.add(last - first);
  figures.spreads.add(last - first);
  if (last > first) {
    ++figures.contributors[left_first].left_first;
    ++figures.contributors[left_last].left_last;
  }
  for (std::size_t place = 0; place < join.contributors.size(); ++place) {
    const std::int64_t up = pass_of(shape_, round, join.contributors[place])->up_nanos;
    figures.contributors[place].departure.add(up - came_up);
  }
  figures.is_reply_late =
      first_local < last_remote && last_remote - came_up >= late_reply_least_nanos;
  figures.lateness.add(figures.is_reply_late ? last_remote - came_up : 0);
  if (!figures.is_reply_late) return;
  ++figures.late_replies;
  add_to(figures.late_reply_nanos, last_remote - came_up);
  ++figures.contributors[latest_reply].latest_reply;
}

/// Adds the critical path of a complete round. If a join replied to the critical contributor before
/// the result came from below, the path ends at that join.
void Figures::add_critical(const Round& round) {
  const std::uint32_t number = arrivals_.critical_leaf(round.tree);
  if (number == none) return;
  TreeFigures& tree = trees_[round.tree];
  const std::uint32_t leaf_probe = shape_.leaves[number].probe;
  const Pass& pass = round.passes[shape_.probes[leaf_probe].place];
  Total& leaf = critical_leaves_[number];
  const std::int64_t computed = std::max<std::int64_t>(0, pass.computation_nanos);
  ++leaf.rounds;
  ++leaf.iterations;
  add_to(leaf.nanos, computed);
  std::array<std::int64_t, causes> by_cause = {};
  by_cause[static_cast<std::size_t>(Cause::computation)] = computed;
  for (std::uint32_t probe = leaf_probe; probe != none;) {
    const Pass& here = round.passes[shape_.probes[probe].place];
    const bool joins = shape_.hops[shape_.probes[probe].hop].kind == HopKind::join;
    const Pass* below = pass_of(shape_, round, shape_.probes[probe].below);
    if (joins && !is_around(shape_, round, probe)) below = nullptr;
    std::int64_t nanos = here.up_nanos - here.down_nanos;
    if (below != nullptr) nanos -= below->up_nanos - below->down_nanos;
    const Cause cause = add_critical_hop(probe, nanos);
    if (joins && below != nullptr) add_critical_reply(probe, here.up_nanos - below->up_nanos);
    add_to(by_cause[static_cast<std::size_t>(cause)], nanos);
    probe = below == nullptr ? none : shape_.probes[probe].below;
  }
  for (std::size_t cause = 0; cause < causes; ++cause)
    add_to(tree.by_cause[cause], by_cause[cause]);
  if (pass.computation_nanos >= 0) tree.add_iteration(pass, by_cause);
  tree.latest = {number, on_the_way_[shape_.probes[leaf_probe].place].wan,
                 arrivals_.lead_of(leaf_probe), round.sequence};
  tree.notes.at(round.sequence) = tree.latest;
}

/// Adds an iteration of the critical thread: the computation before the operation `pass`, and this
/// operation.
void Figures::TreeFigures::add_iteration(const Pass& pass,
                                         const std::array<std::int64_t, causes>& causes_of_pass) {
  const std::int64_t within = pass.up_nanos - pass.down_nanos;
  const std::int64_t nanos = pass.computation_nanos + within;
  iteration.add(nanos);
  computation.add(pass.computation_nanos);
  communication.add(within);
  iterations.add(nanos);
  for (std::size_t cause = 0; cause < causes; ++cause)
    causes_of_rounds[cause].add(causes_of_pass[cause]);
}

Cause Figures::add_critical_hop(std::uint32_t number, std::int64_t nanos) {
  const Probe& probe = shape_.probes[number];
  const Cause cause = cause_of(shape_.hops[probe.hop]);
  Total& total = cause == Cause::join ? joins_[probe.join].critical : hops_[probe.hop].critical;
  ++total.rounds;
  add_to(total.nanos, nanos);
  return cause;
}

/// If the critical thread of the round waited for the late reply of a join, adds the delay of this
/// reply.
void Figures::add_critical_reply(std::uint32_t number, std::int64_t nanos) {
  const Probe& probe = shape_.probes[number];
  JoinFigures& join = joins_[probe.join];
  if (!join.is_reply_late || !probe.is_remote || nanos < late_reply_least_nanos) return;
  ++join.critical_late_replies.rounds;
  add_to(join.critical_late_replies.nanos, nanos);
}

void Figures::add_link(const EventRecord& record) {
  if (record.place >= shape_.structure.stages.size()) return;
  const std::uint32_t wrapper = shape_.structure.stages[record.place].wrapper;
  LinkFigures& link = links_.try_emplace(wrapper, exact_max_).first->second;
  const std::int64_t queued = record.slot;
  link.queued.add(queued);
  const std::int64_t travel = record.up_nanos - record.down_nanos - queued;
  link.travel.add(travel);
  link.travels.add(travel);
  link.travel_begins.add(record.down_nanos + queued);
  link.payload_bytes += record.bytes;
}

}  // namespace eventspace
