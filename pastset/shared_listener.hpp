// SPDX-License-Identifier: Apache-2.0
// pastset/shared_listener.hpp — what a process that maps a space hears of the others.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "pastset/shared_mapping.hpp"
#include "runtime/between_processes.hpp"
#include "runtime/wait.hpp"

namespace pastset {

class SharedElement;

/// Answers what other processes ring for, and clears what they leave when they die.
class SharedListener {
 public:
  explicit SharedListener(std::shared_ptr<SharedMapping> mapping);
  ~SharedListener();
  SharedListener(const SharedListener&) = delete;
  SharedListener& operator=(const SharedListener&) = delete;
  void add(SharedElement& element);
  void remove(SharedElement& element);  ///< waits until it is not being told

 private:
  void rung();
  const std::shared_ptr<SharedMapping> mapping_;
  runtime::Mutex mutex_;
  std::vector<SharedElement*> elements_;
  std::uint32_t process_changes_ = 0;
  std::unique_ptr<runtime::BellThreads> threads_;  // ends first
};

}  // namespace pastset
