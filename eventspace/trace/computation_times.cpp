// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/computation_times.cpp — gaps between a thread's operations.
#include "eventspace/trace/computation_times.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "eventspace/trace/merged.hpp"

namespace eventspace {
namespace {

/// Maps the begin of a path (stage and slot) to the path's thread, and tells whether the path
/// belongs to `graph`.
class Beginnings {
 public:
  Beginnings(const Structure& structure, std::string_view graph) {
    for (const Structure::Path& path : structure.paths)
      if (path.threads > 0)
        by_stage_[path.stage].push_back(
            {path.slot, path.threads, structure.hosts[path.host].first_thread + path.first_thread,
             path.graph == graph});
  }
  struct Beginning {
    std::uint32_t rank;
    bool is_of_graph;
  };
  std::optional<Beginning> of(const EventRecord& record) const {
    const auto found = by_stage_.find(record.place);
    if (found == by_stage_.end()) return std::nullopt;
    for (const Range& range : found->second)
      if (record.slot >= range.slot && record.slot - range.slot < range.threads)
        return Beginning{range.first_rank + record.slot - range.slot, range.is_of_graph};
    return std::nullopt;
  }

 private:
  struct Range {
    std::uint32_t slot, threads, first_rank;
    bool is_of_graph;
  };
  std::unordered_map<std::uint32_t, std::vector<Range>> by_stage_;
};

struct ThreadState {
  std::optional<std::int64_t> free_since;  ///< end of the thread's last operation, if known
  std::uint64_t next_sequence = 0;
};

}  // namespace

std::vector<std::vector<std::int64_t>> computation_times(const TraceDirectory& directory,
                                                         std::string_view graph) {
  const Structure& structure = directory.structure;
  const Beginnings beginnings(structure, graph);
  std::vector<std::vector<std::int64_t>> times(structure.thread_count());
  std::vector<ThreadState> threads(times.size());
  MergedTrace trace(directory);
  std::uint32_t host = 0;
  std::span<const EventRecord> records;
  const auto see = [&](const EventRecord& record) {
    if (is(record, EventKind::thread)) {
      if (record.place < threads.size() && record.down_nanos == record.up_nanos)
        // Unary + makes a copy. A copy is needed because no reference can be bound to a field of a
        // packed struct.
        threads[record.place].free_since = +record.up_nanos;
      return;
    }
    const auto beginning = is_operation(record) ? beginnings.of(record) : std::nullopt;
    if (!beginning || beginning->rank >= threads.size()) return;
    ThreadState& thread = threads[beginning->rank];
    if (beginning->is_of_graph && record.kind == move_operation) {
      const bool is_next = record.sequence == thread.next_sequence;
      thread.next_sequence = record.sequence + 1;
      std::int64_t computed = -1;
      const bool is_known =
          is_next && thread.free_since &&
          !__builtin_sub_overflow(+record.down_nanos, *thread.free_since, &computed);
      if (is_known && computed >= 0) times[beginning->rank].push_back(computed);
    }
    thread.free_since = std::max(thread.free_since.value_or(+record.up_nanos), +record.up_nanos);
  };
  while (trace.next(host, records))
    for (const EventRecord& record : records) see(record);
  return times;
}

}  // namespace eventspace
