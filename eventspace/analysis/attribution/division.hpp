// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/division.hpp — the time of each thread and of the run, divided by
// operation and cause without remainder.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "eventspace/analysis/attribution/bindings.hpp"
#include "eventspace/analysis/report/time_report.hpp"

namespace eventspace {

/// Part of the time between two moments, with one cause.
struct Segment {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  TimeLabel label;
  Moment moment;  ///< the moment that waited
  Moment before;  ///< the moment that it waited for; nothing at the begin of the walk's time
  std::int64_t nanos() const { return end_nanos - begin_nanos; }
};

/// Walks from a moment back over the moments that were waited for, until a time. The segments
/// adjoin, so their sum is the time of the walk.
///
/// Returns the number of moments that were recorded before a moment that they waited for.
std::uint64_t walk_back(const Bindings& bindings, Moment from, std::int64_t until_nanos,
                        const std::function<void(const Segment&)>& visit);

/// Part of a thread's time.
struct ThreadPart {
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
  TimeLabel label;
  std::uint32_t name = none;  ///< number of its OperationName; none between operations
  std::int64_t nanos() const { return end_nanos - begin_nanos; }
};

/// Divides the time of a thread, as far as it is between two times. The parts adjoin. Those of one
/// operation are visited from its end to its begin.
///
/// Returns the number of moments that were recorded before a moment that they waited for.
std::uint64_t divide_thread(const Bindings& bindings, std::uint32_t thread,
                            std::int64_t begin_nanos, std::int64_t end_nanos,
                            const std::function<void(const ThreadPart&)>& visit);

/// Returns a row without times: the operation, cause and place of a part of a thread's time.
TimeRow row_of(const ThreadPart& part, const Moments& moments);
/// Returns the same for a part of the critical path.
TimeRow row_of(const Segment& segment, const Moments& moments);

/// Returns the thread that ended last, at which the critical path ends; none without records.
std::uint32_t last_thread_of(const Moments& moments);

/// Divides the time of the run and of each thread.
TimeReport divide_time(const Bindings& bindings);

/// Sets the headline to the largest part of the time of all threads. Use it where nothing tells
/// what a change of the critical path would do.
void set_headline_by_threads(TimeReport& report);

/// Returns the place of a cause in words, such as "between alpha and beta"; "" if it has none.
std::string where_of(const TimeLabel& label, const Structure& structure);

/// Returns an operation in words, such as "allreduce sum" or "rows: read from the next thread".
std::string words_of(const OperationName& name);

}  // namespace eventspace
