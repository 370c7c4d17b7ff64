// SPDX-License-Identifier: Apache-2.0
// paths/host/thread.hpp — thread of a program: its rank, paths, clock and random numbers.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "eventspace/record.hpp"
#include "paths/host/path.hpp"
#include "runtime/random.hpp"

namespace paths {

class Host;

/// Thread of a program: its rank, its paths and its clock. A program is one function that takes a
/// Thread. The same function runs on the virtual and on the steady clock. The function must block
/// only through this object and its paths.
///
/// The thread ends when the function returns, and fails if the function throws. If the function
/// calls exit(), the process ends with code 1. The trace records the life of the thread.
///
/// Thread-safe: no. The object belongs to the OS thread or fiber that constructs it, until the
///              thread's function returns.
/// Throws:      UsageError if the caller is another thread, or if the function has returned.
class Thread {
 public:
  Thread(Deployment& deployment, std::uint32_t index, std::uint64_t seed);
  ~Thread();  ///< calls end()
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  // Properties. Any thread or fiber may read them.
  std::uint32_t rank() const;     ///< number among all threads, in the config's order of hosts
  std::uint32_t threads() const;  ///< number of threads in the program
  std::uint32_t index() const { return index_; }  ///< index among the threads of its host
  Deployment& deployment() const { return *deployment_; }
  Host& host() const;
  const std::string& cluster() const;
  double speed() const;

  /// Returns the thread's path that belongs to a collective or leads to an element. `graph` is the
  /// name of the collective or element in the config.
  /// Throws: UsageError that lists the thread's paths if there is no such path.
  Path& path(std::string_view graph);
  bool has_path(std::string_view graph) const;

  /// Checks that the caller is this thread and that the thread's function still runs. The arguments
  /// are for the error text "SUBJECT NAME: WHAT by...", such as "group world: barrier by...".
  /// Throws: UsageError if the check fails.
  void check_caller(std::string_view what, std::string_view subject, std::string_view name) const {
    owner_.check(what, subject, name);
  }

  base::Nanos now() const;
  void sleep_for(base::Nanos span);
  /// Marks the end of an iteration of the program in the trace. A report on the trace uses these
  /// marks. If there are no marks, the report derives the iterations from the operations of the
  /// threads. Does nothing if the run is not traced.
  void mark_iteration();
  /// Returns the thread's own stream of random numbers, derived from the program's seed.
  runtime::Random& random() {
    owner_.check("random", "the numbers");
    return random_;
  }

  /// Releases the thread's paths with a failure. Operations that wait for this thread, now or
  /// later, get the failure.
  void fail(const std::string& reason);
  void fail(const TravelError& error);
  /// Ends the thread after its function has returned, and releases every path. Other threads that
  /// wait for this thread get an error. If the last operation of this thread failed, the error is
  /// its failure, because it is probably the cause of the end. Otherwise the error is that this
  /// thread has released its path. Later calls, and calls by another thread, have no effect.
  void end();

 private:
  // The class Attached attaches a different OS thread to this object. The thread's paths stay.
  friend class Attached;
  eventspace::EventRecord begin_life();
  void check_leaves();
  bool is_over() const;
  void release_paths(const Failure& failure);
  Deployment* deployment_;
  std::uint32_t index_;
  eventspace::EventRecord life_;
  std::uint64_t iterations_ = 0;
  Owner owner_;
  std::shared_ptr<Failure> last_failure_ = std::make_shared<Failure>();
  std::list<Path> paths_;  // a list, so that paths keep their addresses
  runtime::Random random_;
};

}  // namespace paths
