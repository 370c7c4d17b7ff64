// SPDX-License-Identifier: Apache-2.0
// paths/thread.cpp — finds a thread's paths in the plan.
#include "paths/thread.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paths {

Thread::Thread(Host& host, std::uint32_t index, std::uint64_t seed)
    : host_(&host),
      index_(index),
      random_(seed, host.plan().hosts[host.index()].first_thread + index) {
  const Plan& plan = host.plan();
  for (std::uint32_t number : host.paths()) {
    const auto& path = plan.paths[number];
    if (index >= path.first_thread && index - path.first_thread < path.threads)
      paths_.emplace_back(host, number, index - path.first_thread);
  }
}

Thread::~Thread() {
  for (Path& path : paths_) path.release();
}

std::uint32_t Thread::rank() const {
  return host_->plan().hosts[host_->index()].first_thread + index_;
}
std::uint32_t Thread::threads() const { return host_->plan().thread_count(); }

bool Thread::has_path(std::string_view graph) const {
  for (const Path& path : paths_)
    if (path.graph() == graph) return true;
  return false;
}

Path& Thread::path(std::string_view graph) {
  std::vector<std::string> names;
  for (Path& path : paths_) {
    if (path.graph() == graph) return path;
    names.push_back(path.graph());
  }
  throw TravelError(
      host_->name(), std::string(graph), "",
      fmt::format("thread {} has no such path; it has: {}", index_, fmt::join(names, ", ")));
}

void Thread::fail(const std::string& reason) {
  for (Path& path : paths_) path.release(reason);
}

}  // namespace paths
