// SPDX-License-Identifier: Apache-2.0
// pastset/shared/listener.hpp — what a process that maps a space hears of the others.
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
class SharedListener {
 public:
  /// An element of this process.
  class Ear {
   public:
    virtual ~Ear() = default;
    /// Something may have changed. Says whether anybody here waits for that.
    virtual bool rung(runtime::DeferredWakes& wakes) = 0;
  };
  explicit SharedListener(std::shared_ptr<SharedMapping> mapping);
  ~SharedListener();
  SharedListener(const SharedListener&) = delete;
  SharedListener& operator=(const SharedListener&) = delete;
  void add(Ear& element);
  void remove(Ear& element);  ///< waits until it is not being told
  void look();                ///< of who may only read: somebody waits

 private:
  void rung();
  bool tell_all();
  const std::shared_ptr<SharedMapping> mapping_;
  runtime::Mutex mutex_;
  std::vector<Ear*> elements_;
  std::uint32_t process_changes_ = 0;
  std::unique_ptr<runtime::BellThreads> threads_;  // ends first
  std::unique_ptr<runtime::LookingThread> looking_;
};

}  // namespace pastset
