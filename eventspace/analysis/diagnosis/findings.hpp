// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/findings.hpp — detection of problems in a report, and their
// thresholds.
#pragma once
#include <cstdint>
#include <vector>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

// Thresholds of findings. They are high enough that a run without problems has no findings.

/// Finding slow_host: factor and excess time by which the computation of a host, without noise, is
/// longer than on the other hosts of its cluster. Both must be reached.
inline constexpr double slow_host_factor = 1.03;
inline constexpr std::int64_t slow_host_nanos = 20'000;
/// Slow hosts of one cluster whose computations differ by at most this share are one finding.
inline constexpr double alike_share = 0.1;

/// Finding slow_thread: the thresholds of slow_host, for a thread compared with the other threads
/// of the cluster. Both its median without noise and its 10th percentile must reach them. The
/// thread is not reported if its whole host is slow, or if noise explains the difference.

/// Finding noisy_thread: least share of noise in the computation time of a thread. In addition, at
/// least noisy_outliers computations must be outliers.
inline constexpr double noisy_share = 0.001;

/// Finding slow_link: factor and excess time by which the median time of a link is longer than
/// expected. The expected time is the declared latency, the time of the opposite direction, or the
/// time of links of the same kind (between clusters, or within one cluster). The last of these
/// needs at least three other links, and the middle half of their times must be within
/// like_links_factor.
inline constexpr double slow_link_factor = 1.2;
inline constexpr double like_links_factor = 1.1;
inline constexpr std::int64_t slow_link_nanos = 50'000;

/// Finding slow_network: factor and excess time by which the median two-way time of a `forward` is
/// longer than the median of other `forward`s between the same clusters. At least three others are
/// needed, and their times must be within like_links_factor.
inline constexpr double slow_network_factor = 1.5;
inline constexpr std::int64_t slow_network_nanos = 300'000;

/// Finding late_broadcast: least share of a join's rounds that have late replies. A reply is late
/// if its delay is at least late_reply_least_nanos. The finding is also made if a link within one
/// host delays replies by a median of at least late_reply_least_nanos.
inline constexpr double late_reply_rounds = 0.002;

/// Returns one / other; 0 if `other` is 0.
double ratio(std::int64_t one, std::int64_t other);
/// Whether a median exceeds the median of the others by the thresholds of slow_host. False if
/// `others` is 0.
bool is_slower(std::int64_t nanos, std::int64_t others);
/// Whether a median exceeds the expected one by the thresholds of slow_link. False if `expected` is
/// 0 or less.
bool is_slow_link(std::int64_t nanos, std::int64_t expected);
/// Returns the median of the values. Returns 0 if there are too few, or if they are too different.
std::int64_t usual_of(std::vector<std::int64_t> others);

std::vector<Finding> find_what_stands_out(const Report& report);
/// Adds findings of group operations: slow hosts and threads, and slow links.
void find_in_groups(const GroupsReport& report, std::vector<Finding>& found);

}  // namespace eventspace
