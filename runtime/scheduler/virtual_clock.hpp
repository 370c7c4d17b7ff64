// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/virtual_clock.hpp — the time of a virtual run, and what ran at that time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/units.hpp"

namespace runtime {

using base::Nanos;

/// Private to runtime/. Time passes only by advance_to().
///
/// Sharing: none. Only the OS thread of the executor uses it.
class VirtualClock {
 public:
  Nanos now() const { return now_; }
  /// Counts the times at which something ran; the first is 1.
  std::uint64_t instant() const { return instant_; }
  /// Returns how often contexts have run since the executor was made.
  std::uint64_t events() const { return earlier_runs_ + runs_; }
  /// Returns how often contexts have run at this time.
  std::uint64_t runs() const { return runs_; }

  /// A run begins at the time at which the one before ended.
  void begin_run() {
    ++instant_;
    runs_ = runs_of_services_ = 0;
  }
  /// Requires: a later time.
  void advance_to(Nanos time) {
    now_ = time;
    ++instant_;
    earlier_runs_ += std::exchange(runs_, 0);
    runs_of_services_ = 0;
  }
  void count_run(bool is_of_service) {
    ++runs_;
    runs_of_services_ = is_of_service ? runs_of_services_ + 1 : 0;
  }

  /// Whether so much has run at this time that time will never pass. `contexts`: how many lived at
  /// most since time passed. A join of a million contexts wakes each of them a few times at one
  /// time, so that what is usual grows with their number. Services that run while no thread runs
  /// do not help any thread on; threads may well do many rounds that take no time, and so may run
  /// more often.
  bool stands_still(std::size_t contexts) const {
    constexpr std::uint64_t usual = 1'000'000, usual_of_each = 16, threads_may = 20;
    const std::uint64_t most = std::max(usual, usual_of_each * contexts);
    return runs_of_services_ > most || runs_ > threads_may * most;
  }

 private:
  Nanos now_{0};
  std::uint64_t instant_ = 1;
  std::uint64_t runs_ = 0;
  std::uint64_t earlier_runs_ = 0;
  std::uint64_t runs_of_services_ = 0;  // in a row, while no thread ran
};

}  // namespace runtime
