// SPDX-License-Identifier: Apache-2.0
// commands/link_measurement.hpp — measurement of latency, rate and streams in one direction, by
// bursts of messages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/units.hpp"
#include "commands/bursts.hpp"
#include "paths/plan/plan.hpp"

namespace commands {

/// Sending and receiving hosts of a measurement. Latency and rate are measured between the first
/// source and the first target. The number of streams is measured with all hosts.
struct LinkTask {
  std::vector<std::uint32_t> sources, targets;
  std::size_t streams_most = 1;  ///< maximum number of pairs of hosts to try at the same time
};

/// Results of a measurement. The struct is trivially copyable, because hosts send it to each other.
struct LinkFigures {
  base::Nanos latency{0};  ///< latency from the first source to the first target
  double latency_spread = 0;
  double bits_per_second = 0;  ///< rate of one stream; 0 = unlimited
  double bandwidth_spread = 0;
  std::uint64_t streams = 1;  ///< streams that together reach the full rate of the link
  /// Whether `streams` is only a lower bound, because even the largest number that was tried did
  /// not fill the link.
  bool is_least = false;
  bool is_usable = false;  ///< false if other programs disturbed the measurement
  std::uint64_t bytes = 0;
  base::Nanos took{0};
};

/// Measures latency, rate and streams in one direction:
/// - Latency: the time of one byte.
/// - Rate: the difference between the times of two sizes that are large enough to take some
///   milliseconds.
/// - Streams: the largest number K of pairs of hosts that can send at the same time with almost no
///   delay. K pairs must take at most 1 + 1/(2K) times as long as one pair. Each time is the time
///   of long messages minus the time of one-byte messages, so that the overhead of many pairs
///   cancels.
///
/// Why: If K streams fill the link, K + 1 streams take at least 1 + 1/K times as long. This exceeds
///      the limit for K + 1 pairs, 1 + 1/(2(K + 1)). tuning::Measurement describes how one time is
///      computed from samples.
/// Paper: Gupta and Vadhiyar 2007 measured rates of streams.
LinkFigures measure_link(Bursts& bursts, const LinkTask& task);

/// Returns `streams` different pairs of a source and a target. The pairs are spread evenly over the
/// hosts.
std::vector<HostPair> pairs_of(const LinkTask& task, std::size_t streams);
/// Returns the largest number of streams, up to `most`, for which `is_full` returns true. Doubles
/// the number until `is_full` returns false, then bisects.
/// Requires: `is_full` returns true for 1 stream. If `is_full` returns false for a number of
///           streams, it also returns false for all larger numbers.
std::size_t most_streams(std::size_t most, const std::function<bool(std::size_t)>& is_full);

/// Returns how many pairs of hosts of the task can send at `rate` bits per second at the same time.
/// All links on the ways between these hosts can limit the number.
std::size_t streams_carried(const paths::Plan& plan, const LinkTask& task, double rate);

/// Estimated duration and traffic of a measurement.
struct Cost {
  base::Nanos time{0};
  double bytes = 0;
};
Cost cost_of(const LinkTask& task, base::Nanos latency, double bits_per_second,
             std::size_t streams);

}  // namespace commands
