// SPDX-License-Identifier: Apache-2.0
// paths/run/session.hpp — hosts of a plan in a program with its own main() and threads.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "paths/host/thread.hpp"
#include "paths/plan/plan.hpp"
#include "paths/run/run_options.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Attachment of a program's thread (OS thread) to a thread of the plan. It lasts until the
/// program's thread detaches.
///
/// Thread-safe: no; used by the attached thread only. The end of that thread detaches it, too.
class Attached {
 public:
  Attached(Attached&& other) noexcept;
  Attached& operator=(Attached&& other) noexcept;  ///< swaps: `other` gets this attachment
  /// Blocks until all started operations have ended, then detaches. If another thread calls it
  /// while the attached thread lives, the destructor only logs a warning, and the thread stays
  /// attached until it ends.
  ~Attached();

  /// Returns the plan's thread: its paths, clock and random numbers. The reference is valid until
  /// the program's thread detaches; later use is an error.
  Thread& thread() const;
  Thread* operator->() const { return &thread(); }

  /// Detaches the calling thread from the plan's thread, so that another program thread may attach.
  /// The paths of the plan's thread stay, and the next attached thread continues with the next
  /// round. Other contributors wait until then, as for any late contributor.
  /// Throws: UsageError if called by another thread, inside an operation, while a started operation
  ///         is under way, or after detaching.
  void detach();

 private:
  friend class Session;
  struct Seat;
  class State;
  Attached(std::shared_ptr<State> state, Seat& seat);
  std::shared_ptr<State> state_;
  Seat* seat_;  // nullptr after detach(), or if moved from
  std::uint64_t taking_;
};

/// Runs the hosts of a plan in a process whose threads belong to the program. These are all hosts,
/// or one host that communicates with the others over sockets. Program threads attach to the plan's
/// threads in this process. Each thread of the plan has at most one attached thread at a time. The
/// session reads no command line, handles no signal and registers no exit handler. The program must
/// call end(). Other hosts regard a process that exits without end() as dead.
///
/// Why:         Some programs have threads before they use this library, as every MPI program does.
/// Thread-safe: yes.
/// Blocks:      only end() and the destructor block.
/// Throws:      UsageError for wrong use. The wrong call has no effect.
/// Clock:       the steady clock.
class Session {
 public:
  /// Creates and starts the hosts. `kinds` outlives the session.
  /// Throws: TravelError if a host cannot listen. std::runtime_error if a trace cannot be written.
  ///         UsageError for the virtual clock, and inside a thread of a run.
  Session(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds,
          const RunOptions& options = {});
  /// If end() was not called, calls it and logs the failures. If threads are still attached, the
  /// destructor logs this, and the last thread that detaches ends the session.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Makes the calling thread the thread `index` of the host named `host`, until it detaches.
  /// Throws: UsageError if the caller is already a thread of a plan. UsageError if the plan's
  ///         thread is not in this process, has an attached thread, or has released its paths.
  ///         UsageError after end().
  Attached attach(std::string_view host, std::uint32_t index);

  /// Releases the paths of all threads of the plan in this process, then ends the hosts. A run ends
  /// in the same way when all its threads have returned. Blocks until the hosts of other processes
  /// no longer need the hosts of this process. Returns the failures.
  /// Throws: UsageError if the caller or another thread is attached, and if end() was called
  ///         before.
  std::vector<std::string> end();

 private:
  std::shared_ptr<Attached::State> state_;
};

}  // namespace paths
