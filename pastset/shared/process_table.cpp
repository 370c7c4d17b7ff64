// SPDX-License-Identifier: Apache-2.0
// pastset/shared/process_table.cpp — life and death of the processes that map a shared space
#include "pastset/shared/process_table.hpp"

#include <fmt/format.h>

#include "pastset/shared/mapping.hpp"

namespace pastset {

using shared::identity_in;

bool ProcessTable::lives(std::uint32_t pid) const {
  // The lock is read before the entries, because a process that attaches writes its entry before it
  // releases the lock.
  const bool holds_directory = mapping_.segment().lock.holder() == pid;
  bool has_place = false;
  for (const runtime::ProcessIdentity& one : all()) {
    if (one.pid != pid) continue;
    if (one.is_alive()) return true;
    has_place = true;
  }
  // A live process without an entry is attaching to the space, or has just detached from it.
  return !has_place && holds_directory && runtime::ProcessIdentity::of(pid).is_alive();
}

std::vector<runtime::ProcessIdentity> ProcessTable::all() const {
  std::vector<runtime::ProcessIdentity> all(shared::processes_max);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = identity_in(mapping_.segment(), i);
  return all;
}

std::string ProcessTable::name_of(std::uint32_t process) const {
  return process < shared::processes_max ? read_text(mapping_.segment().processes[process].name)
                                         : "";
}

std::string ProcessTable::describe(std::uint32_t process) const {
  return fmt::format("process {} ({})", mapping_.segment().processes[process].pid.load(),
                     name_of(process));
}

std::optional<std::uint32_t> ProcessTable::owner() const {
  const std::uint32_t owner = mapping_.segment().owner;
  if (owner == 0 || owner > shared::processes_max) return std::nullopt;
  return owner - 1;
}

std::optional<std::string> ProcessTable::dead_owner() const {
  if (mapping_.segment().owner_is_dead.load(std::memory_order_acquire) != 0)
    return read_text(mapping_.segment().owner_died);
  if (mapping_.may_write()) return std::nullopt;
  // A process that may only read gets no notifications of deaths. It may also be the only process
  // that still maps the space. It therefore checks here whether the owner is alive.
  const std::optional<std::uint32_t> owner = this->owner();
  if (!owner || identity_in(mapping_.segment(), *owner).is_alive()) return std::nullopt;
  return describe(*owner);
}

void ProcessTable::ring(std::uint32_t processes) const {
  for (std::uint32_t i = 0; processes != 0; ++i, processes >>= 1)
    if ((processes & 1) != 0) mapping_.segment().processes[i].bell.ring();
}

std::uint32_t ProcessTable::add(const runtime::ProcessIdentity& process,
                                const std::string& name) const {
  shared::Segment& segment = mapping_.segment();
  std::uint32_t place = 0;
  while (place < shared::processes_max && segment.processes[place].state != shared::Process::nobody)
    ++place;
  if (place == shared::processes_max) return place;
  shared::Process& added = segment.processes[place];
  added.pid = process.pid;
  added.started = process.started;
  added.bell.is_asleep = 0;
  write_text(added.name, name);
  added.state = shared::Process::here;
  ++segment.process_changes;
  ring(~std::uint32_t{0});
  return place;
}

void ProcessTable::remove(std::uint32_t process) const {
  mapping_.segment().processes[process].state = shared::Process::nobody;
  ++mapping_.segment().process_changes;
  ring(~std::uint32_t{0});
}

void ProcessTable::note_death(std::uint32_t process) const {
  shared::Segment& segment = mapping_.segment();
  if (segment.owner != process + 1 || segment.owner_is_dead != 0) return;
  write_text(segment.owner_died, describe(process));
  segment.owner_is_dead = 1;
}

}  // namespace pastset
