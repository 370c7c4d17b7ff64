// SPDX-License-Identifier: Apache-2.0
// bench/sor/work.cpp — real, measured and declared cost of relaxation
#include "bench/sor/work.hpp"

#include "bench/support/compute.hpp"

namespace bench {

void Work::run(const Relax& relax) {
  const base::Nanos begin = thread_.now();
  const base::Nanos processor_begin = processor_time();
  const std::size_t half_rows = relax();
  base::Nanos cost{0};
  if (cost_.kind == WorkCost::Kind::measured) cost = processor_time() - processor_begin;
  if (cost_.kind == WorkCost::Kind::declared)
    cost = cost_.per_row * static_cast<std::int64_t>(half_rows) / 2;
  if (cost > base::Nanos(0)) thread_.sleep_for(at_speed(cost, thread_.speed()));
  took_ += thread_.now() - begin;
}

}  // namespace bench
