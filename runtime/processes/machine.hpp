// SPDX-License-Identifier: Apache-2.0
// runtime/processes/machine.hpp — how much of the machine this process can have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace runtime {

/// Upper bounds, as far as the operating system tells them: what is beyond them cannot work.
struct Machine {
  std::uint64_t memory_bytes = UINT64_MAX;
  std::uint64_t threads = UINT64_MAX;             ///< of all processes together
  std::uint64_t threads_of_process = UINT64_MAX;  ///< of one
  /// That one process may have open, as raise_descriptor_limit() would allow them.
  std::uint64_t descriptors_of_process = UINT64_MAX;
};

/// What is available now. Memory: what the kernel calls available, less where a control group or
/// `ulimit -v` allows less. Threads: what the kernel, a control group and `ulimit -u` allow.
Machine machine();

/// Raises this process's limit of open descriptors, as far as the system allows it without asking
/// and at most to 65,536. Returns the limit.
std::uint64_t raise_descriptor_limit();
/// How many are open now.
std::uint64_t open_descriptors();

/// Throws std::runtime_error, with the limits to look at, if this process cannot begin `count` more
/// threads with the system's size of stack. Blocks until it has tried.
void check_threads_can_begin(std::size_t count);

/// Identity of the steady clock that this process reads: processes with the same number read one
/// clock. Made from the boot of the kernel and the time namespace. 0 = the kernel does not tell.
std::uint64_t steady_clock_identity();

/// As people read sizes of memory: "7.6 GiB".
std::string rounded_bytes(std::uint64_t bytes);

}  // namespace runtime
