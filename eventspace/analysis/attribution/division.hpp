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

/// Span of time that has one cause. It lies between a moment (event of the run) and the moment for
/// which that moment waited.
struct Segment {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  TimeLabel label;
  Moment moment;  ///< moment that waited
  Moment before;  ///< moment for which `moment` waited; may be empty
  std::int64_t nanos() const { return end_nanos - begin_nanos; }
};

/// Walks back in time from the moment `from` until `until_nanos`. Each step leads from a moment to
/// the moment for which it waited. Calls `visit` for each segment of the walk. The segments adjoin,
/// so their sum is the whole time from `until_nanos` to `from`.
///
/// Returns the number of contradictions. In a contradiction, the recorded time of a moment is
/// before that of the moment for which it waited.
std::uint64_t walk_back(const Bindings& bindings, Moment from, std::int64_t until_nanos,
                        const std::function<void(const Segment&)>& visit);

/// Part of a thread's time that has one operation and one cause.
struct ThreadPart {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  TimeLabel label;
  /// Index in Moments::names() of the thread's operation; none if the part is between operations.
  std::uint32_t name = none;
  std::int64_t nanos() const { return end_nanos - begin_nanos; }
};

/// Divides the time of a thread from `begin_nanos` to `end_nanos`, as far as the thread existed in
/// it. Calls `visit` for each part. The parts have no gaps and do not overlap. Operations are
/// visited in the order of time. The parts of one operation are visited from its end back to its
/// begin.
///
/// Returns the number of contradictions (walk_back()).
std::uint64_t divide_thread(const Bindings& bindings, std::uint32_t thread,
                            std::int64_t begin_nanos, std::int64_t end_nanos,
                            const std::function<void(const ThreadPart&)>& visit);

/// Returns a row for a part of a thread's time. Sets only its operation, cause and place.
TimeRow row_of(const ThreadPart& part, const Moments& moments);
/// Returns a row for a part of the critical path. Sets only its operation, cause and place.
TimeRow row_of(const Segment& segment, const Moments& moments);

/// Returns the thread that ended last; none if no thread has records. The critical path ends at the
/// end of this thread.
std::uint32_t last_thread_of(const Moments& moments);

/// Divides the time of the run and the time of each thread.
TimeReport divide_time(const Bindings& bindings);

/// Sets the headline of the report to the largest part of the total time of all threads. Call this
/// function if predictions are not possible; otherwise the headline is a part of the critical path.
void set_headline_by_threads(TimeReport& report);

/// Returns a text for the place of a label, such as "between alpha and beta"; "" if the label has
/// no place.
std::string where_of(const TimeLabel& label, const Structure& structure);

/// Returns a text that names an operation, such as "allreduce sum" or "receipt of rows from the
/// next thread".
std::string words_of(const OperationName& name);

}  // namespace eventspace
