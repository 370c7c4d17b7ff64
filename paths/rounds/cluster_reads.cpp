// SPDX-License-Identifier: Apache-2.0
// paths/rounds/cluster_reads.cpp — reads of other clusters' values, recorded.
#include "paths/rounds/cluster_reads.hpp"

namespace paths {

ClusterReads::ClusterReads(Host& host, StageId stage, std::uint64_t sequence, std::size_t clusters,
                           std::size_t own)
    : host_(host), own_(own) {
  if (!host.recorder().is_on()) return;
  eventspace::EventRecord read;
  read.place = stage;
  read.sequence = sequence;
  read.kind = static_cast<std::uint8_t>(eventspace::EventKind::cache_read);
  read.flags = eventspace::event_undecided;
  read.down_nanos = host.runtime().now().count();
  reads_.assign(clusters, read);
  for (std::uint32_t slot = 0; slot < reads_.size(); ++slot) reads_[slot].slot = slot;
}

ClusterReads::~ClusterReads() {
  for (eventspace::EventRecord& read : reads_) {
    if (read.slot == own_) continue;
    if (read.flags == eventspace::event_undecided) read.up_nanos = host_.runtime().now().count();
    host_.recorder().add(read);
  }
}

void ClusterReads::look(const std::vector<std::optional<std::uint64_t>>& sequences) {
  for (eventspace::EventRecord& read : reads_) {
    const auto& found = sequences[read.slot];
    if (read.flags != eventspace::event_undecided) continue;
    if (!found || *found < read.sequence) continue;
    read.flags = is_first_look_ ? eventspace::event_cached : 0;
    read.up_nanos = host_.runtime().now().count();
    read.bytes = eventspace::capped_bytes(*found - read.sequence);
  }
  is_first_look_ = false;
}

}  // namespace paths
