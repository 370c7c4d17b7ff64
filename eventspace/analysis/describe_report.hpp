// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/describe_report.hpp — format of the JSON of a report.
#pragma once
#include "eventspace/analysis/report/object_types.hpp"

namespace eventspace {

/// Returns the format of what `paths analyze --json` writes, with and without `--compare`.
FileFormat report_format();

}  // namespace eventspace
