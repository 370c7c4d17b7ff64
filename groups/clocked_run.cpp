// SPDX-License-Identifier: Apache-2.0
// groups/clocked_run.cpp — agreement on a common start, and waits for it.
#include "groups/clocked_run.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <stdexcept>

#include "paths/host/host.hpp"

namespace groups {
namespace {

/// Returns the greatest of the times `mine` that the members pass.
base::Nanos greatest_of_all(Group& group, base::Nanos mine) {
  const std::array<std::int64_t, 1> in{mine.count()};
  std::array<std::int64_t, 1> out{};
  group.run(by("recursive_doubling", allreduce(in, out, "max")));
  return base::Nanos(out.front());
}

}  // namespace

base::Nanos common_clock(const paths::Thread& thread) {
  const runtime::Runtime& runtime = thread.host().runtime();
  return runtime.utc_at_zero() + runtime.now();
}

void sleep_until_common(paths::Thread& thread, base::Nanos moment) {
  constexpr base::Nanos far = std::chrono::minutes(1);
  const base::Nanos left = moment - common_clock(thread);
  const bool is_virtual = thread.host().runtime().is_virtual();
  if (!is_virtual && (left > far || left < -far))
    throw std::runtime_error(fmt::format(
        "host {}: the clocks of the hosts differ by about {}, so that they cannot begin together; "
        "expected UTC to be the same on all machines, as NTP keeps it",
        thread.host().name(), base::format_time(left < base::Nanos(0) ? -left : left)));
  if (left > base::Nanos(0)) thread.sleep_for(left);
}

ClockedRun run_clocked(paths::Thread& thread, Group& group, const std::function<void()>& work,
                       base::Nanos expected) {
  const base::Nanos asked = common_clock(thread);
  const base::Nanos latest = greatest_of_all(group, asked);
  const base::Nanos took = greatest_of_all(group, common_clock(thread) - asked);
  const base::Nanos begin = latest + 3 * took + spare_time_before_start;
  sleep_until_common(thread, begin);
  const base::Nanos late = common_clock(thread) - begin;
  work();
  const base::Nanos ended = common_clock(thread);
  if (ended < begin + expected) thread.sleep_for(begin + expected - ended);
  // Each value has an allreduce of its own, so that members that end early can send their values
  // while other members still work.
  const base::Nanos end = greatest_of_all(group, ended);
  const base::Nanos latest_late = greatest_of_all(group, late);
  return {end - begin - latest_late, latest_late};
}

}  // namespace groups
