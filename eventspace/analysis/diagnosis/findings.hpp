// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/findings.hpp — detection of problems in a report, and their
// thresholds.
#pragma once
#include <cstdint>
#include <vector>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

// Thresholds of findings. They are high enough that a run without problems has no findings.

/// slow_host: computation without noise, against the other hosts of the cluster. Both the factor
/// and the excess time must be reached.
inline constexpr double slow_host_factor = 1.03;
inline constexpr std::int64_t slow_host_nanos = 20'000;

/// slow_thread: the same factor and time, against the other threads of the cluster. Both the median
/// without noise and the 10th percentile must be slow. It is not reported if the whole host is
/// slow, or if noise explains the difference.

/// noisy_thread: least noise as a share of computation. At least noisy_outliers computations must
/// be outliers as well.
inline constexpr double noisy_share = 0.001;

/// slow_link: median time of a link, by factor and excess time. It is compared with the declared
/// latency, with the opposite direction, and with links of its kind (between clusters, or within
/// one cluster). The last comparison needs at least three other links, whose middle half is within
/// like_links_factor.
inline constexpr double slow_link_factor = 1.2;
inline constexpr double like_links_factor = 1.1;
inline constexpr std::int64_t slow_link_nanos = 50'000;

/// slow_network: median two-way time of a forward, against forwards between the same clusters.
/// There must be at least three others, as alike as links of one kind.
inline constexpr double slow_network_factor = 1.5;
inline constexpr std::int64_t slow_network_nanos = 300'000;

/// late_broadcast: share of a join's rounds in which a reply is late by late_reply_least_nanos. It
/// is also reported if a link holds replies back for that long on one host (median).
inline constexpr double late_reply_rounds = 0.002;

std::vector<Finding> find_what_stands_out(const Report& report);
/// Adds findings of group operations: slow hosts and threads, and slow links.
void find_in_groups(const GroupsReport& report, std::vector<Finding>& found);

}  // namespace eventspace
