// SPDX-License-Identifier: Apache-2.0
// paths/run/process_hosts.hpp — the hosts of a plan that are in this process, from making to end.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paths/host/thread.hpp"
#include "paths/messages/carriers/switches.hpp"
#include "paths/run/run_options.hpp"
#include "paths/run/tracing.hpp"
#include "paths/wire/local/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// What failed, here or at other hosts, as its deployment heard; "": nothing.
std::string failed_elsewhere(Host& host);

/// A thread of the plan in this process. Who runs it may change; at any time it is one context or
/// nobody.
class SessionThread {
 public:
  /// The context that makes it is the thread.
  SessionThread(Host& host, std::uint32_t index, std::uint64_t seed);
  SessionThread(const SessionThread&) = delete;
  SessionThread& operator=(const SessionThread&) = delete;

  Thread& thread() { return thread_; }
  const std::string& name() const { return name_; }  ///< "thread alpha-0/3"
  void end() { thread_.end(); }

  /// The calling context is the thread from now on. Nobody was.
  void take() { thread_.owner_.take(); }
  /// Throws UsageError unless the thread calls, or has ended, and nothing that it began is under
  /// way.
  void check_leaves() { thread_.check_leaves(); }
  /// Waits until nothing is. By the thread.
  void wait_for_started();
  /// Nobody is the thread any more.
  void leave() { thread_.owner_.leave(); }
  /// It can do nothing any more: it has ended, or has released all its paths.
  bool is_over() const { return thread_.is_over(); }

 private:
  const std::string name_;
  Thread thread_;
};

/// How those who run a plan make its hosts and end them.
///
/// Owns:    the hosts; borrows runtime and kinds, which outlive it.
/// Sharing: add_failure() and hosts() from any context; the rest is its maker's.
class ProcessHosts {
 public:
  static runtime::RuntimeOptions runtime_options(const Plan& plan, const RunOptions& options);

  ProcessHosts(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan,
               const WrapperKinds& kinds, const RunOptions& options);

  /// Makes them, over sockets where there is one of several, and has them serve and be traced.
  /// Throws TravelError (cannot listen) and std::runtime_error (cannot write a trace there). There
  /// are no hosts then.
  void start();
  /// Blocks until all hosts of the run have arrived or are gone (Host::await_all()).
  void await_all();
  const std::vector<std::unique_ptr<Host>>& hosts() const { return hosts_; }
  /// Runs `thread` in a context for every thread of every host here. As processes would, each host
  /// ends when its own have returned. Blocks until all have, and their traces are written.
  using ThreadOfHost = std::function<void(Host&, std::uint32_t index)>;
  void run(const ThreadOfHost& thread);

  /// "" is none, and neither is what fails because of a deadlock.
  void add_failure(std::string failure);
  const std::vector<std::string>& failures() const { return failures_; }  ///< when all is over

 private:
  template <class Work>
  void end_hosts_unless(const Work& works);
  void make_hosts();
  runtime::Task run_host(Host& host, const ThreadOfHost& thread);
  runtime::Task spawn_thread(Host& host, std::uint32_t index, const ThreadOfHost& thread);

  runtime::Runtime& runtime_;
  const std::shared_ptr<const Plan> plan_;
  const WrapperKinds& kinds_;
  const RunOptions options_;
  LocalNetwork network_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::unique_ptr<Switches> switches_;  // null where hosts are processes
  std::unique_ptr<Tracing> tracing_;
  runtime::Mutex mutex_;
  std::vector<std::string> failures_;
};

}  // namespace paths
