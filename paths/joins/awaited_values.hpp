// SPDX-License-Identifier: Apache-2.0
// paths/joins/awaited_values.hpp — trace records of a root's reads of the other clusters' values.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "eventspace/record.hpp"
#include "paths/operation.hpp"
#include "paths/plan/host_view.hpp"

namespace paths {

/// Records how long a round waited for the value of each other cluster. A read begins when the
/// round first needs the value. It ends when the value has arrived, or when the round ends without
/// it. The destructor adds the records. Records nothing while the host's recorder is off.
class AwaitedValues {
 public:
  /// `own` is the index of the cluster that reads, among all `clusters`.
  AwaitedValues(HostView& view, StageId stage, std::uint64_t sequence, std::size_t clusters,
                std::size_t own);
  ~AwaitedValues();
  AwaitedValues(const AwaitedValues&) = delete;
  AwaitedValues& operator=(const AwaitedValues&) = delete;

  /// Notes which values have arrived. `sequences` has the round of the newest tuple of each
  /// cluster; nullopt if there is none. A tuple of this round or a later one ends the read. Values
  /// that the first call finds count as cached.
  void look(const std::vector<std::optional<std::uint64_t>>& sequences);

 private:
  HostView& view_;
  const std::size_t own_;
  bool is_first_look_ = true;
  std::vector<eventspace::EventRecord> reads_;  // empty if nothing is recorded
};

}  // namespace paths
