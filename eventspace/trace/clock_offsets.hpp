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

/// Conversion from one clock to another by a straight line: the time t becomes
/// t + offset + drift * (t - at). The error is at most `error_nanos`.
struct ClockLine {
  std::int64_t at_nanos = 0;
  std::int64_t offset_nanos = 0;
  double drift = 0;
  std::int64_t error_nanos = 0;
  std::int64_t apply(std::int64_t nanos) const;
  ClockLine inverse() const;
  ClockLine then(const ClockLine& next) const;
};

/// ClockOffsets converts the times of all hosts of a run to one clock. During the run, hosts read
/// each other's clocks. Each read is called a look. It is quick if its round-trip time is short.
///
/// The conversion between two clocks (ClockLine) is a straight line through two looks. One is the
/// quickest look in the first part of the run, the other the quickest in the last part. The error
/// of a look is at most half of its round-trip time. For times before the first and after the
/// second of these looks, the error grows with the uncertainty of the line's slope, but no faster
/// than clock_drift_max. If two hosts did not look at each other's clocks, their conversion is a
/// chain of lines through other hosts. The chain with the least sum of errors is used.
///
/// Paper: Cristian 1989.
inline constexpr double clock_drift_max = 1e-4;
class ClockOffsets {
 public:
  explicit ClockOffsets(const Structure& structure);
  void add(std::uint32_t host, std::span<const EventRecord> records);
  /// Returns for each host the conversion from its clock to a common clock. The common clock is
  /// the clock of the first host that took part in a look (a reading of another host's clock). The
  /// conversion is nullopt if no chain of looks connects the two hosts.
  std::vector<std::optional<ClockLine>> lines() const;

 private:
  struct Look {
    std::int64_t at_nanos;      ///< middle between the times of the request and its reply
    std::int64_t offset_nanos;  ///< time of the other clock minus time of this one
    std::int64_t error_nanos;
  };
  // Host that looks, host whose clock it reads.
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  struct Span {
    std::int64_t first = INT64_MAX;
    std::int64_t last = INT64_MIN;
  };
  static ClockLine line_of(const std::vector<Look>& looks, const Span& needed);

  std::uint32_t hosts_;
  std::vector<Span> spans_;  ///< first and last time in each host's records
  std::map<Pair, std::vector<Look>> looks_;
};

}  // namespace eventspace
