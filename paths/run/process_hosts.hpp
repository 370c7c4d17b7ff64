// SPDX-License-Identifier: Apache-2.0
// paths/run/process_hosts.hpp — lifetime of the plan's hosts in this process.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paths/host/thread.hpp"
#include "paths/messages/carriers/switches.hpp"
#include "paths/messages/channels/simulated_cores.hpp"
#include "paths/run/run_options.hpp"
#include "paths/run/tracing.hpp"
#include "paths/wire/local/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Returns the failure that the deployment of `host` has noted; "" if there is no failure. The
/// failure may have happened on a different host.
std::string failed_elsewhere(Host& host);

/// Creates, runs and ends the hosts of a plan that are in this process.
///
/// Owns:        the hosts. Borrows runtime and kinds, which outlive this object.
/// Thread-safe: add_failure() and hosts(). Only the thread that created this object may call the
///              other functions.
class ProcessHosts {
 public:
  static runtime::RuntimeOptions runtime_options(const Plan& plan, const RunOptions& options);

  ProcessHosts(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan,
               const WrapperKinds& kinds, const RunOptions& options);

  /// Creates and starts the hosts, and starts their traces. The hosts use sockets if other
  /// processes run hosts of the plan. If a host cannot be created or started on the steady clock,
  /// this object has no hosts afterwards.
  /// Blocks: until all hosts of the run have arrived or are gone (Host::await_all()).
  /// Throws: TravelError if a host cannot listen; std::runtime_error if a trace cannot be written.
  void start();
  const std::vector<std::unique_ptr<Host>>& hosts() const { return hosts_; }
  /// Calls `thread` for every thread of every host in this process, each call in an OS thread or
  /// fiber of its own. Each host ends when its own threads have returned, as if the host were a
  /// process. Blocks until all threads have returned and the traces are written.
  using ThreadOfHost = std::function<void(Host&, std::uint32_t index)>;
  void run(const ThreadOfHost& thread);

  /// Records a failure. Ignores "", and failures that are consequences of a deadlock.
  void add_failure(std::string failure);
  /// Returns the recorded failures. The list is complete when all hosts have ended.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  template <class Work>
  void end_hosts_unless(const Work& works);
  template <class Work>
  void make_trace_files(const Work& works);
  void make_hosts();
  runtime::Task run_host(Host& host, const ThreadOfHost& thread);
  runtime::Task spawn_thread(Host& host, std::uint32_t index, const ThreadOfHost& thread);

  runtime::Runtime& runtime_;
  const std::shared_ptr<const Plan> plan_;
  const WrapperKinds& kinds_;
  const RunOptions options_;
  LocalNetwork network_;
  std::unique_ptr<SimulatedCores> cores_;  // shared processor cores; nullptr if none are shared
  std::vector<std::unique_ptr<Host>> hosts_;
  std::unique_ptr<Switches> switches_;  // emulated switches; nullptr if each host is a process
  std::unique_ptr<Tracing> tracing_;
  runtime::Mutex mutex_;
  std::vector<std::string> failures_;
};

}  // namespace paths
