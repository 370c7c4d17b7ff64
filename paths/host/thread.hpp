// SPDX-License-Identifier: Apache-2.0
// paths/host/thread.hpp — what one thread of the application is given.
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

/// A thread's place in the program, its paths and its clock. The application is one function of
/// this, the same for both clocks: it must block through this and its paths only. It ends by
/// returning and fails by throwing; exit() ends the process with the code 1. Its life is in the
/// trace.
///
/// Sharing: the thread's own, until its function returns; the context that makes it is the thread.
/// Throws:  UsageError where another thread calls, or the function has returned.
class Thread {
 public:
  Thread(Deployment& deployment, std::uint32_t index, std::uint64_t seed);
  ~Thread();  ///< end()
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  // What it is, for anybody.
  std::uint32_t rank() const;     ///< in the whole program, by hosts in config order
  std::uint32_t threads() const;  ///< of the whole program
  std::uint32_t index() const { return index_; }  ///< among the threads of its host
  Deployment& deployment() const { return *deployment_; }
  Host& host() const;
  const std::string& cluster() const;
  double speed() const;

  /// The thread's path of a collective or to an element, by its name in the config. Throws
  /// UsageError when this thread has none, saying which it has.
  Path& path(std::string_view graph);
  bool has_path(std::string_view graph) const;

  /// Throws UsageError unless the thread itself calls, while it is one: "group world: barrier
  /// by...".
  void check_caller(std::string_view what, std::string_view subject, std::string_view name) const {
    owner_.check(what, subject, name);
  }

  base::Nanos now() const;
  void sleep_for(base::Nanos span);
  /// Of the program's seed; each thread its own stream.
  runtime::Random& random() {
    owner_.check("random", "the numbers");
    return random_;
  }

  /// Tells everyone who would wait for this thread that it failed, and releases its paths.
  void fail(const std::string& reason);
  void fail(const TravelError& error);
  /// Its function has returned: releases every path. Who waits for this thread is told that it has
  /// ended, or, when its last operation failed, of that failure, which will be why. By the thread
  /// itself; once.
  void end();

 private:
  friend class SessionThread;  // where the threads of a session come and go, and the paths stay
  eventspace::EventRecord begin_life();
  void check_leaves();
  bool is_over() const;
  void release_paths(const Failure& failure);
  Deployment* deployment_;
  std::uint32_t index_;
  eventspace::EventRecord life_;
  Owner owner_;
  std::shared_ptr<Failure> last_failure_ = std::make_shared<Failure>();
  std::list<Path> paths_;  // which do not move
  runtime::Random random_;
};

}  // namespace paths
