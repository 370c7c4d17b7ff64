// SPDX-License-Identifier: Apache-2.0
// pastset/shared/mapping.hpp — one process's mapping of a shared space
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "base/units.hpp"
#include "pastset/errors.hpp"
#include "pastset/shared/access.hpp"
#include "pastset/shared/arena.hpp"
#include "pastset/shared/layout.hpp"
#include "runtime/processes/between_processes.hpp"
#include "runtime/processes/descriptor_door.hpp"

namespace pastset {

/// Thrown if a shared space is invalid: made by another version or another user, or overwritten.
/// Also thrown if a live process holds a lock of the space for too long.
class SharedSpaceError : public ElementError {
 public:
  using ElementError::ElementError;
};

/// Thrown if the caller waits for an event that only a dead process could have caused. The text
/// names that process, or the dead owner of the space.
class ProcessDied : public ElementError {
 public:
  using ElementError::ElementError;
};

/// Memory that several processes share, and the entry of this process in it. The memory belongs to
/// no file. The kernel frees it when the last process unmaps it or ends for any reason.
///
/// Thread-safe: yes, from any thread. After a fork, the child must map the space itself.
/// Blocks:      for the lock of the space, at most lock_patience().
/// Locks:       contain the pid of their holder. A new process may have the same pid as a dead
///              process. The new process therefore first releases the locks of the dead process.
class SharedMapping final : public runtime::SharedLock::Holders {
 public:
  struct Options {
    /// Memory limit, rounded up to whole pages. A page costs memory once it is used.
    std::size_t bytes = std::size_t{64} << 20;
    /// Longest time to wait for a lock that another process holds.
    base::Nanos lock_patience = usual_lock_patience;
    std::string process = {};  ///< name shown to others; "" = the program's name
    /// Access for other processes. Only make() uses it.
    SharedAccess access = SharedAccess::own_processes;
  };
  /// Makes a new space, of which this process is the owner until it detaches. Other processes can
  /// map the space after open().
  /// Throws: SharedSpaceError if this user already has a space of that name. The name may be used
  ///         again if the owner of that space has died, or has detached and left no elements in the
  ///         space. Throws std::system_error.
  static std::shared_ptr<SharedMapping> make(const std::string& name, const Options& options);
  /// Makes the space visible to the processes that `access` allows.
  void open(SharedAccess access);
  /// Maps the existing space `name`. If no space has this name, maps the only space whose name
  /// begins with `name` and a dot, because runs give such names to their spaces. "alice/solver" is
  /// the space `solver` of the user alice, who must allow other users to map it.
  /// Throws: SharedSpaceError if no space or several match, if the version or the user differs, or
  ///         if the maximum number of processes map it.
  static std::shared_ptr<SharedMapping> map(const std::string& name, const Options& options);
  static std::shared_ptr<SharedMapping> map(base::Descriptor memory, const Options& options);
  /// Returns the names of this user's open spaces that live processes map.
  static std::vector<std::string> names();
  /// Returns the other users' spaces that this user may map, as "alice/solver".
  static std::vector<std::string> others();
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  shared::Segment& segment() const { return *reinterpret_cast<shared::Segment*>(base_); }
  std::string name() const;
  /// Whether this process may write to the shared memory. If false, this process may call only
  /// functions that do not write.
  bool may_write() const { return may_write_; }
  std::size_t bytes() const { return bytes_; }  ///< memory limit of the space
  std::byte* at(std::size_t offset) const { return base_ + offset; }
  SharedArena& arena() const { return *arena_; }
  int descriptor() const { return memory_.get(); }
  std::uint32_t me() const { return me_; }
  base::Nanos lock_patience() const { return lock_patience_; }
  /// Whether this process made the mapping. False in the child of a fork, which inherits the
  /// mapping of its parent.
  bool is_ours() const;

  bool lives(std::uint32_t pid) const override;
  /// Returns the processes that map the space, by index. Unused entries are zeros.
  std::vector<runtime::ProcessIdentity> processes() const;
  std::string process_name(std::uint32_t process) const;
  /// Returns the owner: the process that made the space. Returns nullopt after that process has
  /// detached properly.
  std::optional<std::uint32_t> owner() const;
  /// If the owner has died, returns a text about the owner such as "process 1234 (solver)", even
  /// after another process has got the owner's entry. Otherwise returns nullopt.
  std::optional<std::string> dead_owner() const;
  /// Wakes processes of the space: bit i of `processes` stands for the process with index i.
  void ring(std::uint32_t processes) const;

  /// Scope in which this process holds a lock of the space. `of` tells in error messages what the
  /// lock guards.
  class Locked {
   public:
    Locked(const SharedMapping& mapping, runtime::SharedLock& lock, std::string_view of);
    ~Locked() { lock_.unlock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   private:
    runtime::SharedLock& lock_;
  };
  /// Scope in which this process holds the lock of the list of processes and elements
  /// (Segment::lock). A process that may only read takes no lock.
  class Directory {
   public:
    explicit Directory(const SharedMapping& mapping);

   private:
    std::optional<Locked> locked_;
  };
  /// Tries for `patience` to take the lock. Returns nullopt if another process held the lock for
  /// longer. Otherwise returns whether the last holder died while it held the lock. With a patience
  /// of 0, tries once and never sleeps.
  std::optional<bool> try_take(runtime::SharedLock& lock, base::Nanos patience) const;
  SharedSpaceError held_for_long(const runtime::SharedLock& lock, std::string_view of) const;
  /// Longest wait for a lock (20 ms) by callers whose wait delays other work. After 20 ms such a
  /// caller stops waiting, and tries again later.
  static constexpr base::Nanos brief_patience{20'000'000};

  /// Removes what a dead process has left: its locks, waiting moves, holds and entry. Does nothing
  /// if an earlier call has removed them. Returns false if another process holds a lock that is
  /// needed. The entry of the dead process then stays, and a later call must remove the entry.
  bool clear(const runtime::ProcessIdentity& process);

 private:
  SharedMapping(base::Descriptor memory, std::size_t mapped_bytes, const Options& options);
  static std::shared_ptr<SharedMapping> map_own(const std::string& name, const Options& options);
  static std::shared_ptr<SharedMapping> map(base::Descriptor memory, uid_t user,
                                            const Options& options);
  void check_head(uid_t user) const;
  std::string who(std::uint32_t process) const;
  void join();
  std::uint32_t free_place() const;
  bool clear_all_of(const runtime::ProcessIdentity& process);
  bool clear_place(std::uint32_t process);
  template <class View>
  bool clear_in(View view, std::uint32_t process, const std::string& who,
                base::Nanos patience) const;
  void free_place_of(std::uint32_t process);
  void leave();
  base::Descriptor memory_;
  const bool may_write_;
  const std::size_t mapped_bytes_, bytes_;
  base::Nanos lock_patience_;
  const std::string process_name_;
  std::byte* base_ = nullptr;
  std::unique_ptr<SharedArena> arena_;
  std::unique_ptr<runtime::DescriptorDoor> door_;
  const std::uint32_t pid_;
  std::uint32_t forks_ = 0;
  std::uint32_t me_ = shared::processes_max;
};

/// Writes text and a terminating zero. The text is cut to `most - 1` bytes.
template <std::size_t most>
void write_text(std::array<std::atomic<char>, most>& to, std::string_view text) {
  std::size_t at = 0;
  for (; at + 1 < most && at < text.size(); ++at) to[at].store(text[at], std::memory_order_relaxed);
  to[at].store('\0', std::memory_order_relaxed);
}
template <std::size_t most>
std::string read_text(const std::array<std::atomic<char>, most>& from) {
  std::string text;
  for (const std::atomic<char>& one : from) {
    const char letter = one.load(std::memory_order_relaxed);
    if (letter == '\0') break;
    text += letter;
  }
  return text;
}

}  // namespace pastset
