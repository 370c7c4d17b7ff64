// SPDX-License-Identifier: Apache-2.0
// eventspace/export/intervals.cpp — nesting of the intervals of each track.
#include "eventspace/export/intervals.hpp"

#include <algorithm>
#include <optional>

#include "eventspace/analysis/input/plausible.hpp"

namespace eventspace {
namespace {

/// Makes nested intervals from sorted records, track by track.
class Nesting {
 public:
  Nesting(const Tracks& tracks, IntervalVisitor& visitor)
      : tracks_(tracks), visitor_(visitor), next_sequence_(tracks.leaves(), 0) {}

  void add(const Span& span) {
    if (span.track != track_) {
      end_track();
      track_ = span.track;
    }
    // A thread has a record at its begin and a record at its end. The two records together make one
    // interval.
    const bool is_life = is(span.record, EventKind::thread);
    if (life_ && !(is_life && span.record.down_nanos == life_->begin_nanos)) put_life();
    Interval interval;
    interval.begin_nanos = span.record.down_nanos;
    interval.end_nanos = std::max(+span.record.down_nanos, +span.record.up_nanos);
    interval.label = tracks_.label_of(span.record);
    interval.record = span.record;
    if (tracks_.all()[track_].thread == none) {
      interval.probe = tracks_.probe_of(span.record);
      return put(interval, span.depth);
    }
    if (is_life) {
      life_ = interval;
      return compute_from(interval.begin_nanos);
    }
    interval.probe = tracks_.probe_of(span.record);
    const std::uint32_t leaf = tracks_.leaf_of(span.record);
    if (leaf == none) {
      // The next computation begins at the end of this call or at the end of the last operation,
      // whichever is later.
      if (has_begun_) compute_from(std::max(last_up_, interval.end_nanos));
      return put(interval, span.depth);
    }
    computed(interval, leaf);
    Interval operation = interval;
    operation.label = tracks_.label_of_operation(leaf);
    operation.probe = none;
    operation.leaf = leaf;
    put(operation, Tracks::operation_depth);
    put(interval, span.depth);
  }

  void end_track() {
    if (track_ == none) return;
    if (life_) put_life();
    for (std::uint32_t row = 0; row < rows_.size(); ++row)
      while (!rows_[row].empty()) leave(row);
    rows_.clear();
    visitor_.end_track(track_);
    track_ = none;
    has_begun_ = false;
  }

 private:
  struct Open {
    Interval interval;
    std::uint32_t depth = 0;
  };

  void put_life() {
    put(*life_, Tracks::whole_depth);
    life_.reset();
  }

  void compute_from(std::int64_t nanos) {
    last_up_ = nanos;
    has_begun_ = true;
  }

  /// Adds the computation before an operation. If records of earlier operations were lost, the
  /// computation is unknown and therefore left out, as in the analysis.
  void computed(const Interval& operation, std::uint32_t leaf) {
    const EventRecord& record = operation.record;
    const bool is_next = record.kind != move_operation || record.sequence == next_sequence_[leaf];
    if (record.kind == move_operation) next_sequence_[leaf] = record.sequence + 1;
    if (has_begun_ && is_next && last_up_ <= operation.begin_nanos) {
      Interval computation = operation;
      computation.begin_nanos = last_up_;
      computation.end_nanos = operation.begin_nanos;
      computation.label = Tracks::computation_label;
      computation.probe = none;
      computation.leaf = leaf;
      put(computation, Tracks::operation_depth);
    }
    compute_from(has_begun_ ? std::max(last_up_, operation.end_nanos) : operation.end_nanos);
  }

  void put(const Interval& interval, std::uint32_t depth) {
    std::uint32_t row = 0;
    while (row < rows_.size() && !fits(row, interval, depth)) ++row;
    if (row == rows_.size()) rows_.emplace_back();
    rows_[row].push_back({interval, depth});
    visitor_.enter(track_, row, interval);
  }

  /// Closes the intervals of the row `row` that have ended. Returns whether `interval` then fits
  /// into the innermost open interval of the row.
  bool fits(std::uint32_t row, const Interval& interval, std::uint32_t depth) {
    auto& open = rows_[row];
    const auto has_ended = [&](const Open& top) {
      if (top.interval.end_nanos != interval.begin_nanos)
        return top.interval.end_nanos < interval.begin_nanos;
      // An open interval that ends when `interval` begins still encloses `interval` if `interval`
      // has no length and a greater depth.
      return top.depth >= depth || top.interval.end_nanos < interval.end_nanos;
    };
    while (!open.empty() && has_ended(open.back())) leave(row);
    return open.empty() || interval.end_nanos <= open.back().interval.end_nanos;
  }

  void leave(std::uint32_t row) {
    visitor_.leave(track_, row, rows_[row].back().interval);
    rows_[row].pop_back();
  }

  const Tracks& tracks_;
  IntervalVisitor& visitor_;
  std::vector<std::uint64_t> next_sequence_;  // expected next sequence of each leaf
  std::uint32_t track_ = none;
  std::vector<std::vector<Open>> rows_;
  std::optional<Interval> life_;
  bool has_begun_ = false;
  std::int64_t last_up_ = 0;
};

}  // namespace

Intervals::Intervals(const TraceDirectory& trace, const HostClocks& clocks,
                     const std::filesystem::path& scratch,
                     const std::function<bool(const Track&)>& wanted, std::size_t sort_bytes)
    : tracks_(trace.structure), sort_(scratch, sort_bytes) {
  is_utc_ = clocks.is_utc();
  bool is_first = true;
  exported_ = for_each_record(trace, clocks, [&](std::uint32_t host, const EventRecord& record) {
    tracks_.learn(record);
    if (!has_possible_times(record)) return;
    const Tracks::Place place = tracks_.place_of(host, record);
    if (wanted && !wanted(tracks_.all()[place.track])) return;
    const std::int64_t end = std::max(+record.down_nanos, +record.up_nanos);
    begin_nanos_ = is_first ? +record.down_nanos : std::min(begin_nanos_, +record.down_nanos);
    end_nanos_ = is_first ? end : std::max(end_nanos_, end);
    is_first = false;
    sort_.add({place.track, place.depth, record});
  });
}

void Intervals::visit(IntervalVisitor& visitor) {
  Nesting nesting(tracks_, visitor);
  sort_.for_each([&](const Span& span) { nesting.add(span); });
  nesting.end_track();
}

}  // namespace eventspace
