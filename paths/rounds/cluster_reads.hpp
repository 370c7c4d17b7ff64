// SPDX-License-Identifier: Apache-2.0
// paths/rounds/cluster_reads.hpp — how a root came by the other clusters' values of a round, as
// records.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "eventspace/record.hpp"
#include "paths/host/host.hpp"
#include "paths/operation.hpp"

namespace paths {

/// A round's reads of the other clusters' elements: each from wanting the value to having it, or
/// to the round's end without it. Recorded when the round is over; nothing while the host's
/// recorder is off.
class ClusterReads {
 public:
  /// `own` is the place among the clusters of the one that reads.
  ClusterReads(Host& host, StageId stage, std::uint64_t sequence, std::size_t clusters,
               std::size_t own);
  ~ClusterReads();
  ClusterReads(const ClusterReads&) = delete;
  ClusterReads& operator=(const ClusterReads&) = delete;

  /// What the newest tuple of each cluster is about, now. One of this round or a later one tells
  /// what its cluster knows of it. The first look finds what was there before.
  void look(const std::vector<std::optional<std::uint64_t>>& sequences);

 private:
  Host& host_;
  const std::size_t own_;
  bool is_first_look_ = true;
  std::vector<eventspace::EventRecord> reads_;  // none when nothing is recorded
};

}  // namespace paths
