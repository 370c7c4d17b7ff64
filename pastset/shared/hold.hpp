// SPDX-License-Identifier: Apache-2.0
// pastset/shared/hold.hpp — an element of shared memory while it is held.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "pastset/shared/element.hpp"
#include "runtime/processes/between_processes.hpp"
#include "runtime/scheduler/moment.hpp"

namespace pastset {

/// Both locks: of who waits in this process, and of the log. Who has to wait for the log lets ours
/// go meanwhile, so that others of this process wait beside him, each for his own time, and those
/// who need ours only do not.
class SharedElement::Hold {
 public:
  enum class Of : std::uint8_t { live, any, ours };
  explicit Hold(const SharedElement& element, Of of = Of::live)
      : element_(element), lock_(element.mutex_) {
    if (of == Of::any) take();
    if (of == Of::live) take_live();
  }
  ~Hold() { let_go_log(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  runtime::Lock& lock() { return lock_; }
  bool has_log() const { return has_log_; }
  void let_go_log() {
    if (std::exchange(has_log_, false)) element_.log_.let_go();
  }
  void let_go() {
    let_go_log();
    lock_.unlock();
  }
  /// Ours is held after it, however it ends. A fiber lets others of its thread go on meanwhile, and
  /// is thrown a Stop.
  void take() {
    if (!try_take(element_.mapping_->lock_patience(), runtime::rest_fiber))
      throw element_.log_.held_for_long();
  }
  /// `rest` as rest_fiber().
  bool try_take(
      base::Nanos patience, bool (*rest)(base::Nanos) = [](base::Nanos) { return false; }) {
    if (!lock_.owns_lock()) lock_.lock();
    has_log_ = element_.log_.try_take(base::Nanos{0});
    if (!has_log_) {
      lock_.unlock();
      try {
        const base::Nanos end = runtime::steady_now() + patience;
        while (!has_log_ && runtime::steady_now() < end && rest(resting))
          has_log_ = element_.log_.try_take(base::Nanos{0});
        if (!has_log_)
          has_log_ = element_.log_.try_take(std::max(end - runtime::steady_now(), base::Nanos{0}));
      } catch (...) {
        lock_.lock();
        throw;
      }
      lock_.lock();
    }
    if (has_log_ && !element_.orphans_.empty()) element_.drop_orphans();
    return has_log_;
  }
  void take_live() {
    take();
    if (!element_.log_.is_deleted()) return;
    let_go_log();
    throw element_.waiters_.deleted();
  }

 private:
  static constexpr base::Nanos resting{1'000'000};
  const SharedElement& element_;
  runtime::Lock lock_;
  bool has_log_ = false;
};

}  // namespace pastset
