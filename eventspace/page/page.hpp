// SPDX-License-Identifier: Apache-2.0
// eventspace/page/page.hpp — export of a report as one self-contained HTML file.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/analysis/report/report.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

/// Facts about the run for the head of the page.
struct PageHead {
  std::string title;                 ///< path of the trace directory
  std::vector<std::string> command;  ///< command line of the run, as in the trace
  std::string version;               ///< version of PATHS
  std::string clock;                 ///< "virtual" or "steady"
  std::string started;
  /// Sentences about the parts of the trace that could not be used.
  std::vector<std::string> losses;
};

/// Maximum number of timeline parts (TimelineReport::Part) in a page. The maximum limits a page to
/// a few megabytes.
inline constexpr std::size_t page_timeline_parts = 200'000;

/// Returns the JSON that eventspace/page/web/src/data.ts reads: the head, the report, the trees and
/// the timeline.
std::string page_json(const Structure& structure, const Report& report, const PageHead& head);
/// Returns `json` deflated and in base64, as the page contains it.
std::string page_data(std::string_view json);

/// Writes the page. Throws: std::runtime_error if the file cannot be written. Also if the program
/// has no page template because it was built without Node.
void write_page(const std::filesystem::path& file, const Structure& structure, const Report& report,
                const PageHead& head);

/// Returns the page without data, as eventspace/page/web/build.mjs built it. Returns "" if the page
/// was not built. The definition of this function is generated.
std::string_view page_template();

}  // namespace eventspace
