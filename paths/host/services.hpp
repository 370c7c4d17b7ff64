// SPDX-License-Identifier: Apache-2.0
// paths/host/services.hpp — work of a host that must end before its deployment ends.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Starts and counts service contexts (fibers that do work for other hosts). Also counts running
/// operations that block no context.
///
/// Why: service contexts and operations refer to the wrappers of a deployment. The deployment
///      therefore waits for all of them before it destroys its wrappers.
/// Thread-safe.
class Services {
 public:
  /// `host` and `index` are used in the names of contexts. `host` outlives this object.
  Services(runtime::Runtime& runtime, std::string_view host, std::uint32_t index)
      : runtime_(runtime), host_(host), index_(index) {}

  /// Starts `work` in a service context. The caller may detach the task.
  /// Throws: std::runtime_error if there is no OS thread or no stack for the context.
  runtime::Task spawn(std::string_view role, std::function<void()> work);
  /// Returns a number that makes the name of a service context unique on this host.
  std::uint64_t take_number() { return next_number_.fetch_add(1); }

  /// Counts an operation that spawn() did not start as running until remove_operation() is called.
  void add_operation() { operations_.fetch_add(1); }
  void remove_operation();

  bool are_running() const;
  /// Cancels the present wait of each context that spawn() started.
  void cancel();
  /// Blocks until no counted context or operation runs. Returns false if `limit` passes before.
  bool wait_for_end(runtime::Deadline limit);
  /// Blocks until a context or operation has ended, or until `limit` has passed. Returns
  /// immediately if no context or operation runs.
  void wait_for_change(runtime::Deadline limit);

 private:
  bool are_running_locked() const { return !contexts_.empty() || operations_.load() > 0; }
  runtime::Woken wait_locked(runtime::Lock& lock, runtime::Deadline limit);
  void remove_context(std::uint64_t number);

  runtime::Runtime& runtime_;
  const std::string_view host_;
  const std::uint32_t index_;
  std::atomic<std::uint64_t> next_number_{0};
  std::atomic<std::uint64_t> operations_{0};  // running operations; decreased only with mutex_ held
  mutable runtime::Mutex mutex_;
  runtime::WaitList changed_;
  std::unordered_map<std::uint64_t, runtime::TaskCanceller> contexts_;  // keyed by take_number()
};

}  // namespace paths
