// SPDX-License-Identifier: Apache-2.0
// eventspace/export/intervals.hpp — nested intervals of tracks, the form in which tools read
// traces.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "eventspace/export/interval_sort.hpp"
#include "eventspace/export/records.hpp"
#include "eventspace/export/tracks.hpp"
#include "eventspace/trace/host_clocks.hpp"
#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// Part of a track's time, such as an operation or a computation.
struct Interval {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  std::uint32_t label = 0;
  std::uint32_t probe = none;  ///< Probe at which the operation passed a collector
  std::uint32_t leaf = none;   ///< leaf of the operation, or of the operation after a computation
  EventRecord record;          ///< record; in a computation, that of the next operation
};

/// Receives the intervals of each track in nested order: enter() at the begin of an interval,
/// leave() at its end. Calls of enter() are in the order of the begins. An interval that does not
/// enclose the next interval of its row is left before that next interval is entered. Intervals
/// that overlap without nesting, such as messages on a link, are on different rows. Most tracks use
/// only the first row.
class IntervalVisitor {
 public:
  virtual ~IntervalVisitor() = default;
  virtual void enter(std::uint32_t track, std::uint32_t row, const Interval& interval) = 0;
  virtual void leave(std::uint32_t track, std::uint32_t row, const Interval& interval) = 0;
  virtual void end_track(std::uint32_t track) = 0;
};

/// Nested intervals of a trace, in bounded memory. The records are sorted in a temporary file,
/// `scratch`.
class Intervals {
 public:
  /// `wanted` returns whether a track is visited; if `wanted` is empty, all tracks are.
  Intervals(const TraceDirectory& trace, const HostClocks& clocks,
            const std::filesystem::path& scratch,
            const std::function<bool(const Track&)>& wanted = {},
            std::size_t sort_bytes = std::size_t{64} << 20);

  /// Visits the intervals track by track, any number of times.
  void visit(IntervalVisitor& visitor);

  const Tracks& tracks() const { return tracks_; }
  const Exported& exported() const { return exported_; }
  std::int64_t begin_nanos() const { return begin_nanos_; }
  std::int64_t end_nanos() const { return end_nanos_; }
  /// Returns a time for formats without negative times. If begin_nanos() is negative, the result
  /// counts from begin_nanos(); otherwise it counts from 0.
  std::uint64_t unsigned_time(std::int64_t nanos) const {
    const std::int64_t zero = std::min<std::int64_t>(0, begin_nanos_);
    return static_cast<std::uint64_t>(nanos) - static_cast<std::uint64_t>(zero);
  }
  bool is_utc() const { return is_utc_; }

 private:
  Tracks tracks_;
  SpanSort sort_;
  Exported exported_;
  std::int64_t begin_nanos_ = 0;
  std::int64_t end_nanos_ = 0;
  bool is_utc_ = false;
};

}  // namespace eventspace
