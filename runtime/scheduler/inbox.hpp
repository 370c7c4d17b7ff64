// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/inbox.hpp — work and fibers that other threads pass to an executor
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace runtime {

class Context;

/// Work to run, fibers to wake, and fibers to start, passed from other threads to an executor.
/// Reuses its memory. Private to runtime/.
///
/// Thread-safe: any thread may add work and fibers. Only the executor's OS thread takes them out.
class Inbox {
 public:
  void add_work(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    has_any_.store(true);
  }
  void add_woken(Context& fiber) {
    const std::lock_guard lock(mutex_);
    woken_.push_back(&fiber);
    has_any_.store(true);
  }
  void add_begun(Context& fiber) {
    const std::lock_guard lock(mutex_);
    begun_.push_back(&fiber);
    has_begun_.store(true);
    has_any_.store(true);
  }
  /// Whether work or a fiber was added since the last take().
  bool has_any() const { return has_any_.load(); }
  bool has_begun() const { return has_begun_.load(); }

  /// The work and the fibers to wake that take() took from the inbox. Valid until the destructor.
  class Taken {
   public:
    explicit Taken(Inbox& inbox) : inbox_(inbox) {}
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken() {
      inbox_.taken_work_.clear();
      inbox_.taken_woken_.clear();
    }
    const std::vector<std::function<void()>>& work() const { return inbox_.taken_work_; }
    const std::vector<Context*>& woken() const { return inbox_.taken_woken_; }

   private:
    Inbox& inbox_;
  };
  /// Takes all work and all fibers to wake. Later additions make has_any() true again.
  Taken take() {
    const std::lock_guard lock(mutex_);
    taken_work_.swap(work_);
    taken_woken_.swap(woken_);
    has_any_.store(false);
    return Taken(*this);
  }
  template <class Launch>
  void take_begun(Launch launch) {
    {
      const std::lock_guard lock(mutex_);
      taken_begun_.swap(begun_);
      has_begun_.store(false);
    }
    for (Context* fiber : taken_begun_) launch(*fiber);
    taken_begun_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> work_, taken_work_;
  std::vector<Context*> woken_, taken_woken_;
  std::vector<Context*> begun_, taken_begun_;
  // Flags that are read without the mutex.
  std::atomic<bool> has_any_{false};
  std::atomic<bool> has_begun_{false};
};

}  // namespace runtime
