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

#include "base/descriptor.hpp"
#include "base/units.hpp"
#include "pastset/errors.hpp"
#include "pastset/shared/access.hpp"
#include "pastset/shared/arena/arena.hpp"
#include "pastset/shared/layout.hpp"
#include "pastset/shared/process_table.hpp"
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
class SharedMapping {
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
  const ProcessTable& processes() const { return processes_; }

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

 private:
  SharedMapping(base::Descriptor memory, std::size_t mapped_bytes, const Options& options);
  static std::shared_ptr<SharedMapping> map(base::Descriptor memory, uid_t user,
                                            const Options& options);
  void join();
  base::Descriptor memory_;
  const bool may_write_;
  const std::size_t mapped_bytes_, bytes_;
  base::Nanos lock_patience_;
  const std::string process_name_;
  std::byte* base_ = nullptr;
  const ProcessTable processes_{*this};
  std::unique_ptr<SharedArena> arena_;
  std::unique_ptr<runtime::DescriptorDoor> door_;
  const std::uint32_t pid_;
  std::uint32_t forks_ = 0;
  std::uint32_t me_ = shared::processes_max;
};

/// Returns the error for a value `what` of an element that another process must have overwritten.
SharedSpaceError invalid_value(const SharedMapping& mapping, const shared::Element& element,
                               const std::string& what);

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
