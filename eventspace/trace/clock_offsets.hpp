// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/clock_offsets.hpp — what the clock of each host shows when that of the first
// shows t.
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

/// From one clock to another: t becomes t + offset + drift * (t - at), off by at most `error`.
struct ClockLine {
  std::int64_t at_nanos = 0;
  std::int64_t offset_nanos = 0;
  double drift = 0;
  std::int64_t error_nanos = 0;
  std::int64_t apply(std::int64_t nanos) const;
  ClockLine inverse() const;
  ClockLine then(const ClockLine& next) const;
};

/// Puts the hosts of a run on one clock from their looks at each other's: the quickest look in the
/// first and in the last part of the run, which bound a difference by half of what they took
/// (Cristian 1989), and a straight line between. Beyond them the bound grows: by what the line's
/// slope may be wrong, but no faster than clocks drift (clock_drift_max). Hosts that did not look
/// at each other are compared by way of others, such that the bounds add up to least.
inline constexpr double clock_drift_max = 1e-4;
class ClockOffsets {
 public:
  explicit ClockOffsets(const Structure& structure);
  void add(std::uint32_t host, std::span<const EventRecord> records);
  /// Of each host, to the clock of the first host that looked or was looked at; nothing for a host
  /// whose clock nothing says anything about.
  std::vector<std::optional<ClockLine>> lines() const;

 private:
  struct Look {
    std::int64_t at_nanos;      ///< in the middle of asking and being answered
    std::int64_t offset_nanos;  ///< the other clock less this one
    std::int64_t error_nanos;
  };
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // who looked, at whom
  struct Span {
    std::int64_t first = INT64_MAX;
    std::int64_t last = INT64_MIN;
  };
  static ClockLine line_of(const std::vector<Look>& looks, const Span& needed);

  std::uint32_t hosts_;
  std::vector<Span> spans_;  ///< of each host's records
  std::map<Pair, std::vector<Look>> looks_;
};

}  // namespace eventspace
