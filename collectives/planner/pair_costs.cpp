// SPDX-License-Identifier: Apache-2.0
// collectives/planner/pair_costs.cpp — costs of messages between pairs of hosts, computed from a
// network or read from a matrix.
#include "collectives/planner/pair_costs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace planning {
namespace {

/// Returns the time to transfer the bytes at the given rate, rounded to the nearest nanosecond
/// (halves up).
Nanos rounded(Bytes bytes, double bits_per_second) {
  if (bits_per_second <= 0) return Nanos(0);
  const double nanos = static_cast<double>(bytes) * 8e9 / bits_per_second + 0.5;
  if (nanos >= static_cast<double>(base::time_max.count())) return base::time_max;
  return Nanos(static_cast<Nanos::rep>(nanos));
}

double slower(double left, double right) {
  if (left <= 0 || right <= 0) return std::max(left, right);
  return std::min(left, right);
}

/// Returns the number of streams of a link over which the frames of one message are spread.
std::size_t stripes(const pricing::Network& network, const pricing::Link& link) {
  return link.streams == 0 ? network.striping : std::min(network.striping, link.streams);
}

double link_rate(const pricing::Network& network, const pricing::Link& link) {
  const double rate = pricing::rate_of(link.model);
  if (!link.has_streams()) return rate;
  return slower(rate, link.stream_rate * static_cast<double>(stripes(network, link)));
}

/// Returns the rate of the slowest part of the network between two hosts; 0 = unlimited.
double way_rate(const pricing::Network& network, Rank from, Rank to) {
  using Part = pricing::Network::Part;
  double rate = 0;
  network.for_way(from, to, [&](Part part, std::size_t index) {
    rate = slower(rate, part == Part::link       ? link_rate(network, network.links[index])
                        : part == Part::outgoing ? pricing::rate_of(network.outgoing[index])
                                                 : pricing::rate_of(network.receiving[index]));
  });
  return rate;
}

/// Returns how many messages a link can carry at the same time (its slots); 0 = unlimited. A link
/// without streams, but with a limited rate, has one slot, because its messages queue.
std::size_t slots_of(const pricing::Network& network, const pricing::Link& link) {
  if (link.has_streams())
    return link.streams == 0 ? 0 : std::max<std::size_t>(1, link.streams / stripes(network, link));
  return pricing::rate_of(link.model) > 0 ? 1 : 0;
}

}  // namespace

PairCosts::PairCosts(std::shared_ptr<const collectives::Topology> topology,
                     std::vector<std::vector<Pair>> pairs, std::vector<double> nics, Nanos overhead)
    : topology_(std::move(topology)), nics_(std::move(nics)), overhead_(overhead) {
  std::vector<std::string> mistakes;
  if (pairs.size() != hosts())
    mistakes.push_back(
        fmt::format("expected a row for each of {} hosts, found {}", hosts(), pairs.size()));
  if (nics_.size() != hosts())
    mistakes.push_back(
        fmt::format("expected a rate for each of {} hosts, found {}", hosts(), nics_.size()));
  if (overhead < Nanos(0)) mistakes.emplace_back("the overhead of a message is negative");
  for (std::size_t from = 0; from < pairs.size(); ++from) {
    if (pairs[from].size() != hosts())
      mistakes.push_back(
          fmt::format("row {}: expected {} hosts, found {}", from, hosts(), pairs[from].size()));
    for (std::size_t to = 0; to < pairs[from].size(); ++to) {
      if (from == to) continue;
      if (!(pairs[from][to].bits_per_second > 0))
        mistakes.push_back(fmt::format("from {} to {} there is no bandwidth", from, to));
      if (pairs[from][to].latency < Nanos(0))
        mistakes.push_back(fmt::format("from {} to {} the latency is negative", from, to));
    }
  }
  if (!mistakes.empty()) throw std::invalid_argument(fmt::format("{}", fmt::join(mistakes, "; ")));
  for (std::vector<Pair>& row : pairs) pairs_.insert(pairs_.end(), row.begin(), row.end());
  slots_.assign(topology_->clusters() * topology_->clusters(), 0);
}

PairCosts PairCosts::of(const pricing::Network& network, Nanos overhead) {
  PairCosts costs;
  costs.topology_ = network.topology;
  costs.overhead_ = overhead;
  const Rank hosts = network.topology->size();
  for (Rank from = 0; from < hosts; ++from) {
    costs.nics_.push_back(pricing::rate_of(network.outgoing[from]));
    for (Rank to = 0; to < hosts; ++to)
      costs.pairs_.push_back({network.latency(from, to), way_rate(network, from, to)});
  }
  for (const pricing::Link& link : network.links) costs.slots_.push_back(slots_of(network, link));
  return costs;
}

Nanos PairCosts::takes(Rank from, Rank to, Bytes bytes) const {
  return rounded(bytes, pair(from, to).bits_per_second);
}

Nanos PairCosts::sending(Rank from, Bytes bytes) const {
  return overhead_ + rounded(bytes, nics_[from]);
}

}  // namespace planning
