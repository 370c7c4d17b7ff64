// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/division.hpp — division of the time of each thread and of the run
// by operation and cause. Every part of the time is attributed.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "eventspace/analysis/attribution/bindings.hpp"
#include "eventspace/analysis/report/time_report.hpp"

namespace eventspace {

/// Part of the time between a moment (event of the run) and the moment for which it waited. The
/// part has one cause.
struct Segment {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  TimeLabel label;
  Moment moment;  ///< moment that waited
  Moment before;  ///< moment for which it waited; nothing if there is none
  std::int64_t nanos() const { return end_nanos - begin_nanos; }
};

/// Walks back in time: from the moment `from` to its binding moment, to the binding moment of that
/// one, and so on, until `until_nanos`. Calls `visit` for each segment on this way. The segments
/// adjoin, so their sum is the whole time from `until_nanos` to `from`.
///
/// Returns the number of contradictions: binding moments whose recorded time is after the moment
/// that waited for them.
std::uint64_t walk_back(const Bindings& bindings, Moment from, std::int64_t until_nanos,
                        const std::function<void(const Segment&)>& visit);

/// Part of a thread's time that has one operation and one cause.
struct ThreadPart {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  TimeLabel label;
  /// Index of the operation's name in Moments::names(); none between operations.
  std::uint32_t name = none;
  std::int64_t nanos() const { return end_nanos - begin_nanos; }
};

/// Divides the time of a thread from `begin_nanos` to `end_nanos`, as far as the thread existed,
/// and calls `visit` for each part. The parts have no gaps and do not overlap. Operations are
/// visited in the order of time, but the parts of one operation from its end to its begin.
///
/// Returns the number of contradictions, as walk_back() does.
std::uint64_t divide_thread(const Bindings& bindings, std::uint32_t thread,
                            std::int64_t begin_nanos, std::int64_t end_nanos,
                            const std::function<void(const ThreadPart&)>& visit);

/// Returns a row for a part of a thread's time. Only operation, cause and place are set.
TimeRow row_of(const ThreadPart& part, const Moments& moments);
/// Returns a row for a part of the critical path. Only operation, cause and place are set.
TimeRow row_of(const Segment& segment, const Moments& moments);

/// Returns the thread that ended last, whose end is the end of the critical path; none if no thread
/// has records.
std::uint32_t last_thread_of(const Moments& moments);

/// Divides the time of the run and the time of each thread.
TimeReport divide_time(const Bindings& bindings);

/// Sets the headline of the report to the largest part of the time that all threads spent together.
/// Use it if predictions are not possible; otherwise the headline is a part of the critical path.
void set_headline_by_threads(TimeReport& report);

/// Returns a text for the place of a label, such as "between alpha and beta"; "" if it has none.
std::string where_of(const TimeLabel& label, const Structure& structure);

/// Returns a text that names an operation, such as "allreduce sum" or "receipt of rows from the
/// next thread".
std::string words_of(const OperationName& name);

}  // namespace eventspace
