// SPDX-License-Identifier: Apache-2.0
// bench/support/report_element.hpp — element in which host processes report to thread 0
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "paths/plan/plan.hpp"

namespace bench {

inline constexpr std::string_view report_element = "report";

/// Returns the host of thread 0.
std::uint32_t first_host(const paths::Plan& plan);
/// Returns the hosts whose threads have a path to the element `report`, in the plan's order.
std::vector<std::uint32_t> reporting_hosts(const paths::Plan& plan);
/// Returns whether all hosts with threads have a path to the element `report`.
bool do_all_report(const paths::Plan& plan);
/// Throws std::invalid_argument if the config's element `report` cannot accept the reports, or does
/// not keep them until thread 0 reads them.
void check_report_element(const paths::Plan& plan);

}  // namespace bench
