// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/resumptions.hpp — contexts in which work without a context goes on.
#pragma once
#include <memory>
#include <vector>

#include "runtime/continuation.hpp"

namespace runtime {

class Executor;

/// Private to runtime/. Implements runtime::resume().
///
/// Sharing: any thread may call resume(). On the virtual clock only one thread runs.
class Resumptions {
 public:
  /// The executor outlives this object.
  explicit Resumptions(Executor& executor);
  ~Resumptions();
  void resume(Continuation& continuation);

 private:
  class Resumption;
  Executor& executor_;
  std::vector<std::unique_ptr<Resumption>> idle_;
};

}  // namespace runtime
