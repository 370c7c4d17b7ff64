// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/virtual_clock.hpp — simulated time, and the count of context runs
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/units.hpp"

namespace runtime {

using base::Nanos;

/// The simulated time of an executor. It passes only in advance_to(). Private to runtime/.
///
/// Thread-safe: no. Only the executor's OS thread uses it.
class VirtualClock {
 public:
  Nanos now() const { return now_; }
  /// Returns a number that identifies the current virtual time. It starts at 1, and grows whenever
  /// time passes or a run begins.
  std::uint64_t instant() const { return instant_; }
  /// Returns how often contexts have run since the executor was created.
  std::uint64_t events() const { return earlier_runs_ + runs_; }
  /// Returns how often contexts have run at the current time.
  std::uint64_t runs() const { return runs_; }

  /// Begins a run at the time at which the previous run ended.
  void begin_run() {
    ++instant_;
    runs_ = runs_of_services_ = 0;
  }
  /// Lets virtual time pass until `time`, which must be later than now().
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

  /// Whether virtual time has probably stopped for ever: contexts have run very often since time
  /// last passed. `contexts` is the maximum number of live contexts since time last passed. A join
  /// of a million contexts wakes each of them a few times without time passing, so the limit grows
  /// with the number of contexts. There are two limits. The lower limit is for runs of services
  /// without a run of a thread in between, because such runs make no progress for any thread. The
  /// higher limit is for all runs, because threads may do many rounds that take no time.
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
  std::uint64_t runs_of_services_ = 0;  // runs of services since the last run of a thread
};

}  // namespace runtime
