// SPDX-License-Identifier: Apache-2.0
// runtime/processes/between_processes.hpp — how processes wait for each other in memory that all of
// them map.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/wait.hpp"

namespace runtime {

// What is in shared memory holds no pointers and may be overwritten by any of its processes at any
// time: it is looked at, never believed.

/// Looks whether `futex` is still `seen`, for as long as that promises to be shorter than a sleep;
/// says whether it has changed. A fiber, and who is told to sleep at once, do not look. The
/// deadline is on the caller's clock.
bool look_at(const std::atomic<std::uint32_t>& futex, std::uint32_t seen, Deadline deadline,
             const Reason& reason);

/// Lets other contexts of the caller's OS thread go on for so long, if it is a fiber; says whether
/// it is. Throws a Stop.
bool rest_fiber(Nanos span);

/// A process of this machine. The number may become another's, the two together not.
struct ProcessIdentity {
  std::uint32_t pid = 0;
  std::uint64_t started = 0;  ///< in ticks since the machine started
  static ProcessIdentity of(std::uint32_t pid);
  static ProcessIdentity of_caller();
  /// One that has ended and was not waited for yet is not alive; one of which nothing can be known,
  /// as when no descriptor is to be had, is.
  bool is_alive() const;
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// By which one process is told that something has changed. Zeros are one.
struct SharedBell {
  std::atomic<std::uint32_t> rings;
  std::atomic<std::uint32_t> is_asleep;  ///< who answers it
  void ring();                           ///< any process; never blocks
};

/// Guards shared memory for a few instructions. A holder that dies leaves it to the next one, who
/// is told so. Zeros are a free one.
///
/// Why:    not a robust mutex of the C library, which keeps pointers in the memory and follows them
///         when it unlocks: a wild write of one process would end another.
/// Shapes: 0; or the holder's number + 1, with a bit for sleepers; or the bit of a dead holder.
/// Blocks: while it is held, but no longer than the patience by one and the same.
class SharedLock {
 public:
  class Holders {
   public:
    /// Is the process that goes by this number alive? Asked when one holds a lock for long. No
    /// other may go by it soon, or its lock would be taken for the dead one's.
    virtual bool lives(std::uint32_t holder) const = 0;

   protected:
    ~Holders() = default;
  };
  enum class Found : std::uint8_t {
    clean,
    holder_died,  ///< and the memory may be as it left it
    stuck,        ///< not locked: a live process holds it
  };
  /// `me` is below 2^30. With a patience of 0 it only looks, and never sleeps.
  Found lock(std::uint32_t me, const Holders& holders, Nanos patience);
  void unlock();
  /// It was held by one that is dead: gives it to the next.
  void leave_for(std::uint32_t dead);
  /// Who seems to hold it.
  std::optional<std::uint32_t> holder() const;

 private:
  Found lock_slowly(std::uint32_t me, const Holders& holders, Nanos patience);
  std::atomic<std::uint32_t> futex_;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Answers a bell, and hears of the ends of other processes: two OS threads of this process, which
/// sleep in the kernel.
class BellThreads {
 public:
  /// Both are called on these threads, in no context of a runtime, and must not throw; `rung` also
  /// every second, `ended` not before listen_for(), and again after a while when it answers false.
  BellThreads(SharedBell& bell, std::function<void()> rung,
              std::function<bool(ProcessIdentity)> ended);
  ~BellThreads();  ///< waits until neither is running; not from them
  BellThreads(const BellThreads&) = delete;
  BellThreads& operator=(const BellThreads&) = delete;
  /// From now on these are listened for; one that has ended already is told of, too.
  void listen_for(std::vector<ProcessIdentity> processes);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

/// Has what nobody tells of looked at, again and again while somebody wants it: an OS thread of
/// this process.
class LookingThread {
 public:
  /// `look` is called on the thread, in no context of a runtime, and must not throw; it says
  /// whether anybody still wants it.
  LookingThread(Nanos every, std::function<bool()> look);
  ~LookingThread();  ///< not from it
  LookingThread(const LookingThread&) = delete;
  LookingThread& operator=(const LookingThread&) = delete;
  void begin();  ///< somebody wants it; from any thread

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace runtime
