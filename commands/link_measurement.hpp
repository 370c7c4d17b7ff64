// SPDX-License-Identifier: Apache-2.0
// commands/link_measurement.hpp — latency, rate and streams of one direction, measured by bursts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/units.hpp"
#include "commands/bursts.hpp"

namespace commands {

/// The two sides of a measurement. The first source measures latency and rate with the first
/// target. The measurement of streams uses all hosts.
struct LinkTask {
  std::vector<std::uint32_t> sources, targets;
  std::size_t streams_most = 1;  ///< maximum number of streams to try
};

/// Results of a measurement. Trivially copyable, because hosts send it to each other.
struct LinkFigures {
  base::Nanos latency{0};  ///< latency between the two hosts
  double latency_spread = 0;
  double bits_per_second = 0;  ///< rate of one stream; 0 = unlimited
  double bandwidth_spread = 0;
  std::uint64_t streams = 1;  ///< streams that together reach the full rate of the link
  /// Whether `streams` is only a lower bound, because no more streams were tried.
  bool is_least = false;
  bool is_usable = false;  ///< false if the machine was too busy
  std::uint64_t bytes = 0;
  base::Nanos took{0};
};

/// Measures one direction:
/// - Latency: the time of one byte.
/// - Rate: the difference between the times of two sizes that are large enough to take some
///   milliseconds.
/// - Streams: the largest number K of pairs of hosts that can send at once with almost no delay.
///   The time of K pairs may exceed the time of one pair by a factor of at most 1 + 1/(2K). All
///   times are the time of a message minus the time of a byte. The overhead of many pairs is in
///   both, and cancels.
///
/// Why: If one stream fills a link, two streams take twice as long. If K streams fill the link, K +
///      1 streams take longer by a factor of at least 1 + 1/K. How samples become one time is
///      described at tuning::Measurement.
/// Paper: Gupta and Vadhiyar 2007 give rates of streams.
LinkFigures measure_link(Bursts& bursts, const LinkTask& task);

/// Returns distinct pairs for that many streams. Each host is in as few pairs as possible.
std::vector<HostPair> pairs_of(const LinkTask& task, std::size_t streams);
/// Returns the largest number up to `most` for which `is_full` holds. The search doubles the
/// number, then bisects.
/// Requires: `is_full` holds for 1. If it does not hold for a number, it holds for no larger
///           number.
std::size_t most_streams(std::size_t most, const std::function<bool(std::size_t)>& is_full);

/// Estimated cost of a measurement.
struct Cost {
  base::Nanos time{0};
  double bytes = 0;
};
Cost cost_of(const LinkTask& task, base::Nanos latency, double bits_per_second,
             std::size_t streams);

}  // namespace commands
