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

/// Attachment of a program's thread (OS thread) to a thread of the plan. The attachment lasts until
/// the program's thread detaches.
///
/// Thread-safe: no; only the attached thread may use this object. The end of the attached thread
///              also ends the attachment.
class Attached {
 public:
  Attached(Attached&& other) noexcept;
  Attached& operator=(Attached&& other) noexcept;  ///< swaps the attachments of both objects
  /// Blocks until all started operations have ended, then detaches. If a different thread destroys
  /// this object while the attached thread lives, the destructor only logs a warning. The attached
  /// thread then stays attached until it ends.
  ~Attached();

  /// Returns the plan's thread: its paths, clock and random numbers. The reference is valid until
  /// the program's thread detaches. Use of the reference after that is an error.
  Thread& thread() const;
  Thread* operator->() const { return &thread(); }

  /// Detaches the calling thread from the plan's thread, so that a different program thread may
  /// attach. The paths of the plan's thread stay, and the next attached thread continues with the
  /// next round. Until then, other contributors to the rounds of these paths wait, as for any late
  /// contributor.
  /// Throws: UsageError if the caller is not the attached thread, if it is inside an operation, if
  ///         a started operation is under way, or if it has already detached.
  void detach();

 private:
  friend class Session;
  struct Seat;
  class State;
  Attached(std::shared_ptr<State> state, Seat& seat);
  std::shared_ptr<State> state_;
  Seat* seat_;  // nullptr after detach() or a move from this object
  std::uint64_t taking_;
};

/// Runs hosts of a plan in a program that has its own main() and threads. The session runs all
/// hosts of the plan, or one host that communicates with the other hosts over sockets. Program
/// threads attach to those threads of the plan that belong to these hosts. Each thread of the plan
/// has at most one attached thread at a time. The session reads no command line, handles no signal
/// and registers no exit handler. The program must call end(). Other hosts regard a process that
/// exits without end() as dead.
///
/// Why:         Some programs, such as MPI programs, have threads before they use this library.
/// Thread-safe: yes.
/// Blocks:      only the constructor, end() and the destructor block.
/// Throws:      UsageError for wrong use. The wrong call has no effect.
/// Clock:       the steady clock.
class Session {
 public:
  /// Creates and starts the hosts. `kinds` outlives the session. If the config has the key `lanes`,
  /// blocks until the hosts of other processes have arrived or are lost.
  /// Throws: TravelError if a host cannot listen. std::runtime_error if a trace cannot be written.
  ///         UsageError for the virtual clock, and inside a thread of a run.
  Session(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds,
          const RunOptions& options = {});
  /// If end() was not called, calls it and logs the failures. If threads are still attached, the
  /// destructor only logs a warning. The session then ends when the last thread detaches.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Attaches the calling thread to the thread `index` of the host named `host`, until it detaches.
  /// Throws: UsageError if the caller is already a thread of a plan. UsageError if the plan's
  ///         thread is not in this process, has an attached thread, or has released its paths.
  ///         UsageError after end().
  Attached attach(std::string_view host, std::uint32_t index);

  /// Releases the paths of all threads of the plan in this process, then ends the hosts. A run ends
  /// in the same way when all its threads have returned. Blocks until the hosts of other processes
  /// no longer need the hosts of this process. Returns the failures.
  /// Throws: UsageError if the caller or any other thread is attached, or if end() was called
  ///         before.
  std::vector<std::string> end();

 private:
  std::shared_ptr<Attached::State> state_;
};

}  // namespace paths
