// SPDX-License-Identifier: Apache-2.0
// runtime/processes/machine.hpp — resources of the machine that this process may use
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace runtime {

/// Upper bounds of resources, as reported by the operating system. UINT64_MAX = unknown.
struct Machine {
  std::uint64_t memory_bytes = UINT64_MAX;
  std::uint64_t threads = UINT64_MAX;  ///< limit of the threads of all processes in total
  std::uint64_t threads_of_process = UINT64_MAX;  ///< limit of the threads of one process
  /// Limit of open descriptors of one process, after raise_descriptor_limit().
  std::uint64_t descriptors_of_process = UINT64_MAX;
};

/// Returns the current bounds. Memory is the available memory that the kernel reports, or less if a
/// control group or `ulimit -v` limits it. Threads are limited by the kernel, by a control group
/// and by `ulimit -u`.
Machine machine();

/// Raises this process's limit of open descriptors up to its hard limit, at most to 65,536. Returns
/// the limit.
std::uint64_t raise_descriptor_limit();
std::uint64_t open_descriptors();
/// Returns whether this process can open `count` further descriptors now.
bool can_open_descriptors(std::size_t count);

/// Checks that this process can start `count` more threads with the system's default stack size.
/// Starts these threads, ends them, and blocks until they have ended. If a thread cannot start,
/// throws std::runtime_error with the limits to check.
void check_threads_can_begin(std::size_t count);

/// Returns the identity of the steady clock that this process reads. Processes with the same
/// identity share a clock. The identity is derived from the boot of the kernel and the time
/// namespace. 0 = unknown.
std::uint64_t steady_clock_identity();

/// Returns a readable size: "7.6 GiB".
std::string rounded_bytes(std::uint64_t bytes);

}  // namespace runtime
