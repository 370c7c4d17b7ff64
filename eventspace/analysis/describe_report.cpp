// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/describe_report.cpp — format of the JSON of a report.
#include "eventspace/analysis/describe_report.hpp"

#include "eventspace/analysis/analyze_trace.hpp"
#include "eventspace/analysis/report/compare.hpp"

namespace eventspace {

FileFormat report_format() {
  FileFormat format{
      .title = "report",
      .title_with_article = "a report",
      .description = "Output of `paths analyze --json` and `paths analyze --compare --json`.",
      .root = {{"type", "object"},
               {"required", {"format"}},
               {"if", {{"properties", {{"format", {{"const", "paths-comparison"}}}}}}},
               {"then", {{"$ref", "#/$defs/comparison"}}},
               {"else", {{"$ref", "#/$defs/report"}}}},
      .introduction =
          "`paths analyze --json` writes a [report](#report), with `--compare` a "
          "[comparison](#comparison). [analysis.md](analysis.md) explains the figures.",
      .types = {}};
  format.types.add(TraceReport{});
  format.types.add(Comparison{});
  return format;
}

}  // namespace eventspace
