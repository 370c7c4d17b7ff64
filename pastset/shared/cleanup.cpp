// SPDX-License-Identifier: Apache-2.0
// pastset/shared/cleanup.cpp — cleanup after dead processes, and the end of this process
#include "pastset/shared/cleanup.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "pastset/shared/log/log.hpp"
#include "runtime/polling/moment.hpp"

namespace pastset::shared {
namespace {

/// Removes what a process has left in one element: its waiting moves and its bits. Returns false if
/// another process holds the element.
template <class View>
bool clear_in(View view, std::uint32_t process, const std::string& who, base::Nanos patience) {
  try {
    std::optional<SharedLog> log = view();
    if (!log) return true;
    if (!log->try_take(patience)) return false;
    const SharedLog::Held held(*log);
    log->forget(process, who);
  } catch (const ElementError&) {
    // An overwritten element has nothing to clear.
  }
  return true;
}

/// Removes what a dead process has left, and frees its entry last. If this process dies during the
/// call, or if an element is held, a later call completes the work.
/// Requires: the lock of the list of processes (Directory) is held.
bool clear_place(const SharedMapping& mapping, std::uint32_t process) {
  bool is_all_cleared = true;
  const std::string name = mapping.processes().describe(process);
  mapping.processes().note_death(process);
  mapping.arena().forget(process);
  for (std::uint32_t i = 0; i < shared_elements_max; ++i) {
    if (mapping.segment().elements[i].state == shared::Element::nothing) continue;
    const auto view = [&] { return std::optional<SharedLog>(SharedLog(mapping, i)); };
    is_all_cleared &= clear_in(view, process, name, SharedMapping::brief_patience);
  }
  if (is_all_cleared) mapping.processes().remove(process);
  return is_all_cleared;
}

}  // namespace

/// Holds the lock of the list of processes (Directory) during the whole call. Otherwise a new
/// process could take the entry of the dead process between the check and the removal.
bool clear(const SharedMapping& mapping, const runtime::ProcessIdentity& process) {
  const SharedMapping::Directory held(mapping);
  return clear_locked(mapping, process);
}

bool clear_locked(const SharedMapping& mapping, const runtime::ProcessIdentity& process) {
  const auto all = mapping.processes().all();
  bool is_all_cleared = true;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i] != process || i == mapping.me()) continue;
    if (!mapping.processes().lives(process.pid)) {  // no live process of the space has this pid
      mapping.segment().arena_lock.leave_for(process.pid);
      for (shared::Element& element : mapping.segment().elements)
        element.lock.leave_for(process.pid);
    }
    is_all_cleared &= clear_place(mapping, i);
  }
  return is_all_cleared;
}

/// Detaches this process. Does not hold the lock of the list of processes (Directory) while it
/// waits for an element: other processes may die in that time, and must be cleared. If the entry of
/// this process cannot be freed now, another process clears the entry after the end of this
/// process.
void leave(const SharedMapping& mapping) {
  {
    const SharedMapping::Directory held(mapping);
    if (mapping.segment().owner == mapping.me() + 1) mapping.segment().owner = 0;
  }
  const base::Nanos end = runtime::steady_now() + mapping.lock_patience();
  bool is_all_cleared = true;
  for (std::uint32_t i = 0; i < shared_elements_max; ++i) {
    const auto view = [&]() -> std::optional<SharedLog> {
      // With this lock, no other process changes the sizes while the view is made.
      const SharedMapping::Directory held(mapping);
      if (mapping.segment().elements[i].state == shared::Element::nothing) return std::nullopt;
      return SharedLog(mapping, i);
    };
    is_all_cleared &=
        clear_in(view, mapping.me(), "",
                 std::max(end - runtime::steady_now(), SharedMapping::brief_patience));
  }
  mapping.arena().forget(mapping.me());
  const SharedMapping::Directory held(mapping);
  if (is_all_cleared) mapping.processes().remove(mapping.me());
}

}  // namespace pastset::shared
