// SPDX-License-Identifier: Apache-2.0
// pastset/shared/doorbell.hpp — notifications between the processes of a shared space
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "pastset/shared/mapping.hpp"
#include "runtime/processes/between_processes.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// Wakes the waiters of this process when another process changes an element. Also cleans up after
/// processes that have died. A process that may only read the space gets no notifications. The
/// Doorbell of such a process therefore polls the shared memory while waiters need the polling.
class Doorbell {
 public:
  /// An element of this process that receives notifications.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// Called when the element has possibly changed. Returns true if waiters of the element depend
    /// on polling. The Doorbell then continues to poll.
    virtual bool on_ring(runtime::DeferredWakes& wakes) = 0;
  };
  explicit Doorbell(std::shared_ptr<SharedMapping> mapping);
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;
  void add(Listener& element);
  void remove(Listener& element);  ///< blocks while an on_ring() of the element runs
  void look();                     ///< starts polling for a waiter; only in read-only spaces

 private:
  void on_ring();
  bool notify_all();
  const std::shared_ptr<SharedMapping> mapping_;
  runtime::Mutex mutex_;
  std::vector<Listener*> elements_;
  std::uint32_t process_changes_ = 0;
  // The threads end before the members above are destroyed.
  std::unique_ptr<runtime::BellThreads> threads_;
  std::unique_ptr<runtime::LookingThread> looking_;
};

}  // namespace pastset
