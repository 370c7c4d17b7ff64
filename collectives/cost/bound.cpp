// SPDX-License-Identifier: Apache-2.0
// collectives/cost/bound.cpp — lower bounds, computed from the bytes that hosts need from each
// other and from the rates and latencies between hosts.
#include "collectives/cost/bound.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pricing {
namespace {

using base::Nanos;
using collectives::Collective;
using collectives::CollectiveSpec;
using collectives::Rank;

// Maximum number of clusters for which all cuts are examined. For more clusters, only the cuts
// between one cluster and all other clusters are examined.
constexpr std::size_t most_clusters_cut = 8;
/// Limits that save time for large networks. Above these limits the result is a weaker bound, but
/// still a lower bound. Above `most_clusters_passed` clusters, pass_any() estimates latencies.
/// Above `most_hosts` hosts, sending and receiving are examined for about `hosts_of_more` hosts
/// only.
constexpr std::size_t most_clusters_passed = 1024;
constexpr Rank most_hosts = 2048, hosts_of_more = 256;

class Bounds {
 public:
  Bounds(const CollectiveSpec& task, Bytes element_bytes, const Network& network)
      : task_(task), element_bytes_(element_bytes), network_(network), size_(task.size()) {
    find_latencies();
  }
  Bound largest();

 private:
  void find_latencies();
  void pass_any();
  Nanos latency(Rank from, Rank to) const;
  struct Ends {
    Nanos leaving, arriving;
  };
  Ends ends_of(Rank host) const;
  Bytes needed(Rank source, Rank target) const;
  bool is_same_for_all() const;
  bool is_summed_up() const;
  void raise(Nanos time, const std::string& reason);
  void bound_sending(Rank host);
  void bound_receiving(Rank host);
  void bound_cuts();
  /// A division of the hosts into two sides.
  struct Cut {
    std::vector<Rank> inside, outside;
  };
  void bound_cut(const Cut& cut);
  void bound_exit(std::size_t cluster);
  void bound_behind_exit(const Cut& cut, const tuning::LinkModel& side);
  Nanos nearest(const Cut& cut) const;
  enum class Direction { sending, receiving };
  /// Returns the total rate at which a host can send or receive: the rate of the host's network
  /// interface. If the host is the exit of its cluster, the rates of the cluster's links are added
  /// to this rate.
  double rate(Rank host, Direction direction) const;
  Bytes crossing(const Cut& cut) const;
  void bound_work();

  const CollectiveSpec& task_;
  Bytes element_bytes_;
  const Network& network_;
  Rank size_;
  std::vector<Ends> ends_;   // latencies between each host and the links of its cluster
  std::vector<Nanos> ways_;  // least latency between clusters, indexed by from * clusters + to
  Bound bound_;
};

/// Returns two latencies: from a host to the links of its cluster, and from these links to the
/// host.
Bounds::Ends Bounds::ends_of(Rank host) const {
  const auto passed = [](const tuning::LinkModel& model) { return model.at(Nanos(0)).latency; };
  Ends ends{Nanos(0), Nanos(0)};
  if (network_.is_exit(host)) return ends;
  ends = {passed(network_.outgoing[host]), passed(network_.receiving[host])};
  if (const auto exit = network_.exit_of(host)) {
    ends.leaving += passed(network_.receiving[*exit]);
    ends.arriving += passed(network_.outgoing[*exit]);
  }
  return ends;
}

/// Computes the least latency from each cluster to each other cluster, over routes that may pass
/// through further clusters. Latencies inside the first and the last cluster are not included; they
/// are in ends_.
void Bounds::find_latencies() {
  constexpr Nanos never = Nanos::max() / 4;
  const std::size_t clusters = network_.clusters();
  std::vector<Nanos> passing(clusters, never);  // least latency through any host of a cluster
  for (Rank host = 0; host < size_; ++host) {
    ends_.push_back(ends_of(host));
    Nanos& least = passing[network_.topology->cluster_of(host)];
    least = std::min(least, ends_.back().leaving + ends_.back().arriving);
  }
  ways_.assign(clusters * clusters, never);
  for (std::size_t from = 0; from < clusters; ++from)
    for (std::size_t to = 0; to < clusters; ++to)
      if (from != to)
        ways_[from * clusters + to] =
            network_.links[from * clusters + to].model.at(Nanos(0)).latency;
  if (clusters > most_clusters_passed) return pass_any();
  for (std::size_t via = 0; via < clusters; ++via)
    for (std::size_t from = 0; from < clusters; ++from) {
      const Nanos there = ways_[from * clusters + via] + passing[via];
      const Nanos* const back = &ways_[via * clusters];
      Nanos* const way = &ways_[from * clusters];
      for (std::size_t to = 0; to < clusters; ++to) way[to] = std::min(way[to], there + back[to]);
    }
}

/// Reduces each latency between two clusters to a lower bound for routes through other clusters.
/// The bound is the least latency from the source to any cluster, plus the least latency from any
/// cluster to the target.
void Bounds::pass_any() {
  const std::size_t clusters = network_.clusters();
  std::vector<Nanos> there(clusters, Nanos::max() / 4), back = there;
  for (std::size_t from = 0; from < clusters; ++from)
    for (std::size_t to = 0; to < clusters; ++to) {
      const Nanos way = ways_[from * clusters + to];
      there[from] = std::min(there[from], way);
      back[to] = std::min(back[to], way);
    }
  for (std::size_t from = 0; from < clusters; ++from)
    for (std::size_t to = 0; to < clusters; ++to) {
      Nanos& way = ways_[from * clusters + to];
      way = std::min(way, there[from] + back[to]);
    }
}

Nanos Bounds::latency(Rank from, Rank to) const {
  if (from == to) return Nanos(0);
  const collectives::Topology& group = *network_.topology;
  const std::size_t here = group.cluster_of(from), there = group.cluster_of(to);
  const Nanos around =
      ends_[from].leaving + ways_[here * network_.clusters() + there] + ends_[to].arriving;
  return here == there ? std::min(network_.latency(from, to), around) : around;
}

/// Returns the number of bytes from host `source` that host `target` needs for its result.
Bytes Bounds::needed(Rank source, Rank target) const {
  if (source == target) return 0;
  const auto block = [&](std::size_t index) {
    return task_.counts.block(index).count * element_bytes_;
  };
  const Bytes vector = task_.vector().count * element_bytes_;
  switch (task_.collective) {
    case Collective::broadcast: return source == task_.root ? vector : 0;
    case Collective::reduce: return target == task_.root ? vector : 0;
    case Collective::allreduce: return vector;
    case Collective::barrier: return 0;
    case Collective::gather: return target == task_.root ? block(source) : 0;
    case Collective::scatter: return source == task_.root ? block(target) : 0;
    case Collective::allgather: return block(source);
    case Collective::reduce_scatter: return block(target);
    case Collective::alltoall: return block(std::size_t{source} * size_ + target);
    case Collective::scan:
    case Collective::exscan: return source < target ? vector : 0;
  }
  return 0;
}

/// Returns whether each host has the same bytes for all targets. If so, the bound counts these
/// bytes once, not once for each target.
bool Bounds::is_same_for_all() const {
  return task_.collective != Collective::scatter && task_.collective != Collective::alltoall &&
         task_.collective != Collective::reduce_scatter;
}

/// Returns whether the contributions of several sources can arrive as one sum.
bool Bounds::is_summed_up() const { return collectives::is_reduction(task_.collective); }

void Bounds::raise(Nanos time, const std::string& reason) {
  if (time > bound_.time) bound_ = {time, reason};
}

struct Demand {
  Nanos latency;
  Bytes bytes;
};

/// Returns a lower bound on the time of all transfers of one host, which share the given rate. For
/// each k, the k transfers with the largest latencies take at least the time of their bytes plus
/// the least of the k latencies. The bound is the largest of these times. If `count_once`, all
/// transfers carry the same bytes, which then count once.
Nanos longest(std::vector<Demand> demands, bool count_once, double rate) {
  std::sort(demands.begin(), demands.end(),
            [](const Demand& left, const Demand& right) { return left.latency > right.latency; });
  Nanos longest{0};
  Bytes bytes = 0;
  for (const Demand& demand : demands) {
    bytes = count_once ? std::max(bytes, demand.bytes) : bytes + demand.bytes;
    longest = std::max(longest, demand.latency + least_time(bytes, rate));
  }
  return longest;
}

/// Returns the sum of two rates; 0 (unlimited) if one is unlimited.
double together(double one, double other) { return one <= 0 || other <= 0 ? 0 : one + other; }

double Bounds::rate(Rank host, Direction direction) const {
  const bool sends = direction == Direction::sending;
  double rate = rate_of(sends ? network_.outgoing[host] : network_.receiving[host]);
  if (!network_.is_exit(host)) return rate;
  const std::size_t here = network_.topology->cluster_of(host), clusters = network_.clusters();
  for (std::size_t other = 0; other < clusters; ++other)
    if (other != here)
      rate = together(
          rate, rate_of(network_.links[sends ? here * clusters + other : other * clusters + here]));
  return rate;
}

void Bounds::bound_sending(Rank host) {
  std::vector<Demand> demands;
  for (Rank target = 0; target < size_; ++target)
    if (const Bytes bytes = needed(host, target); bytes > 0)
      demands.push_back({latency(host, target), bytes});
  raise(longest(std::move(demands), is_same_for_all(), rate(host, Direction::sending)),
        fmt::format("what host {} must send", host));
}

void Bounds::bound_receiving(Rank host) {
  std::vector<Demand> demands;
  for (Rank source = 0; source < size_; ++source)
    if (const Bytes bytes = needed(source, host); bytes > 0)
      demands.push_back({latency(source, host), bytes});
  raise(longest(std::move(demands), is_summed_up(), rate(host, Direction::receiving)),
        fmt::format("what host {} must receive", host));
}

/// Returns the number of bytes that must cross the cut from `inside` to `outside`. If the same
/// bytes serve several targets, or several contributions can be summed before they cross, they
/// count once.
Bytes Bounds::crossing(const Cut& cut) const {
  Bytes sum = 0, largest = 0;
  const bool by_target = is_summed_up() && !is_same_for_all();
  for (const Rank one : by_target ? cut.outside : cut.inside) {
    Bytes most = 0, all = 0;
    for (const Rank other : by_target ? cut.inside : cut.outside) {
      const Bytes bytes = by_target ? needed(other, one) : needed(one, other);
      most = std::max(most, bytes);
      all += bytes;
    }
    sum += is_same_for_all() || by_target ? most : all;
    largest = std::max(largest, most);
  }
  return is_summed_up() && is_same_for_all() ? largest : sum;
}

/// Returns the least latency from a host of `inside` to a host of `outside` that needs data of
/// `inside`.
Nanos Bounds::nearest(const Cut& cut) const {
  Nanos nearest = Nanos::max();
  for (const Rank to : cut.outside) {
    bool needs = false;
    Nanos way = Nanos::max();
    for (const Rank from : cut.inside) {
      needs = needs || needed(from, to) > 0;
      way = std::min(way, latency(from, to));
    }
    if (needs) nearest = std::min(nearest, way);
  }
  return nearest;
}

void Bounds::bound_behind_exit(const Cut& cut, const tuning::LinkModel& side) {
  const Bytes bytes = crossing(cut);
  if (bytes == 0) return;
  raise(nearest(cut) + least_time(bytes, rate_of(side)),
        fmt::format("{} bytes that must pass an exit", bytes));
}

/// Raises the bound by two cuts, one for each direction. The cuts separate the hosts behind an exit
/// (the other hosts of the exit's cluster) from all other hosts, including the exit. All data
/// across these cuts pass the network interface of the exit.
void Bounds::bound_exit(std::size_t cluster) {
  const std::optional<std::uint32_t> exit = network_.exits[cluster];
  if (!exit) return;
  Cut cut;
  for (Rank host = 0; host < size_; ++host) {
    const bool is_behind = network_.topology->cluster_of(host) == cluster && host != *exit;
    (is_behind ? cut.inside : cut.outside).push_back(host);
  }
  bound_behind_exit(cut, network_.receiving[*exit]);
  std::swap(cut.inside, cut.outside);
  bound_behind_exit(cut, network_.outgoing[*exit]);
}

void Bounds::bound_cut(const Cut& cut) {
  const Bytes bytes = crossing(cut);
  if (bytes == 0) return;
  const auto clusters_of = [&](const std::vector<Rank>& hosts) {
    std::vector<std::size_t> clusters;
    for (const Rank host : hosts) clusters.push_back(network_.topology->cluster_of(host));
    std::sort(clusters.begin(), clusters.end());
    clusters.erase(std::unique(clusters.begin(), clusters.end()), clusters.end());
    return clusters;
  };
  const auto outside = clusters_of(cut.outside);
  double rate = 0;
  bool is_limited = true;
  for (const std::size_t from : clusters_of(cut.inside))
    for (const std::size_t to : outside) {
      const double one = rate_of(network_.links[from * network_.clusters() + to]);
      is_limited = is_limited && one > 0;
      rate += one;
    }
  raise(nearest(cut) + least_time(bytes, is_limited ? rate : 0),
        fmt::format("{} bytes that must cross between clusters", bytes));
}

void Bounds::bound_cuts() {
  const std::size_t clusters = network_.clusters();
  if (clusters < 2) return;
  for (std::size_t cluster = 0; cluster < network_.exits.size(); ++cluster) bound_exit(cluster);
  const auto cut_by = [&](const auto& is_inside) {
    Cut cut;
    for (Rank host = 0; host < size_; ++host)
      (is_inside(network_.topology->cluster_of(host)) ? cut.inside : cut.outside).push_back(host);
    bound_cut(cut);
  };
  if (clusters <= most_clusters_cut) {
    for (std::size_t chosen = 1; chosen + 1 < (std::size_t{1} << clusters); ++chosen)
      cut_by([&](std::size_t cluster) { return (chosen >> cluster & 1) == 1; });
    return;
  }
  for (std::size_t alone = 0; alone < clusters; ++alone) {
    cut_by([&](std::size_t cluster) { return cluster == alone; });
    cut_by([&](std::size_t cluster) { return cluster != alone; });
  }
}

void Bounds::bound_work() {
  if (task_.collective != Collective::allreduce || size_ < 2) return;
  double all = 0;
  for (Rank host = 0; host < size_; ++host) {
    const double one = rate(host, Direction::sending);
    if (one <= 0) return;
    all += one;
  }
  const double vector = static_cast<double>(task_.vector().count * element_bytes_);
  raise(least_time(2.0 * (size_ - 1) * vector, all), "what all hosts together must send");
}

Bound Bounds::largest() {
  if (task_.collective == Collective::barrier)
    for (Rank from = 0; from < size_; ++from)
      for (Rank to = 0; to < size_; ++to) raise(latency(from, to), "the way to the farthest host");
  const Rank apart = size_ <= most_hosts ? 1 : size_ / hosts_of_more;
  for (Rank host = 0; host < size_; host += apart) bound_sending(host);
  for (Rank host = 0; host < size_; host += apart) bound_receiving(host);
  if (apart > 1) {
    bound_sending(task_.root);
    bound_receiving(task_.root);
  }
  bound_cuts();
  bound_work();
  return bound_;
}

}  // namespace

Bound bound_of(const CollectiveSpec& task, Bytes element_bytes, const Network& network) {
  return Bounds(task, element_bytes, network).largest();
}

}  // namespace pricing
