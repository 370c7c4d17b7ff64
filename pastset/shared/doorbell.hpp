// SPDX-License-Identifier: Apache-2.0
// pastset/shared/doorbell.hpp — what a process that maps a space hears of the others.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "pastset/shared/mapping.hpp"
#include "runtime/processes/between_processes.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// Answers what other processes ring for, and clears what they leave when they die. Who may only
/// read is rung by nobody: he looks.
class Doorbell {
 public:
  /// An element of this process.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// Something may have changed. Says whether anybody here waits for that.
    virtual bool on_ring(runtime::DeferredWakes& wakes) = 0;
  };
  explicit Doorbell(std::shared_ptr<SharedMapping> mapping);
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;
  void add(Listener& element);
  void remove(Listener& element);  ///< waits until it is not being told
  void look();                     ///< of who may only read: somebody waits

 private:
  void on_ring();
  bool tell_all();
  const std::shared_ptr<SharedMapping> mapping_;
  runtime::Mutex mutex_;
  std::vector<Listener*> elements_;
  std::uint32_t process_changes_ = 0;
  std::unique_ptr<runtime::BellThreads> threads_;  // ends first
  std::unique_ptr<runtime::LookingThread> looking_;
};

}  // namespace pastset
