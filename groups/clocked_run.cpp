// SPDX-License-Identifier: Apache-2.0
// groups/clocked_run.cpp — agreement on a common start, and waits for it.
#include "groups/clocked_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

#include "paths/host/host.hpp"

namespace groups {
namespace {

/// Additional time before a common start. It covers slow messages of the exchange in which the
/// members agree on the start time.
constexpr base::Nanos spare_time = std::chrono::milliseconds(20);

/// Returns the greatest times of all members.
template <std::size_t count>
std::array<base::Nanos, count> greatest_of_all(Group& group,
                                               const std::array<base::Nanos, count>& mine) {
  std::array<std::int64_t, count> in{}, out{};
  std::transform(mine.begin(), mine.end(), in.begin(), [](base::Nanos one) { return one.count(); });
  group.run(by("recursive_doubling", allreduce(in, out, "max")));
  std::array<base::Nanos, count> all{};
  std::transform(out.begin(), out.end(), all.begin(),
                 [](std::int64_t one) { return base::Nanos(one); });
  return all;
}

}  // namespace

base::Nanos common_clock(const paths::Thread& thread) {
  const runtime::Runtime& runtime = thread.host().runtime();
  return runtime.is_virtual() ? runtime.now() : runtime.utc_at_zero() + runtime.now();
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

ClockedRun run_clocked(paths::Thread& thread, Group& group, const std::function<void()>& work) {
  const base::Nanos asked = common_clock(thread);
  const auto [latest] = greatest_of_all<1>(group, {asked});
  const auto [took] = greatest_of_all<1>(group, {common_clock(thread) - asked});
  const base::Nanos begin = latest + 3 * took + spare_time;
  sleep_until_common(thread, begin);
  const base::Nanos late = common_clock(thread) - begin;
  work();
  const auto [end, latest_start] = greatest_of_all<2>(group, {common_clock(thread), late});
  return {end - begin, latest_start};
}

}  // namespace groups
