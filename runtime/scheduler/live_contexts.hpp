// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/live_contexts.hpp — the fibers of an executor that have work
#pragma once
#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>

namespace runtime {

class Context;
class VirtualClock;

/// The list of an executor's fibers that have work, and reports about them. Private to runtime/.
///
/// Thread-safe: no. Only the executor's OS thread uses it; write() also in a signal handler.
class LiveContexts {
 public:
  void add(Context& context);
  void remove(Context& context);
  bool empty() const { return first_ == nullptr; }
  /// Returns the maximum number of contexts in the list since restart_most().
  std::size_t most() const { return most_; }
  void restart_most() { most_ = count_; }
  void cancel(const std::exception_ptr& reason);

  /// Returns a list of the waiting contexts, for a run in which nothing can wake them.
  std::string deadlock_report(const VirtualClock& clock) const;
  /// Returns a list of the contexts that ran most often, for a run whose virtual time does not
  /// advance.
  std::string standstill_report(const VirtualClock& clock) const;
  void write(int descriptor) const;

 private:
  Context* first_ = nullptr;
  std::size_t count_ = 0;
  std::size_t most_ = 0;
};

}  // namespace runtime
