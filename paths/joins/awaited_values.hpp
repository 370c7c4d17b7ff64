// SPDX-License-Identifier: Apache-2.0
// paths/joins/awaited_values.hpp — trace records of the waits for other clusters' values at the
// root of a cluster.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "eventspace/record.hpp"
#include "paths/operation.hpp"
#include "paths/plan/host_view.hpp"

namespace paths {

/// Records how long a round waited for the value of each other cluster. All waits begin in the
/// constructor. A wait ends when the cluster's value has arrived. Waits for values that have not
/// arrived end in the destructor. The destructor adds the records to the trace. Nothing is recorded
/// while the host's recorder is off.
class AwaitedValues {
 public:
  /// `clusters` is the number of clusters. `own` is the index of this host's cluster, which reads
  /// the values of the other clusters.
  AwaitedValues(HostView& view, StageId stage, std::uint64_t sequence, std::size_t clusters,
                std::size_t own);
  ~AwaitedValues();
  AwaitedValues(const AwaitedValues&) = delete;
  AwaitedValues& operator=(const AwaitedValues&) = delete;

  /// Ends the waits for the values that have arrived. `sequences` has an entry per cluster: the
  /// round of the newest tuple that has arrived from the cluster; nullopt if no tuple has arrived.
  /// A tuple of the awaited round, or of a later round, ends the wait. If the first call ends the
  /// wait for a value, the trace marks the value as cached, because the round did not wait for it.
  void look(const std::vector<std::optional<std::uint64_t>>& sequences);

 private:
  HostView& view_;
  const std::size_t own_;
  bool is_first_look_ = true;
  std::vector<eventspace::EventRecord> reads_;  // empty if nothing is recorded
};

}  // namespace paths
