// SPDX-License-Identifier: Apache-2.0
// bench/support/report_element.hpp — the element in which hosts that are processes tell thread 0.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "paths/plan/plan.hpp"

namespace bench {

inline constexpr std::string_view report_element = "report";

/// That of thread 0.
std::uint32_t first_host(const paths::Plan& plan);
/// Whose threads reach the element `report`, in order.
std::vector<std::uint32_t> reporting_hosts(const paths::Plan& plan);
/// Whether all hosts with threads do.
bool do_all_report(const paths::Plan& plan);
/// Throws std::invalid_argument when the config has such an element that would not take or keep
/// what hosts tell.
void check_report_element(const paths::Plan& plan);

}  // namespace bench
