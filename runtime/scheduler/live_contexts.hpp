// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/live_contexts.hpp — the fibers of an executor that have work.
#pragma once
#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>

namespace runtime {

class Context;
class VirtualClock;

/// Private to runtime/. A list of contexts, and reports about them.
///
/// Sharing: none. Only the OS thread of the executor uses it; write() also in a signal handler.
class LiveContexts {
 public:
  void add(Context& context);
  void remove(Context& context);
  bool empty() const { return first_ == nullptr; }
  /// Returns how many there were at most since restart_most().
  std::size_t most() const { return most_; }
  void restart_most() { most_ = count_; }
  /// Has each present or next wait of them throw `reason`.
  void cancel(const std::exception_ptr& reason);

  /// Lists those that wait, when nothing can wake them.
  std::string deadlock_report(const VirtualClock& clock) const;
  /// Lists those that ran most often, when time does not pass.
  std::string standstill_report(const VirtualClock& clock) const;
  /// Writes a line for each context.
  void write(int descriptor) const;

 private:
  Context* first_ = nullptr;
  std::size_t count_ = 0;
  std::size_t most_ = 0;
};

}  // namespace runtime
