// SPDX-License-Identifier: Apache-2.0
// runtime/continuation.hpp — continuation of work that has no context
#pragma once
#include "base/units.hpp"
#include "runtime/wait.hpp"

namespace runtime {

class Runtime;

/// The next part of work that waits without a context. Its owner keeps it alive until resume()
/// begins; resume() may destroy it.
class Continuation {
 protected:
  ~Continuation() = default;
  virtual void resume() noexcept = 0;

 private:
  friend class Resumptions;
};

/// Calls resume(). On the steady clock it runs at once in the caller, and must not block. On the
/// virtual clock it runs in a service context after all ready ones, so that events of one time keep
/// their order.
void schedule(Runtime& runtime, Continuation& continuation);

/// Returns the time at which `deadline` ends a wait. Default deadlines do not exist on the virtual
/// clock: the result is then Nanos::max().
base::Nanos end_of(const Runtime& runtime, Deadline deadline);

}  // namespace runtime
