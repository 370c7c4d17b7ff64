// SPDX-License-Identifier: Apache-2.0
// paths/machine/member_waits.cpp — polling before a sleep, and wake-ups
#include "paths/machine/member_waits.hpp"

#include "runtime/processes/between_processes.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Polls `word` for a short time. Returns whether its value differs from `seen`.
bool MemberWaits::has_changed_soon(const std::atomic<std::uint32_t>& word,
                                   std::uint32_t seen) const {
  constexpr runtime::Reason reason{"members of a machine"};
  return runtime::look_at(word, seen, runtime::Deadline::never(), reason,
                          static_cast<int>(region_.members()));
}

void MemberWaits::wake_sleepers() {
  if (region_.sleepers().load(std::memory_order_seq_cst) == 0) return;
  const std::uint64_t sleep = region_.sleepers().exchange(0, std::memory_order_seq_cst);
  for (std::uint32_t member = 0; member < region_.members(); ++member)
    if (member != me_ && (sleep >> member & 1) != 0) alarm_.wake(member);
}

void MemberWaits::await_failure(std::uint64_t turn) {
  const auto has_failed = [&] {
    const std::uint64_t failed = region_.first_failed().load(std::memory_order_acquire);
    return failed != 0 && failed <= turn;
  };
  for (bool is_again = false; has_failed(); is_again = true)
    alarm_.sleep([] { return std::vector<std::uint32_t>(); }, is_again);
}

}  // namespace paths
