// SPDX-License-Identifier: Apache-2.0
// pastset/shared/mapping.hpp — a space in memory, as one process has it.
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

/// A space that several processes map is not what it has to be: of another version, another user's,
/// or overwritten by one of them; or a live process holds its lock and does not go on.
class SharedSpaceError : public ElementError {
 public:
  using ElementError::ElementError;
};

/// What the caller waits for could come only from a process that has died, which is named, or from
/// the element of a space whose owner has.
class ProcessDied : public ElementError {
 public:
  using ElementError::ElementError;
};

/// The memory of a shared space and this process's place among those that map it. The memory is in
/// no file and goes with the last of them, however that ends.
///
/// Sharing: any thread may call anything. After a fork the child maps for itself.
/// Locks:   held by pid, which no other process gets before the dead one's are cleared.
/// Blocks:  for the lock of the space, no longer than its patience.
class SharedMapping final : public runtime::SharedLock::Holders {
 public:
  struct Options {
    /// That it may cost, in whole pages; they do when they are used.
    std::size_t bytes = std::size_t{64} << 20;
    /// For how long others may hold a lock that this process waits for.
    base::Nanos lock_patience = usual_lock_patience;
    std::string process = {};  ///< what others call this one; "": as its program is called
    SharedAccess access = SharedAccess::own_processes;  ///< of who makes it
  };
  /// A new one, which this process owns until it leaves, and nobody finds before open(). Throws
  /// SharedSpaceError when one of this user's has that name, but for one whose owner has died or
  /// left nothing in it; std::system_error.
  static std::shared_ptr<SharedMapping> make(const std::string& name, const Options& options);
  /// From now on it is found, by those who may.
  void open(SharedAccess access);
  /// One that is there: of that name, or the only one whose name has a dot and more behind it, as
  /// those of runs do; "alice/solver" is another user's, who lets others map it. Throws
  /// SharedSpaceError when there is none, when it is another version's or user's, and when as many
  /// processes map it as can.
  static std::shared_ptr<SharedMapping> map(const std::string& name, const Options& options);
  static std::shared_ptr<SharedMapping> map(base::Descriptor memory, const Options& options);
  /// Of this user's that processes which live map now.
  static std::vector<std::string> names();
  /// "alice/solver": other users', who let one map them.
  static std::vector<std::string> others();
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  shared::Segment& segment() const { return *reinterpret_cast<shared::Segment*>(base_); }
  std::string name() const;
  /// Else nothing of it may be written: only what reads may be called.
  bool may_write() const { return may_write_; }
  std::size_t bytes() const { return bytes_; }  ///< that it may cost
  std::byte* at(std::size_t offset) const { return base_ + offset; }
  SharedArena& arena() const { return *arena_; }
  int descriptor() const { return memory_.get(); }
  std::uint32_t me() const { return me_; }
  base::Nanos lock_patience() const { return lock_patience_; }
  /// Not in a child of a fork, where it is its parent's still.
  bool is_ours() const;

  bool lives(std::uint32_t pid) const override;
  /// By number; those that are not there are zeros.
  std::vector<runtime::ProcessIdentity> processes() const;
  /// What one is called.
  std::string process_name(std::uint32_t process) const;
  /// Who makes a space owns it. Of an owner that left properly nobody speaks any more; of one that
  /// died "process 1234 (solver)", in a text that stays.
  std::optional<std::uint32_t> owner() const;
  std::optional<std::string> dead_owner() const;
  /// Those of the bits.
  void ring(std::uint32_t processes) const;

  /// Holds what the segment's own lock guards, but for who may only read.
  class Directory {
   public:
    explicit Directory(const SharedMapping& mapping);
    ~Directory();
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

   private:
    const SharedMapping& mapping_;
  };
  /// Takes or throws; true when the holder before died.
  bool take(runtime::SharedLock& lock, std::string_view of) const;
  /// The same for a patience of one's own: none when it was held for longer. With 0 it only
  /// looks, and never sleeps.
  std::optional<bool> try_take(runtime::SharedLock& lock, base::Nanos patience) const;
  SharedSpaceError held_for_long(const runtime::SharedLock& lock, std::string_view of) const;
  /// Of those who have others waiting for them, and come again.
  static constexpr base::Nanos brief_patience{20'000'000};

  /// Clears what a process that is no more has left: its locks, its waits, its pins, its place.
  /// Nothing when it was done before. False when something of it is held: its place stays, to be
  /// cleared again.
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

/// Text of at most so many bytes, less one for its end.
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
