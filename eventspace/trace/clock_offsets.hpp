// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/clock_offsets.hpp — offsets and drifts between the hosts' clocks.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "eventspace/record.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

/// Conversion from one clock to another by a straight line: the time t becomes t + offset_nanos +
/// drift * (t - at_nanos). The error is at most `error_nanos`.
struct ClockLine {
  std::int64_t at_nanos = 0;
  std::int64_t offset_nanos = 0;
  double drift = 0;
  std::int64_t error_nanos = 0;
  std::int64_t apply(std::int64_t nanos) const;
  ClockLine inverse() const;
  ClockLine then(const ClockLine& next) const;
};

/// Maximum rate at which two clocks are assumed to drift apart: 100 microseconds per second.
inline constexpr double clock_drift_max = 1e-4;

/// Converts the times of all hosts of a run to one clock. During the run, hosts read each other's
/// clocks. A reading of another host's clock is called a look. A look is quick if its round-trip
/// time is short.
///
/// The conversion between two clocks (ClockLine) is a straight line through two looks. The first is
/// the quickest look of the first quarter of the looks, the second the quickest look of the last
/// quarter. The error of a look is at most half of its round-trip time. For times before the first
/// look and after the second look, the error grows with the uncertainty of the line's slope, but no
/// faster than clock_drift_max. If two hosts did not look at each other's clocks, the conversion
/// between their clocks is a chain of lines through other hosts. If several chains are possible,
/// the chain with the least sum of errors is used.
///
/// Paper: Cristian 1989.
class ClockOffsets {
 public:
  explicit ClockOffsets(const Structure& structure);
  void add(std::uint32_t host, std::span<const EventRecord> records);
  /// Returns for each host the conversion from its clock to the clock of the host `common`. The
  /// conversion of a host is nullopt if no chain of looks connects the host with `common`.
  std::vector<std::optional<ClockLine>> lines(std::uint32_t common) const;

 private:
  struct Look {
    std::int64_t at_nanos;      ///< middle between request and reply, on the reader's clock
    std::int64_t offset_nanos;  ///< time of the other clock minus `at_nanos`
    std::int64_t error_nanos;
  };
  // Host that reads a clock, and host whose clock it reads.
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  struct Span {
    std::int64_t first = INT64_MAX;
    std::int64_t last = INT64_MIN;
  };
  static ClockLine line_of(const std::vector<Look>& looks, const Span& needed);

  std::uint32_t hosts_;
  std::vector<Span> spans_;  ///< first and last time in the records of each host
  std::map<Pair, std::vector<Look>> looks_;
};

}  // namespace eventspace
