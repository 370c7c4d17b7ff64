// SPDX-License-Identifier: Apache-2.0
// pastset/shared/process_table.hpp — entries of the processes that map a shared space
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pastset/shared/layout.hpp"
#include "runtime/processes/between_processes.hpp"

namespace pastset {

class SharedMapping;

/// The processes that map a space, and its owner, as the shared memory lists them. A process is
/// known by the index of its entry.
///
/// Thread-safe: yes, from any thread.
class ProcessTable final : public runtime::SharedLock::Holders {
 public:
  explicit ProcessTable(const SharedMapping& mapping) : mapping_(mapping) {}
  bool lives(std::uint32_t pid) const override;
  /// Returns the processes that map the space, by index. Unused entries are zeros.
  std::vector<runtime::ProcessIdentity> all() const;
  std::string name_of(std::uint32_t process) const;
  /// Returns a text about a process, such as "process 1234 (solver)".
  std::string describe(std::uint32_t process) const;
  /// Returns the owner: the process that made the space. Returns nullopt after that process has
  /// detached properly.
  std::optional<std::uint32_t> owner() const;
  /// If the owner has died, returns a text about the owner such as "process 1234 (solver)", even
  /// after another process has got the owner's entry. Otherwise returns nullopt.
  std::optional<std::string> dead_owner() const;
  /// Wakes processes of the space: bit i of `processes` stands for the process with index i.
  void ring(std::uint32_t processes) const;

  // The following functions require the lock of the list of processes (SharedMapping::Directory).

  /// Adds a process, and wakes all processes. Returns its index, or processes_max if all entries
  /// are used.
  std::uint32_t add(const runtime::ProcessIdentity& process, const std::string& name) const;
  void remove(std::uint32_t process) const;  ///< frees an entry, and wakes all processes
  /// Notes that the process has died, if it owned the space.
  void note_death(std::uint32_t process) const;

 private:
  const SharedMapping& mapping_;
};

}  // namespace pastset
