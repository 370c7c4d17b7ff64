// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/describe_report.hpp — the types of all fields of a report.
#pragma once
#include "eventspace/analysis/report/object_types.hpp"

namespace eventspace {

/// Types of what `paths analyze --json` writes, also with `--compare`.
ObjectTypes report_types();

}  // namespace eventspace
