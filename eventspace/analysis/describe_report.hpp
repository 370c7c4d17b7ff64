// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/describe_report.hpp — types of all fields of a report.
#pragma once
#include "eventspace/analysis/report/object_types.hpp"

namespace eventspace {

/// Returns the types that `paths analyze --json` writes, with and without `--compare`.
ObjectTypes report_types();

}  // namespace eventspace
