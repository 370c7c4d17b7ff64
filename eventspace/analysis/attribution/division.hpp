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
  std::int64_t nanos() const { return end_nanos - begin_nanos; }
};

/// Walks from a moment back over the moments that were waited for, until a time. The segments
/// adjoin, so their sum is the time of the walk.
///
/// Returns the number of moments that were recorded before a moment that they waited for.
std::uint64_t walk_back(const Bindings& bindings, Moment from, std::int64_t until_nanos,
                        const std::function<void(const Segment&)>& visit);

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
