// SPDX-License-Identifier: Apache-2.0
// paths/run/needs.cpp — the least that threads and processes take, as measured.
#include "paths/run/needs.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "paths/run/run_switch.hpp"

namespace paths {
namespace {

// A fiber touches two pages of its stack, and has its context, its paths and its slots in joins.
constexpr std::uint64_t fiber_bytes = 10 << 10;
// A thread of the operating system has a stack in the kernel as well.
constexpr std::uint64_t os_thread_bytes = 24 << 10;
constexpr std::uint64_t process_bytes = 4 << 20;
constexpr std::uint64_t threads_of_process = 3;  // its own, and those that serve sockets

void check_threads(std::uint64_t needed, std::uint64_t most, const std::string& what) {
  if (needed > most)
    throw std::invalid_argument(
        fmt::format("{} need {} threads of the operating system, but there can be {}; on the "
                    "virtual clock they need none",
                    what, needed, most));
}

}  // namespace

namespace {

/// Of the process that starts the others and copies their output.
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
  const std::uint64_t threads =
      options.is_one_host ? plan.hosts[options.host].threads : plan.thread_count();
  const bool is_virtual = options.clock == runtime::ClockKind::virtual_time;
  const std::string what = fmt::format("the config's {} threads", threads);
  if (!is_virtual) check_threads(threads + threads_of_process, machine.threads_of_process, what);
  check_memory(threads * (is_virtual ? fiber_bytes : os_thread_bytes), "running " + what, machine);
}

void check_needs(const Plan& plan, const std::vector<std::uint32_t>& hosts,
                 const runtime::Machine& machine) {
  std::uint64_t threads = 0;
  for (const std::uint32_t host : hosts) threads += plan.hosts[host].threads;
  const std::string what =
      fmt::format("the config's {} hosts with {} threads", hosts.size(), threads);
  check_descriptors(hosts.size() + switches_beside(plan, hosts).size(),
                    machine.descriptors_of_process);
  check_threads(threads + threads_of_process * hosts.size(), machine.threads, what);
  check_memory(process_bytes * hosts.size() + os_thread_bytes * threads, "running " + what,
               machine);
}

}  // namespace paths
