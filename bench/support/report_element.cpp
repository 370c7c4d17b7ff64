// SPDX-License-Identifier: Apache-2.0
// bench/support/report_element.cpp — search for the element `report` in a plan
#include "bench/support/report_element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace bench {

std::uint32_t first_host(const paths::Plan& plan) {
  const auto found = std::find_if(plan.hosts.begin(), plan.hosts.end(),
                                  [](const auto& host) { return host.threads > 0; });
  return static_cast<std::uint32_t>(found - plan.hosts.begin());
}

std::vector<std::uint32_t> reporting_hosts(const paths::Plan& plan) {
  std::set<std::uint32_t> hosts;
  for (const auto& path : plan.paths)
    if (path.graph == report_element && path.threads > 0) hosts.insert(path.host);
  return {hosts.begin(), hosts.end()};
}

bool do_all_report(const paths::Plan& plan) {
  const auto computing = std::count_if(plan.hosts.begin(), plan.hosts.end(),
                                       [](const auto& host) { return host.threads > 0; });
  return reporting_hosts(plan).size() == static_cast<std::size_t>(computing);
}

void check_report_element(const paths::Plan& plan) {
  for (const auto& element : plan.elements) {
    if (element.name != report_element) continue;
    const std::string form = element.tuple_template.text();
    if (form != "bytes" || element.keep_newest > 0)
      throw std::invalid_argument(fmt::format(
          "element {}: expected template \"bytes\" and no keep_newest, for hosts to tell thread 0 "
          "their figures, found template \"{}\" and keep_newest {}",
          report_element, form, element.keep_newest));
  }
}

}  // namespace bench
