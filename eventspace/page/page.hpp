// SPDX-License-Identifier: Apache-2.0
// eventspace/page/page.hpp — a report as one HTML file to look at, which needs nothing else.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/analysis/report/report.hpp"
#include "eventspace/page/page_timeline.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

/// What the page says of the run itself.
struct PageHead {
  std::string title;                 ///< the trace directory
  std::vector<std::string> command;  ///< as in the trace
  std::string version;               ///< of PATHS
  std::string clock;                 ///< "virtual" or "steady"
  std::string started;
  std::vector<std::string> losses;  ///< what of the trace could not be used, for people
};

/// What eventspace/page/web/src/data.ts reads: JSON of the head, the report, the trees and the
/// timeline.
std::string page_json(const Structure& structure, const Report& report,
                      const PageTimelineReport& timeline, const PageHead& head);
/// The same, deflated and in base64: it stands in the page as text.
std::string page_data(std::string_view json);

/// Throws std::runtime_error when the file cannot be written, or when this program was built
/// without Node, so that it has no page to put the data into.
void write_page(const std::filesystem::path& file, const Structure& structure, const Report& report,
                const PageTimelineReport& timeline, const PageHead& head);

/// The page without data, as eventspace/page/web/build.mjs made it; empty when it was not built.
/// Its definition is generated.
std::string_view page_template();

}  // namespace eventspace
