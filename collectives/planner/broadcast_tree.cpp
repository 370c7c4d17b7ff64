// SPDX-License-Identifier: Apache-2.0
// collectives/planner/broadcast_tree.cpp — broadcast trees, built host by host or by simulated
// annealing.
#include "collectives/planner/broadcast_tree.hpp"

#include <algorithm>
#include <numeric>

namespace planning {
namespace {

/// A tree that is being built: the hosts that have the block, and the time at which each of them
/// can send next.
struct Growth {
  explicit Growth(const PairCosts& among, Rank root, Bytes block)
      : costs(among), bytes(block), free_at(among.hosts(), Nanos(-1)) {
    tree.root = root;
    tree.children.resize(among.hosts());
    free_at[root] = Nanos(0);
  }
  bool has(Rank host) const { return free_at[host] >= Nanos(0); }
  Nanos arrival(Rank from, Rank to) const {
    return free_at[from] + costs.pair(from, to).latency + costs.takes(from, to, bytes);
  }
  void add(Rank from, Rank to) {
    free_at[to] = arrival(from, to);
    last = std::max(last, free_at[to]);
    free_at[from] += costs.sending(from, bytes);
    tree.children[from].push_back(to);
  }
  /// Adds `hosts` to the tree, one by one. In each step, adds the host to which the block can
  /// arrive earliest.
  /// Requires: one of `hosts`, and only one, is in the tree already.
  void spread(std::span<const Rank> hosts);

  const PairCosts& costs;
  Bytes bytes;
  // Time at which each host can send next; negative if it does not have the block.
  std::vector<Nanos> free_at;
  BroadcastTree tree;
  Nanos last{0};
};

void Growth::spread(std::span<const Rank> hosts) {
  for (std::size_t joined = 1; joined < hosts.size(); ++joined) {
    Nanos least = Nanos::max();
    Rank parent = 0, child = 0;
    for (const Rank from : hosts) {
      if (!has(from)) continue;
      for (const Rank to : hosts)
        if (!has(to) && arrival(from, to) < least) {
          least = arrival(from, to);
          parent = from;
          child = to;
        }
    }
    add(parent, child);
  }
}

/// Vigna's splitmix64, a random sequence that is the same on every machine.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t end) { return next() % end; }
  double share() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }

 private:
  std::uint64_t next() {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15U);
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
    return mixed ^ mixed >> 31;
  }
  std::uint64_t state_;
};

/// Returns e^-x. std::exp() is not used, because the last bit of its result differs between
/// machines.
double decay(double x) {
  if (x > 700) return 0;
  double power = 1 - x / 4096;
  for (int doubling = 0; doubling < 12; ++doubling) power *= power;
  return power;
}

/// How a block enters each cluster: through which host of the cluster, and from which other
/// cluster.
struct Entries {
  // Host of each cluster that gets the block first.
  std::vector<Rank> host;
  // Cluster from which each cluster gets the block. For the root's cluster, the value is that
  // cluster itself.
  std::vector<std::size_t> parent;

  bool is_below(std::size_t cluster, std::size_t above) const {
    while (cluster != above && parent[cluster] != cluster) cluster = parent[cluster];
    return cluster == above;
  }
};

class Annealing {
 public:
  Annealing(const PairCosts& costs, Rank root, Bytes bytes)
      : costs_(costs), root_(root), bytes_(bytes), chance_(root + 1) {}
  BroadcastTree run();

 private:
  static constexpr int moves = 150;
  static constexpr double first_temperature = 0.1;  // as a fraction of the first tree's time
  static constexpr double cooling = 0.97;

  Growth grown(const Entries& entries) const;
  void enter(Growth& growth, const Entries& entries, std::size_t cluster) const;
  Entries moved(Entries entries);

  const PairCosts& costs_;
  Rank root_;
  Bytes bytes_;
  Chance chance_;
};

/// Adds to the tree all hosts that get the block through `cluster`. First adds the hosts of all
/// clusters that get the block from `cluster`, directly or through other clusters. Then adds the
/// hosts of `cluster`.
void Annealing::enter(Growth& growth, const Entries& entries, std::size_t cluster) const {
  for (std::size_t child = 0; child < entries.parent.size(); ++child)
    if (child != cluster && entries.parent[child] == cluster)
      growth.add(entries.host[cluster], entries.host[child]);
  for (std::size_t child = 0; child < entries.parent.size(); ++child)
    if (child != cluster && entries.parent[child] == cluster) enter(growth, entries, child);
  growth.spread(costs_.topology().cluster(cluster));
}

Growth Annealing::grown(const Entries& entries) const {
  Growth growth(costs_, root_, bytes_);
  enter(growth, entries, costs_.topology().cluster_of(root_));
  return growth;
}

Entries Annealing::moved(Entries entries) {
  const std::size_t clusters = entries.parent.size();
  const std::size_t home = costs_.topology().cluster_of(root_);
  std::size_t cluster = chance_.below(clusters - 1);
  if (cluster >= home) ++cluster;
  if (chance_.below(2) == 0) {
    const auto members = costs_.topology().cluster(cluster);
    entries.host[cluster] = members[chance_.below(members.size())];
    return entries;
  }
  const std::size_t parent = chance_.below(clusters);
  if (!entries.is_below(parent, cluster)) entries.parent[cluster] = parent;
  return entries;
}

BroadcastTree Annealing::run() {
  const collectives::Topology& topology = costs_.topology();
  const std::size_t home = topology.cluster_of(root_);
  Entries now;
  for (std::size_t cluster = 0; cluster < topology.clusters(); ++cluster) {
    now.host.push_back(cluster == home ? root_ : topology.cluster(cluster).front());
    now.parent.push_back(home);
  }
  Growth best = grown(now);
  if (topology.clusters() == 1) return best.tree;
  Entries best_entries = now;
  Nanos cost = best.last, least = best.last;
  double temperature = first_temperature * static_cast<double>(cost.count());
  for (int move = 0; move < moves; ++move, temperature *= cooling) {
    const Entries next = moved(now);
    const Nanos other = grown(next).last;
    const double worse = static_cast<double>((other - cost).count());
    if (worse > 0 && chance_.share() >= decay(worse / temperature)) continue;
    now = next;
    cost = other;
    if (cost >= least) continue;
    least = cost;
    best_entries = now;
  }
  return grown(best_entries).tree;
}

}  // namespace

BroadcastTree mateescu_tree(const PairCosts& costs, Rank root, Bytes bytes) {
  std::vector<Rank> hosts(costs.hosts());
  std::iota(hosts.begin(), hosts.end(), Rank{0});
  Growth growth(costs, root, bytes);
  growth.spread(hosts);
  return growth.tree;
}

BroadcastTree clustered_tree(const PairCosts& costs, Rank root, Bytes bytes) {
  return Annealing(costs, root, bytes).run();
}

}  // namespace planning
