// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/describe_report.cpp — types of all fields of a report.
#include "eventspace/analysis/describe_report.hpp"

#include "eventspace/analysis/analyze_trace.hpp"
#include "eventspace/analysis/report/compare.hpp"

namespace eventspace {

ObjectTypes report_types() {
  ObjectTypes types;
  types.add(TraceReport{});
  types.add(Comparison{});
  return types;
}

}  // namespace eventspace
