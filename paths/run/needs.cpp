// SPDX-License-Identifier: Apache-2.0
// paths/run/needs.cpp — measured minimum memory of threads, hosts and processes.
#include "paths/run/needs.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "paths/run/run_switch.hpp"

namespace paths {
namespace {

// Memory of a fiber: one page of its stack, its context, and the tasks that run and join it.
constexpr std::uint64_t fiber_bytes = 5 << 10;
// Memory of an operating-system thread, which also has a stack in the kernel.
constexpr std::uint64_t os_thread_bytes = 24 << 10;
// Memory of a thread's path, with its slots in the joins that the path enters.
constexpr std::uint64_t path_bytes = 128;
// Memory of a wrapper with its stage, and with its rounds if the wrapper is a join.
constexpr std::uint64_t wrapper_bytes = 512;
// Memory of a connection into a host, at both ends.
constexpr std::uint64_t entrance_bytes = 2 << 10;
// Memory of a host apart from the parts above: its lanes, connections, recorder, and the context
// that ends it.
constexpr std::uint64_t host_bytes = 12 << 10;
constexpr std::uint64_t process_bytes = 4 << 20;
constexpr std::uint64_t threads_of_process = 3;  // main thread, and threads that serve sockets

/// Resources that a process needs for a plan.
struct Needs {
  std::uint64_t hosts = 0, threads = 0;
  std::uint64_t paths = 0;  ///< total number of paths of all threads
  std::uint64_t wrappers = 0, entrances = 0;
  std::string name;  ///< name of the host that was added last

  void add(const Plan& plan, std::uint32_t host) {
    const Plan::HostPlan& share = plan.shares[host];
    ++hosts;
    name = plan.hosts[host].name;
    threads += plan.hosts[host].threads;
    wrappers += share.wrappers.size();
    entrances += share.entrances.size();
    for (const std::uint32_t path : share.paths) paths += plan.paths[path].threads;
  }
  /// Returns the bytes of memory that paths, wrappers and connections need, without the memory of
  /// threads and hosts.
  std::uint64_t bytes_of_plan() const {
    return paths * path_bytes + wrappers * wrapper_bytes + entrances * entrance_bytes;
  }
  std::string text() const {
    return hosts == 1 ? fmt::format("the {} threads of host {}", threads, name)
                      : fmt::format("the {} threads of the config's {} hosts", threads, hosts);
  }
};

void check_threads(std::uint64_t needed, std::uint64_t most, const std::string& what) {
  if (needed > most)
    throw std::invalid_argument(
        fmt::format("{} need {} threads of the operating system, but there can be {}; on the "
                    "virtual clock they need none",
                    what, needed, most));
}

/// Checks that the launcher has enough descriptors. The launcher is the process that starts all
/// other processes and copies their output. `most` is the maximum number of descriptors.
void check_descriptors(std::uint64_t processes, std::uint64_t most) {
  constexpr std::uint64_t own = 24, of_each = 4;
  const std::uint64_t needed = own + of_each * processes;
  if (needed > most)
    throw std::invalid_argument(
        fmt::format("to start {} processes `paths run` needs {} open descriptors, but there can be "
                    "{}; raise the limit (ulimit -Hn), or run fewer hosts on this machine; on the "
                    "virtual clock they need none",
                    processes, needed, most));
}

}  // namespace

void check_memory(std::uint64_t bytes, const std::string& what, const runtime::Machine& machine) {
  if (bytes > machine.memory_bytes)
    throw std::invalid_argument(fmt::format("{} needs {} of memory at least, but there are {}",
                                            what, runtime::rounded_bytes(bytes),
                                            runtime::rounded_bytes(machine.memory_bytes)));
}

void check_needs(const Plan& plan, const RunOptions& options, const runtime::Machine& machine) {
  Needs needs;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (!options.is_one_host || host == options.host) needs.add(plan, host);
  const bool is_virtual = options.clock == runtime::ClockKind::virtual_time;
  if (!is_virtual)
    check_threads(needs.threads + threads_of_process, machine.threads_of_process, needs.text());
  check_memory(needs.bytes_of_plan() + needs.hosts * host_bytes +
                   needs.threads * (is_virtual ? fiber_bytes : os_thread_bytes),
               "running " + needs.text(), machine);
}

void check_needs(const Plan& plan, const std::vector<std::uint32_t>& hosts,
                 const runtime::Machine& machine) {
  Needs needs;
  for (const std::uint32_t host : hosts) needs.add(plan, host);
  check_descriptors(hosts.size() + switches_beside(plan, hosts).size(),
                    machine.descriptors_of_process);
  check_threads(needs.threads + threads_of_process * hosts.size(), machine.threads, needs.text());
  check_memory(
      needs.bytes_of_plan() + process_bytes * hosts.size() + os_thread_bytes * needs.threads,
      "running " + needs.text(), machine);
}

}  // namespace paths
