// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/findings.hpp — what in a report stands out enough to be named.
#pragma once
#include <cstdint>
#include <vector>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

// What must be the case for something to be named. Below these nothing is, so that a run in which
// nothing is wrong has no findings.

/// slow_host: without its noise it computes so much longer than the others of its cluster, and by
/// so much in time.
inline constexpr double slow_host_factor = 1.03;
inline constexpr std::int64_t slow_host_nanos = 20'000;

/// slow_thread: as much longer than the other threads of its cluster, by its median without noise
/// and by its least tenth, when it is not its host that is slow, nor noise that it is named for.

/// noisy_thread: noisy_outliers of its computations at least, and so much of its computation.
inline constexpr double noisy_share = 0.001;

/// slow_link: its median time against the one declared, against the same link the other way, or
/// against the links of its kind (between clusters, or within one cluster) when there are three at
/// least and the middle half of them are within like_links_factor; and by so much in time.
inline constexpr double slow_link_factor = 1.2;
inline constexpr double like_links_factor = 1.1;
inline constexpr std::int64_t slow_link_nanos = 50'000;

/// slow_network: the median two-way time of a forward against those between the same clusters,
/// three others at least and as like each other.
inline constexpr double slow_network_factor = 1.5;
inline constexpr std::int64_t slow_network_nanos = 300'000;

/// late_broadcast: replies late by late_reply_least_nanos, in so many of the join's rounds. Or a
/// link that holds a reply back on one host for so long (median).
inline constexpr double late_reply_rounds = 0.002;

std::vector<Finding> find_what_stands_out(const Report& report);
/// The same of operations of groups: threads and hosts that come late, links.
void find_in_groups(const GroupsReport& report, std::vector<Finding>& found);

}  // namespace eventspace
