// SPDX-License-Identifier: Apache-2.0
// bench/sor/work.hpp — what relaxing rows costs on the clock of the run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/units.hpp"
#include "paths/host/thread.hpp"

namespace bench {

/// How long relaxing takes, as the threads see it.
struct WorkCost {
  enum class Kind : std::uint8_t {
    real,      ///< as long as it takes: on the steady clock
    measured,  ///< the processor time it took, on the virtual clock
    declared,  ///< a given time for each row
  };
  Kind kind = Kind::real;
  base::Nanos per_row{0};  ///< declared, for both colours of a row
};

/// One thread's relaxing. What is measured or declared is divided by the speed of its host.
class Work {
 public:
  /// Relaxes rows and answers how many half rows they were.
  using Relax = std::function<std::size_t()>;

  Work(paths::Thread& thread, WorkCost cost) : thread_(thread), cost_(cost) {}
  /// Relaxes, and lets the time of it pass.
  void run(const Relax& relax);
  base::Nanos took() const { return took_; }

 private:
  paths::Thread& thread_;
  const WorkCost cost_;
  base::Nanos took_{0};
};

}  // namespace bench
