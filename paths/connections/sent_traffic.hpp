// SPDX-License-Identifier: Apache-2.0
// paths/connections/sent_traffic.hpp — counts of sent frames for each graph of a plan
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "runtime/wait.hpp"

namespace paths {

/// Counts of the frames of paths that a host has sent.
struct Traffic {
  std::uint64_t messages = 0;  ///< number of requests, replies, errors and pushes
  std::uint64_t bytes = 0;     ///< number of bytes in the payloads of these messages
  /// Number of the remaining frames of paths: frames with housekeeping operations
  /// (is_housekeeping()).
  std::uint64_t control = 0;
  Traffic& operator+=(const Traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    control += other.control;
    return *this;
  }
};

/// Counts the frames that a host has sent, separately for each graph (index in Peers::graphs).
///
/// Thread-safe: to_other_clusters() and all(). The caller of count() must hold the mutex.
class SentTraffic {
 public:
  /// Requires: `mutex` outlives this object.
  explicit SentTraffic(runtime::Mutex& mutex) : mutex_(mutex) {}
  void count(std::uint32_t graph, bool leaves_cluster, const Traffic& sent) {
    if (last_.second == nullptr || last_.first != graph)
      last_ = {graph, &by_graph_[graph]};  // pointers to map nodes stay valid
    last_.second->all += sent;
    if (leaves_cluster) last_.second->to_other_clusters += sent;
  }
  Traffic to_other_clusters(std::uint32_t graph) const { return of(graph).to_other_clusters; }
  Traffic all(std::uint32_t graph) const { return of(graph).all; }

 private:
  struct Counted {
    Traffic all;
    Traffic to_other_clusters;
  };
  Counted of(std::uint32_t graph) const {
    const runtime::Lock lock(mutex_);
    const auto known = by_graph_.find(graph);
    return known == by_graph_.end() ? Counted{} : known->second;
  }

  runtime::Mutex& mutex_;
  /// Contains only graphs with traffic, because a plan may have one graph per host.
  std::unordered_map<std::uint32_t, Counted> by_graph_;
  std::pair<std::uint32_t, Counted*> last_{0, nullptr};
};

}  // namespace paths
