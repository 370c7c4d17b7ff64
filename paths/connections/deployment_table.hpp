// SPDX-License-Identifier: Apache-2.0
// paths/connections/deployment_table.hpp — numbers that match deploy() calls of different hosts
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace paths {

/// Numbers this host's calls of deploy() with one label. Calls of different hosts with the same
/// label and number belong together. No leader assigns the numbers.
///
/// A call gets the next number after this host's last call, also if the last call failed. If
/// another host is known to use a higher number, the call gets that higher number. If a host
/// skipped a call, its next call therefore matches the calls of the other hosts again.
///
/// Thread-safe: no; the owner locks.
class DeploymentTable {
 public:
  enum class Meaning : std::uint8_t {
    now,    ///< number of the call that is under way
    later,  ///< number of a call that this host has not made yet
    ended,  ///< number of a call that this host has ended, or never made
  };

  /// Maximum difference between the number of another host's call and the number of this host's
  /// latest call.
  /// Why: a number near 2^64 would leave no numbers for later calls.
  static constexpr std::uint64_t ahead_max = 1024;

  bool is_under_way() const { return is_under_way_; }
  std::uint64_t number() const { return number_; }          ///< number of this host's latest call
  const std::string& how_it_ended() const { return how_; }  ///< how the latest ended call ended

  /// Begins a call of deploy() and returns the number of the call.
  std::uint64_t begin() {
    number_ = std::max(number_ + 1, heard_);
    is_under_way_ = true;
    return number_;
  }
  void end(std::string how) {
    is_under_way_ = false;
    how_ = std::move(how);
  }
  /// Returns whether `number`, of another host's call, is more than ahead_max above the number of
  /// this host's latest call. This host refuses such a call.
  bool is_too_far(std::uint64_t number) const {
    return number > number_ && number - number_ > ahead_max;
  }
  /// Notes that another host has called deploy() with the number `number`. Ignores a number that is
  /// too far ahead (is_too_far()).
  void hear(std::uint64_t number) {
    if (!is_too_far(number)) heard_ = std::max(heard_, number);
  }
  Meaning meaning_of(std::uint64_t number) const {
    if (number > number_) return Meaning::later;
    return number == number_ && is_under_way_ ? Meaning::now : Meaning::ended;
  }

 private:
  std::uint64_t number_ = 0;
  std::uint64_t heard_ = 0;
  bool is_under_way_ = false;
  std::string how_;
};

}  // namespace paths
