// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/host_clocks.hpp — the times of all hosts of a run on one clock, as well as is
// known.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "eventspace/trace/clock_offsets.hpp"
#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// Why: differences of one host's own clock need no other, but a timeline and one-way times do.
class HostClocks {
 public:
  enum class Kind : std::uint8_t {
    own,       ///< each host's own: times of two hosts must not be compared
    one,       ///< there was only one: the virtual clock
    utc,       ///< what each host took for UTC
    measured,  ///< the first host's, by their looks at each other's clocks
  };
  /// The best there is: one, measured where every host's clock was looked at, utc, own. Reads the
  /// whole trace when it must measure. Throws std::runtime_error when a file cannot be read.
  static HostClocks best(const TraceDirectory& trace);
  /// One, or own: what needs no measuring.
  static HostClocks own(const TraceDirectory& trace);
  /// Lines to the first host's clock, one for each host. ENSUREs that.
  static HostClocks measured(const TraceDirectory& trace, std::vector<ClockLine> lines);

  std::int64_t apply(std::uint32_t host, std::int64_t nanos) const;
  void apply(std::uint32_t host, EventRecord& record) const;
  Kind kind() const { return kind_; }
  bool is_common() const { return kind_ != Kind::own; }
  bool moves() const { return kind_ == Kind::utc || kind_ == Kind::measured; }
  bool is_utc() const { return is_utc_; }  ///< times are of UTC
  std::int64_t error_nanos() const;        ///< of the worst host, when measured
  std::string text() const;                ///< for people: "the first host's clock, ..."

 private:
  HostClocks(Kind kind, std::vector<ClockLine> lines) : kind_(kind), lines_(std::move(lines)) {}
  Kind kind_ = Kind::own;
  bool is_utc_ = false;
  std::vector<ClockLine> lines_;
};

}  // namespace eventspace
