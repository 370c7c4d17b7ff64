// SPDX-License-Identifier: Apache-2.0
// pricing/bound.cpp — who needs whose bytes, and what stands between them.
#include "pricing/bound.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pricing {
namespace {

using base::Nanos;
using collectives::Collective;
using collectives::Rank;
using collectives::Task;

constexpr std::size_t most_clusters_cut = 8;  // beyond it each cluster alone against all others

class Bounds {
 public:
  Bounds(const Task& task, Bytes element_bytes, const Network& network)
      : task_(task), element_bytes_(element_bytes), network_(network), size_(task.size()) {
    find_latencies();
  }
  Bound largest();

 private:
  void find_latencies();
  Nanos latency(Rank from, Rank to) const { return latencies_[std::size_t{from} * size_ + to]; }
  Bytes needed(Rank source, Rank target) const;
  bool is_same_for_all() const;
  bool is_summed_up() const;
  void raise(Nanos time, const std::string& reason);
  void bound_sending(Rank host);
  void bound_receiving(Rank host);
  void bound_cuts();
  void bound_cut(const std::vector<bool>& inside);
  void bound_exit(std::size_t cluster);
  void bound_behind_exit(const std::vector<bool>& inside, const tuning::LinkModel& side);
  Nanos nearest(const std::vector<bool>& inside) const;
  /// Of all that a host sends or receives: its side's, and those of links if it is an exit.
  enum class Direction { sending, receiving };
  double rate(Rank host, Direction direction) const;
  Bytes crossing(const std::vector<bool>& inside) const;
  void bound_work();

  const Task& task_;
  Bytes element_bytes_;
  const Network& network_;
  Rank size_;
  std::vector<Nanos> latencies_;  // of the shortest way, from * size + to
  Bound bound_;
};

/// Ways differ by clusters and by the hosts at their ends; those between clusters may pass others.
void Bounds::find_latencies() {
  latencies_.resize(std::size_t{size_} * size_);
  for (Rank from = 0; from < size_; ++from)
    for (Rank to = 0; to < size_; ++to)
      latencies_[std::size_t{from} * size_ + to] =
          from == to ? Nanos(0) : network_.latency(from, to);
  for (Rank via = 0; via < size_; ++via)
    for (Rank from = 0; from < size_; ++from)
      for (Rank to = 0; to < size_; ++to) {
        Nanos& way = latencies_[std::size_t{from} * size_ + to];
        way = std::min(way, latency(from, via) + latency(via, to));
      }
}

/// What a target's result needs of a source.
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

/// Whether a source has the same bytes for everybody, which it need send only once.
bool Bounds::is_same_for_all() const {
  return task_.collective != Collective::scatter && task_.collective != Collective::alltoall &&
         task_.collective != Collective::reduce_scatter;
}

/// Whether what comes from several sources may come as one sum.
bool Bounds::is_summed_up() const { return collectives::is_reduction(task_.collective); }

void Bounds::raise(Nanos time, const std::string& reason) {
  if (time > bound_.time) bound_ = {time, reason};
}

struct Demand {
  Nanos latency;
  Bytes bytes;
};

/// The bytes of the farthest are behind their latency, so are those of the two farthest behind the
/// smaller one of theirs, and so on: what takes longest of them.
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

/// 0 if one of them is unlimited.
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

/// The distinct bytes that those inside have for those outside.
Bytes Bounds::crossing(const std::vector<bool>& inside) const {
  Bytes sum = 0, largest = 0;
  const bool by_target = is_summed_up() && !is_same_for_all();
  for (Rank one = 0; one < size_; ++one) {
    Bytes most = 0, all = 0;
    for (Rank other = 0; other < size_; ++other) {
      const Rank source = by_target ? other : one;
      const Rank target = by_target ? one : other;
      if (!inside[source] || inside[target]) continue;
      const Bytes bytes = needed(source, target);
      most = std::max(most, bytes);
      all += bytes;
    }
    sum += is_same_for_all() || by_target ? most : all;
    largest = std::max(largest, most);
  }
  return is_summed_up() && is_same_for_all() ? largest : sum;
}

/// From there to whoever outside needs what is inside.
Nanos Bounds::nearest(const std::vector<bool>& inside) const {
  Nanos nearest = Nanos::max();
  for (Rank to = 0; to < size_; ++to) {
    if (inside[to]) continue;
    bool needs = false;
    Nanos way = Nanos::max();
    for (Rank from = 0; from < size_; ++from) {
      if (!inside[from]) continue;
      needs = needs || needed(from, to) > 0;
      way = std::min(way, latency(from, to));
    }
    if (needs) nearest = std::min(nearest, way);
  }
  return nearest;
}

void Bounds::bound_behind_exit(const std::vector<bool>& inside, const tuning::LinkModel& side) {
  const Bytes bytes = crossing(inside);
  if (bytes == 0) return;
  raise(nearest(inside) + least_time(bytes, rate_of(side)),
        fmt::format("{} bytes that must pass an exit", bytes));
}

/// What the others of its cluster have with all else passes its sides.
void Bounds::bound_exit(std::size_t cluster) {
  const std::optional<std::uint32_t> exit = network_.exits[cluster];
  if (!exit) return;
  std::vector<bool> behind(size_);
  for (const Rank rank : network_.topology->cluster(cluster)) behind[rank] = rank != *exit;
  bound_behind_exit(behind, network_.receiving[*exit]);
  behind.flip();
  bound_behind_exit(behind, network_.outgoing[*exit]);
}

void Bounds::bound_cut(const std::vector<bool>& inside) {
  const Bytes bytes = crossing(inside);
  if (bytes == 0) return;
  double rate = 0;
  bool is_limited = true;
  const std::size_t clusters = network_.clusters();
  for (std::size_t from = 0; from < clusters; ++from)
    for (std::size_t to = 0; to < clusters; ++to) {
      if (!inside[network_.topology->cluster(from)[0]] || inside[network_.topology->cluster(to)[0]])
        continue;
      const double one = rate_of(network_.links[from * clusters + to]);
      is_limited = is_limited && one > 0;
      rate += one;
    }
  raise(nearest(inside) + least_time(bytes, is_limited ? rate : 0),
        fmt::format("{} bytes that must cross between clusters", bytes));
}

void Bounds::bound_cuts() {
  const std::size_t clusters = network_.clusters();
  if (clusters < 2) return;
  for (std::size_t cluster = 0; cluster < network_.exits.size(); ++cluster) bound_exit(cluster);
  const auto cut = [&](const auto& is_inside) {
    std::vector<bool> inside(size_);
    for (Rank rank = 0; rank < size_; ++rank)
      inside[rank] = is_inside(network_.topology->cluster_of(rank));
    bound_cut(inside);
  };
  if (clusters <= most_clusters_cut) {
    for (std::size_t chosen = 1; chosen + 1 < (std::size_t{1} << clusters); ++chosen)
      cut([&](std::size_t cluster) { return (chosen >> cluster & 1) == 1; });
    return;
  }
  for (std::size_t alone = 0; alone < clusters; ++alone) {
    cut([&](std::size_t cluster) { return cluster == alone; });
    cut([&](std::size_t cluster) { return cluster != alone; });
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
  for (Rank host = 0; host < size_; ++host) bound_sending(host);
  for (Rank host = 0; host < size_; ++host) bound_receiving(host);
  bound_cuts();
  bound_work();
  return bound_;
}

}  // namespace

Bound bound_of(const Task& task, Bytes element_bytes, const Network& network) {
  return Bounds(task, element_bytes, network).largest();
}

}  // namespace pricing
