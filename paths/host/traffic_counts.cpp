// SPDX-License-Identifier: Apache-2.0
// paths/host/traffic_counts.cpp — sums of a host's traffic, and adding of its entry to a result.
#include "paths/host/traffic_counts.hpp"

#include <cstddef>
#include <cstring>
#include <span>

namespace paths {

Traffic TrafficCounts::to_other_clusters(std::string_view graph) const {
  const auto number = plan_.graph_named(graph);
  return number ? to_other_clusters(*number) : Traffic{};
}

Traffic TrafficCounts::to_other_clusters(std::uint32_t graph) const {
  Traffic sum = connections_.traffic().to_other_clusters(graph);
  const runtime::Lock lock(mutex_);
  if (const auto more = messages_.find(graph); more != messages_.end()) sum += more->second;
  return sum;
}

Traffic TrafficCounts::all(std::string_view graph) const {
  const auto number = plan_.graph_named(graph);
  return number ? connections_.traffic().all(*number) : Traffic{};
}

void TrafficCounts::add_messages(std::uint32_t graph, const Traffic& wan) {
  const runtime::Lock lock(mutex_);
  messages_[graph] += wan;
}

void TrafficCounts::add_entry(const Operation& asked, Result& answer) const {
  if (asked.number >= plan_.graphs.size()) return;
  const HostTraffic mine{host_, to_other_clusters(static_cast<std::uint32_t>(asked.number))};
  const auto before = answer.payload.bytes();
  answer.payload =
      base::Payload::filled(before.size() + sizeof mine, [&](std::span<std::byte> bytes) {
        std::memcpy(bytes.data(), before.data(), before.size());
        std::memcpy(bytes.data() + before.size(), &mine, sizeof mine);
      });
}

}  // namespace paths
