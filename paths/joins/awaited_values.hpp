// SPDX-License-Identifier: Apache-2.0
// paths/joins/awaited_values.hpp — how a root came by the other clusters' values of a round, as
// records.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "eventspace/record.hpp"
#include "paths/operation.hpp"
#include "paths/plan/host_view.hpp"

namespace paths {

/// A round's reads of the other clusters' elements: each from wanting the value to having it, or
/// to the round's end without it. Recorded when the round is over; nothing while the host's
/// recorder is off.
class AwaitedValues {
 public:
  /// `own` is the place among the clusters of the one that reads.
  AwaitedValues(HostView& view, StageId stage, std::uint64_t sequence, std::size_t clusters,
                std::size_t own);
  ~AwaitedValues();
  AwaitedValues(const AwaitedValues&) = delete;
  AwaitedValues& operator=(const AwaitedValues&) = delete;

  /// What the newest tuple of each cluster is about, now. One of this round or a later one tells
  /// what its cluster knows of it. The first look finds what was there before.
  void look(const std::vector<std::optional<std::uint64_t>>& sequences);

 private:
  HostView& view_;
  const std::size_t own_;
  bool is_first_look_ = true;
  std::vector<eventspace::EventRecord> reads_;  // none when nothing is recorded
};

}  // namespace paths
