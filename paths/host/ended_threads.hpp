// SPDX-License-Identifier: Apache-2.0
// paths/host/ended_threads.hpp — threads of a host that have ended.
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

/// Set of the threads of a host that have ended. A thread is identified by its index on the host.
///
/// Why: a group waits until all its members have joined, and an ended thread never joins.
/// Thread-safe.
class EndedThreads {
 public:
  void add(std::uint32_t thread);
  void remove(std::uint32_t thread);  ///< called when the thread begins again
  bool empty() const { return count_.load() == 0; }
  bool has(std::uint32_t thread) const;
  /// Returns the first thread in `list` that has ended; nullopt if no thread in it has ended.
  /// `list` is a text that list_text() has made. If the text is malformed, the function reads only
  /// the part before the first mistake.
  std::optional<std::uint32_t> first_of(std::string_view list) const;
  /// Returns a text such as "0-3,7" for `threads`, which contains indexes in ascending order. If
  /// the text gets very long, omits the remaining threads.
  static std::string list_text(const std::vector<std::uint32_t>& threads);

 private:
  mutable runtime::Mutex mutex_;
  std::vector<bool> ended_;  // indexed by thread; grows as needed
  std::atomic<std::uint32_t> count_{0};
};

/// Observer of the threads of a host. thread_ended() is called when a thread ends.
class ThreadWatcher {
 public:
  virtual ~ThreadWatcher() = default;
  virtual void thread_ended(Deployment& deployment, std::uint32_t thread) = 0;
};

}  // namespace paths
