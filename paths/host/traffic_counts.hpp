// SPDX-License-Identifier: Apache-2.0
// paths/host/traffic_counts.hpp — traffic of a host for each graph of a plan.
#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "paths/connections/connections.hpp"
#include "paths/operation.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Traffic of a host to other clusters for one graph. The result of a `traffic` operation is an
/// array of HostTraffic.
struct HostTraffic {
  std::uint64_t host = 0;  ///< index of the host in the plan
  Traffic wan;
};

/// Adds up the traffic that one host sent over its connections and in messages of groups.
///
/// Thread-safe.
class TrafficCounts {
 public:
  /// All arguments outlive this object. `host` is the index of the host in the plan.
  TrafficCounts(const Plan& plan, std::uint32_t host, const Connections& connections)
      : plan_(plan), host_(host), connections_(connections) {}

  /// Returns the traffic that this host sent to other clusters for the paths of `graph`. Each frame
  /// counts once, on the host from which the frame leaves the cluster. Returns zeros for an unknown
  /// graph.
  Traffic to_other_clusters(std::string_view graph) const;
  /// Returns all traffic that this host sent for the paths of `graph`.
  Traffic all(std::string_view graph) const;
  /// Adds `wan` to the traffic of a graph. `wan` is the traffic to other clusters that messages of
  /// groups caused.
  void add_messages(std::uint32_t graph, const Traffic& wan);
  /// Adds the entry of this host to `answer`, the result of the `traffic` operation `asked`.
  void add_entry(const Operation& asked, Result& answer) const;

 private:
  Traffic to_other_clusters(std::uint32_t graph) const;

  const Plan& plan_;
  const std::uint32_t host_;
  const Connections& connections_;
  mutable runtime::Mutex mutex_;
  // Traffic of messages to other clusters, keyed by graph.
  std::unordered_map<std::uint32_t, Traffic> messages_;
};

}  // namespace paths
