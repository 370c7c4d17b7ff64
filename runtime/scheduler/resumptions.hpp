// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/resumptions.hpp — service fibers that call Continuation::resume()
#pragma once
#include <memory>
#include <vector>

#include "runtime/continuation.hpp"

namespace runtime {

class Executor;

/// Runs continuations: implements runtime::schedule(). Private to runtime/.
///
/// Thread-safe: yes. On the virtual clock only one thread runs.
class Resumptions {
 public:
  /// Requires: the executor outlives this object.
  explicit Resumptions(Executor& executor);
  ~Resumptions();
  void resume(Continuation& continuation);

 private:
  class Resumption;
  Executor& executor_;
  std::vector<std::unique_ptr<Resumption>> idle_;
};

}  // namespace runtime
