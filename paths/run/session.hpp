// SPDX-License-Identifier: Apache-2.0
// paths/run/session.hpp — a plan's hosts in a program that has its own main() and its own threads.
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

/// The time in which a thread of the program is a thread of the plan.
///
/// Sharing: the attached thread's own. Where that ends without detaching it has detached.
class Attached {
 public:
  Attached(Attached&& other) noexcept;
  Attached& operator=(Attached&& other) noexcept;  ///< the other one has what this was
  /// Detaches, when what was started has ended. By another thread, while the attached one lives, it
  /// changes nothing but to say so in the log: that one stays attached until it ends.
  ~Attached();

  /// Its paths, clock and numbers. Good until it detaches; afterwards whatever uses them is told.
  Thread& thread() const;
  Thread* operator->() const { return &thread(); }

  /// The thread is the program's alone again, and another may attach in its place. Its paths stay,
  /// so that who attaches next goes on with the next round: those who reduce with it wait until
  /// then, as for any that is late. Throws UsageError by another thread, from inside an operation,
  /// while what was started is under way, and when it has detached before.
  void detach();

 private:
  friend class Session;
  struct Seat;
  class State;
  Attached(std::shared_ptr<State> state, Seat& seat);
  std::shared_ptr<State> state_;
  Seat* seat_;  // null: detached, or moved elsewhere
  std::uint64_t taking_;
};

/// The hosts of a plan in a process whose threads are the program's: all of them, or one that meets
/// the others over sockets. It reads no command line, takes no signal, leaves nothing to be called
/// when the process exits, and needs no more of the program than to be ended: a process that goes
/// without is to the other hosts one that died. Every thread of the plan that is in this process is
/// a place that threads of the program may take, one at a time.
///
/// Why:     programs that have threads before they know of us, as every MPI program does.
/// Clock:   the steady one.
/// Sharing: any thread may call anything.
/// Blocks:  nothing but end() and the destructor.
/// Throws:  UsageError for wrong use, which changes nothing.
class Session {
 public:
  /// Makes the hosts and has them serve. Throws TravelError (cannot listen), std::runtime_error
  /// (cannot write a trace there), UsageError (the virtual clock; inside a thread of a run). The
  /// kinds outlive the session.
  Session(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds,
          const RunOptions& options = {});
  /// end(), if that was not called; failures go to the log. While threads are attached it leaves
  /// that to the last of them, and says so in the log.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The calling thread is thread `index` of that host until it detaches. Throws UsageError when it
  /// is a thread of a plan already, when there is no such place in this process or it is taken or
  /// has released its paths, and after the end.
  Attached attach(std::string_view host, std::uint32_t index);

  /// Releases the paths of all places and ends the hosts, as the return of all threads ends a run:
  /// blocks until the hosts of other processes need them no more. Answers what failed. Throws
  /// UsageError by an attached thread, while some are attached, and when it was called before.
  std::vector<std::string> end();

 private:
  std::shared_ptr<Attached::State> state_;
};

}  // namespace paths
