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

/// Records for each other cluster how long a round waited for the cluster's value. The wait begins
/// when the round first needs the value. It ends when the value has arrived, or when the round ends
/// without it. The destructor adds the records to the trace. Nothing is recorded while the host's
/// recorder is off.
class AwaitedValues {
 public:
  /// `clusters` is the number of clusters. `own` is the index of the cluster that reads the values
  /// of the others.
  AwaitedValues(HostView& view, StageId stage, std::uint64_t sequence, std::size_t clusters,
                std::size_t own);
  ~AwaitedValues();
  AwaitedValues(const AwaitedValues&) = delete;
  AwaitedValues& operator=(const AwaitedValues&) = delete;

  /// Ends the waits for the values that have arrived. `sequences` has an entry per cluster: the
  /// round of the newest tuple that has arrived from it, or nullopt. A tuple of the awaited round,
  /// or of a later one, ends the wait. The round did not wait for a value that had arrived before
  /// the first call. The trace then says that the value was cached.
  void look(const std::vector<std::optional<std::uint64_t>>& sequences);

 private:
  HostView& view_;
  const std::size_t own_;
  bool is_first_look_ = true;
  std::vector<eventspace::EventRecord> reads_;  // empty if nothing is recorded
};

}  // namespace paths
