// SPDX-License-Identifier: Apache-2.0
// paths/host/ended_threads.hpp — the threads of a deployment's host that have ended.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/wait.hpp"

namespace paths {

class Deployment;

/// Threads by their index on the host.
///
/// Why:     a group waits for all its members, and one that has ended never joins.
/// Sharing: any context may call anything.
class EndedThreads {
 public:
  void add(std::uint32_t thread);
  void remove(std::uint32_t thread);  ///< it begins again
  bool empty() const { return count_.load() == 0; }
  bool has(std::uint32_t thread) const;
  /// The first of a list that has ended. Ignores what is no list of list_text().
  std::optional<std::uint32_t> first_of(std::string_view list) const;
  /// "0-3,7", of indexes in rising order; cut behind one of them if it would be very long.
  static std::string list_text(const std::vector<std::uint32_t>& threads);

 private:
  mutable runtime::Mutex mutex_;
  std::vector<bool> ended_;  // as long as needed
  std::atomic<std::uint32_t> count_{0};
};

/// Is notified when threads of a host end, by the thread itself.
class ThreadWatcher {
 public:
  virtual ~ThreadWatcher() = default;
  virtual void thread_ended(Deployment& deployment, std::uint32_t thread) = 0;
};

}  // namespace paths
