// SPDX-License-Identifier: Apache-2.0
// collectives/cost/network.cpp — latencies and rates of a network; uniform networks.
#include "collectives/cost/network.hpp"

#include <cmath>

namespace pricing {

base::Nanos Network::latency(collectives::Rank from, collectives::Rank to) const {
  base::Nanos sum{0};
  for_way(from, to, [&](Part part, std::size_t index) {
    const tuning::LinkModel& model = part == Part::link       ? links[index].model
                                     : part == Part::outgoing ? outgoing[index]
                                                              : receiving[index];
    sum += model.at(base::Nanos(0)).latency;
  });
  return sum;
}

double rate_of(const tuning::LinkModel& model) { return model.at(base::Nanos(0)).bits_per_second; }

double rate_of(const Link& link) {
  const double together = link.stream_rate * static_cast<double>(link.streams);
  const double rate = rate_of(link.model);
  if (together <= 0) return rate;
  return rate <= 0 ? together : std::min(rate, together);
}

base::Nanos least_time(double bytes, double bits_per_second) {
  if (bits_per_second <= 0) return base::Nanos(0);
  const double nanos = std::floor(bytes * 8e9 / bits_per_second);
  if (nanos >= static_cast<double>(base::time_max.count())) return base::time_max;
  return base::Nanos(static_cast<base::Nanos::rep>(nanos));
}

Network uniform_network(std::shared_ptr<const collectives::Topology> topology, Side local,
                        Side wide) {
  const std::size_t hosts = topology->size();
  const std::size_t clusters = topology->clusters();
  const Link link{.model = {wide.latency - local.latency, wide.bits_per_second}};
  return {.topology = std::move(topology),
          .outgoing = std::vector(hosts, tuning::LinkModel(local.latency, local.bits_per_second)),
          .receiving = std::vector(hosts, tuning::LinkModel({}, local.bits_per_second)),
          .links = std::vector(clusters * clusters, link)};
}

}  // namespace pricing
