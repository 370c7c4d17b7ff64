// SPDX-License-Identifier: Apache-2.0
// tests/support/time_sums.hpp — checks of the sums of times in a report.
#pragma once
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "eventspace/analysis/report/time_report.hpp"

namespace test_support {

inline std::int64_t sum_of(const std::vector<eventspace::TimeRow>& rows) {
  std::int64_t sum = 0;
  for (const eventspace::TimeRow& row : rows) sum += row.nanos;
  return sum;
}

/// Checks that the rows of the report add up to the total time of all threads. Checks that the
/// critical path, and the prediction without a change, each have the length of the run.
inline void check_sums(const eventspace::TimeReport& time) {
  CHECK(sum_of(time.rows) == time.threads_nanos);
  for (const eventspace::TimeRow& row : time.rows) CHECK(row.nanos > 0);
  for (const eventspace::TimeRow& row : time.critical) CHECK(row.nanos > 0);
  if (time.has_critical_path) CHECK(sum_of(time.critical) == time.run_nanos);
  if (time.predicted_nanos != 0) CHECK(time.predicted_nanos == time.run_nanos);
  const eventspace::IterationReport& iterations = time.iterations;
  if (iterations.count == 0) return;
  CHECK(iterations.beginning_nanos >= 0);
  CHECK(iterations.end_nanos >= 0);
}

}  // namespace test_support
