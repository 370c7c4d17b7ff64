// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/host_clocks.hpp — conversion of all hosts' times to one clock.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "eventspace/trace/clock_offsets.hpp"
#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// Converts the times of all hosts of a run to one clock, as exactly as the trace permits.
///
/// Why: Differences between two times of the same host need only the clock of this host. A
///      timeline, and one-way times between hosts, need a clock that all hosts have in common.
class HostClocks {
 public:
  enum class Kind : std::uint8_t {
    own,       ///< each host's own clock, so times of two hosts are not comparable
    one,       ///< the virtual clock, the same for all hosts
    utc,       ///< UTC, as precise as each host's system clock
    measured,  ///< clock of one host; offsets are measured by readings (clock_offsets.hpp)
  };
  /// Returns the best clocks that the trace permits. The order of preference is `one`, `measured`
  /// (if clock readings connect all hosts), `utc`, `own`. Reads the whole trace if it must measure.
  /// Throws: std::runtime_error if a file cannot be read.
  static HostClocks best(const TraceDirectory& trace);
  /// Like best(), but never returns `utc`. Use these clocks to compare times of different hosts.
  /// UTC is not suitable, because it may be wrong by more than the compared times.
  /// Throws: std::runtime_error if a file cannot be read.
  static HostClocks compared(const TraceDirectory& trace);
  /// Returns clocks of the kind `one` for a run on the virtual clock, otherwise clocks of the kind
  /// `own`. Neither kind needs a measurement.
  static HostClocks own(const TraceDirectory& trace);
  /// Returns clocks of the kind `measured`. `lines` are the conversions to a common clock. It is
  /// the clock of the host whose file is the first.
  /// Requires: `lines` has one entry for each host.
  static HostClocks measured(const TraceDirectory& trace, std::vector<ClockLine> lines);

  std::int64_t apply(std::uint32_t host, std::int64_t nanos) const;
  void apply(std::uint32_t host, EventRecord& record) const;
  Kind kind() const { return kind_; }
  bool is_common() const { return kind_ != Kind::own; }
  bool moves() const { return kind_ == Kind::utc || kind_ == Kind::measured; }
  bool is_utc() const { return is_utc_; }  ///< whether times are UTC
  std::int64_t error_nanos() const;        ///< largest error of any host if `measured`, otherwise 0
  std::string text() const;  ///< description for people: "one clock by measured offsets, ..."

 private:
  HostClocks(Kind kind, std::vector<ClockLine> lines) : kind_(kind), lines_(std::move(lines)) {}
  Kind kind_ = Kind::own;
  bool is_utc_ = false;
  std::vector<ClockLine> lines_;
};

}  // namespace eventspace
