// SPDX-License-Identifier: Apache-2.0
// paths/joins/awaited_values.cpp — trace records of the waits for other clusters' values.
#include "paths/joins/awaited_values.hpp"

namespace paths {

AwaitedValues::AwaitedValues(HostView& view, StageId stage, std::uint64_t sequence,
                             std::size_t clusters, std::size_t own)
    : view_(view), own_(own) {
  if (!view.recorder().is_on()) return;
  eventspace::EventRecord read;
  read.place = stage;
  read.sequence = sequence;
  read.kind = static_cast<std::uint8_t>(eventspace::EventKind::cache_read);
  read.flags = eventspace::event_undecided;
  read.down_nanos = view.runtime().now().count();
  reads_.assign(clusters, read);
  for (std::uint32_t slot = 0; slot < reads_.size(); ++slot) reads_[slot].slot = slot;
}

AwaitedValues::~AwaitedValues() {
  for (eventspace::EventRecord& read : reads_) {
    if (read.slot == own_) continue;
    if (read.flags == eventspace::event_undecided) read.up_nanos = view_.runtime().now().count();
    view_.recorder().add(read);
  }
}

void AwaitedValues::look(const std::vector<std::optional<std::uint64_t>>& sequences) {
  for (eventspace::EventRecord& read : reads_) {
    const auto& found = sequences[read.slot];
    if (read.flags != eventspace::event_undecided) continue;
    if (!found || *found < read.sequence) continue;
    read.flags = is_first_look_ ? eventspace::event_cached : 0;
    read.up_nanos = view_.runtime().now().count();
    read.bytes = eventspace::capped_bytes(*found - read.sequence);
  }
  is_first_look_ = false;
}

}  // namespace paths
