// SPDX-License-Identifier: Apache-2.0
// pastset/shared/cleanup.hpp — removal of what processes leave in a shared space when they end
#pragma once
#include "pastset/shared/mapping.hpp"
#include "runtime/processes/between_processes.hpp"

namespace pastset::shared {

/// Removes what a dead process has left: its locks, waiting moves, holds and entry. Does nothing if
/// an earlier call has removed them. Returns false if another process holds a lock that is needed.
/// The entry of the dead process then stays, and a later call must remove the entry.
bool clear(const SharedMapping& mapping, const runtime::ProcessIdentity& process);
/// Does the same as clear().
/// Requires: the lock of the list of processes (SharedMapping::Directory) is held.
bool clear_locked(const SharedMapping& mapping, const runtime::ProcessIdentity& process);
/// Detaches this process: removes its waiting moves, holds and entry.
void leave(const SharedMapping& mapping);

}  // namespace pastset::shared
