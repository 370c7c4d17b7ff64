// SPDX-License-Identifier: Apache-2.0
// bench/sor/work.hpp — cost of relaxing rows on the clock of the run
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/units.hpp"
#include "paths/host/thread.hpp"

namespace bench {

/// Time by which the clock of the run advances while a thread relaxes rows.
struct WorkCost {
  enum class Kind : std::uint8_t {
    real,      ///< actual time, on the steady clock
    measured,  ///< measured processor time, on the virtual clock
    declared,  ///< given time for each row
  };
  Kind kind = Kind::real;
  base::Nanos per_row{0};  ///< declared time to relax a row in both colours
};

/// The relaxation work of one thread. Measured or declared times are divided by the speed of the
/// thread's host.
class Work {
 public:
  /// Relaxes rows and returns the number of half rows.
  using Relax = std::function<std::size_t()>;

  Work(paths::Thread& thread, WorkCost cost) : thread_(thread), cost_(cost) {}
  /// Calls `relax` and advances the clock by the cost of the rows that it relaxed.
  void run(const Relax& relax);
  base::Nanos took() const { return took_; }

 private:
  paths::Thread& thread_;
  const WorkCost cost_;
  base::Nanos took_{0};
};

}  // namespace bench
