// SPDX-License-Identifier: Apache-2.0
// runtime/processes/machine.cpp — limits read from the kernel; an unknown limit is no bound
#include "runtime/processes/machine.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/descriptor.hpp"
#include "base/digest.hpp"
#include "base/units.hpp"

namespace runtime {
namespace {

/// Returns the number at the start of a kernel file; nullopt if there is none, such as for "max".
std::optional<std::uint64_t> number_in(const std::string& file) {
  std::string word;
  std::ifstream(file) >> word;
  return base::parse_natural(word);
}

void bound(std::uint64_t& value, std::optional<std::uint64_t> by, std::uint64_t share = 1) {
  if (by) value = std::min(value, *by / share);
}

void bound(std::uint64_t& value, decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bound(value, limit.rlim_cur);
}

void bound_by_available(std::uint64_t& memory_bytes) {
  std::ifstream file("/proc/meminfo");
  std::uint64_t kib = 0, available_kib = 0;
  bool is_known = false;
  for (std::string word, unit; file >> word >> kib; std::getline(file, unit)) {
    is_known = is_known || word == "MemAvailable:";
    if (word == "MemAvailable:" || word == "SwapFree:") available_kib += kib;
  }
  if (is_known) bound(memory_bytes, available_kib * 1024);
}

/// Applies the limits of control groups. Each line is "number:controllers:path"; version 2 has no
/// controllers.
void bound_by_groups(Machine& machine) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    for (std::string path = line.substr(second + 1);; path = path.substr(0, path.rfind('/'))) {
      const std::string folder = "/sys/fs/cgroup/" + controllers + path;
      if (controllers.empty() || controllers == "memory") {
        bound(machine.memory_bytes, number_in(folder + "/memory.max"));
        bound(machine.memory_bytes, number_in(folder + "/memory.limit_in_bytes"));
      }
      if (controllers.empty() || controllers == "pids")
        bound(machine.threads, number_in(folder + "/pids.max"));
      if (path.find('/') == std::string::npos) break;
    }
  }
}

rlim_t raised(const rlimit& limit) {
  constexpr rlim_t useful = 65'536;
  return std::max(limit.rlim_cur, std::min(limit.rlim_max, useful));
}

}  // namespace

Machine machine() {
  constexpr std::uint64_t mappings_of_thread = 2;  // the thread's stack and the guard below it
  Machine machine;
  bound_by_available(machine.memory_bytes);
  bound_by_groups(machine);
  bound(machine.memory_bytes, RLIMIT_AS);
  bound(machine.threads, number_in("/proc/sys/kernel/threads-max"));
  bound(machine.threads, number_in("/proc/sys/kernel/pid_max"));
  if (geteuid() != 0) bound(machine.threads, RLIMIT_NPROC);
  machine.threads_of_process = machine.threads;
  bound(machine.threads_of_process, number_in("/proc/sys/vm/max_map_count"), mappings_of_thread);
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0)
    machine.descriptors_of_process = raised(descriptors);
  return machine;
}

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return UINT64_MAX;
  const rlim_t useful = raised(limit);
  if (useful != limit.rlim_cur) {
    limit.rlim_cur = useful;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur;
}

std::uint64_t open_descriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/self/fd", error);
  if (error == std::errc::too_many_files_open) return raise_descriptor_limit();
  // One of the entries is the descriptor of the folder itself.
  return static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(
      std::distance(begin(all), std::filesystem::directory_iterator()) - 1, 0));
}

bool can_open_descriptors(std::size_t count) {
  for (std::vector<base::Descriptor> opened; opened.size() < count;) {
    opened.emplace_back(eventfd(0, EFD_CLOEXEC));
    if (!opened.back()) return false;
  }
  return true;
}

std::uint64_t steady_clock_identity() {
  namespace fs = std::filesystem;
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code error;
  // Kernels before 5.6 have no time namespaces. The symbolic link is then missing, and `clocks` is
  // empty. If /proc does not show our process, nothing is known about its namespace.
  const bool is_notified = !boot.empty() && fs::exists("/proc/self/ns/pid", error);
  const fs::path clocks = fs::read_symlink("/proc/self/ns/time", error);
  if (!is_notified) return 0;
  return std::max<std::uint64_t>(base::digest_of(boot + '\n' + clocks.string()).low, 1);
}

std::string rounded_bytes(std::uint64_t bytes) {
  constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace runtime
