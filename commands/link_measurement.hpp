// SPDX-License-Identifier: Apache-2.0
// commands/link_measurement.hpp — what one direction between two sets of hosts is, from bursts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/units.hpp"
#include "commands/bursts.hpp"

namespace commands {

/// What is measured: from the first of the sources, which does it, to the first of the targets, and
/// with streams of all.
struct LinkTask {
  std::vector<std::uint32_t> sources, targets;
  std::size_t streams_most = 1;  ///< that are tried
};

/// A plain value: hosts send it each other.
struct LinkFigures {
  base::Nanos latency{0};  ///< of the way between the two hosts
  double latency_spread = 0;
  double bits_per_second = 0;  ///< of one stream; 0: unlimited
  double bandwidth_spread = 0;
  std::uint64_t streams = 1;  ///< that have the full rate at once
  bool is_least = false;      ///< no more were tried
  bool is_usable = false;     ///< else the machine was busy
  std::uint64_t bytes = 0;
  base::Nanos took{0};
};

/// Latency: of a byte. Rate: the difference of two sizes, so large that it takes some milliseconds.
/// Streams: as many pairs of hosts as need no more than half a stream's share longer than one does,
/// for which byte and message are compared as well, so that what many pairs cost is not counted.
///
/// Why: times as tuning::Measurement has them; where one stream has all of a link, two take twice
///      as long, and where a link has K, one more takes at least 1/K longer (Gupta and Vadhiyar
///      2007 give rates of streams).
LinkFigures measure_link(Bursts& bursts, const LinkTask& task);

/// The different pairs that carry so many streams, each host in as few as can be.
std::vector<HostPair> pairs_of(const LinkTask& task, std::size_t streams);
/// The largest number for which `is_full` holds, up to `most`: doubled, then halved between. It
/// holds for 1, and for none above one for which it does not.
std::size_t most_streams(std::size_t most, const std::function<bool(std::size_t)>& is_full);

/// What it will cost, about.
struct Cost {
  base::Nanos time{0};
  double bytes = 0;
};
Cost cost_of(const LinkTask& task, base::Nanos latency, double bits_per_second,
             std::size_t streams);

}  // namespace commands
