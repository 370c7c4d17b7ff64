// SPDX-License-Identifier: Apache-2.0
// tests/support/resources.hpp — resources that a process holds.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace test_support {

/// Returns the number of entries of /proc/`process`/`folder`, where `folder` is for example "fd" or
/// "task".
inline std::size_t entries_of(const char* folder, pid_t process = getpid()) {
  const auto path = std::filesystem::path("/proc") / std::to_string(process) / folder;
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
}

inline std::size_t open_descriptors(pid_t process = getpid()) { return entries_of("fd", process); }

/// Returns the number of mappings of this process that links over shared memory use.
inline std::size_t shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("memfd:paths") == std::string::npos ? 0 : 1;
  return count;
}

/// Whether a sanitizer keeps memory that the program has freed. If so, the resident memory of a
/// process is larger than the memory that the program uses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool keeps_freed_memory = true;
#else
inline constexpr bool keeps_freed_memory = false;
#endif

inline std::uint64_t resident_kib(pid_t process = getpid()) {
  std::ifstream status(std::filesystem::path("/proc") / std::to_string(process) / "status");
  for (std::string word; status >> word;)
    if (std::uint64_t kib = 0; word == "VmRSS:" && status >> kib) return kib;
  return 0;
}

}  // namespace test_support
