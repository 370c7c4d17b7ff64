// SPDX-License-Identifier: Apache-2.0
// runtime/continuation.hpp — resumption of work that waits without blocking a thread or fiber
#pragma once
#include "base/units.hpp"
#include "runtime/wait.hpp"

namespace runtime {

class Runtime;

/// Work that waits without a context, and continues in resume() when the wait ends. The object must
/// exist until resume() begins; resume() itself may destroy it.
class Continuation {
 protected:
  ~Continuation() = default;
  virtual void resume() noexcept = 0;

 private:
  friend class Resumptions;
};

/// Calls `continuation.resume()`. On the steady clock resume() runs immediately in the caller, and
/// must not block. On the virtual clock it runs in a service context, after all contexts that are
/// ready now, so that events of the same time keep their order.
void schedule(Runtime& runtime, Continuation& continuation);

/// Returns the instant at which `deadline` ends a wait. For a default deadline on the virtual clock
/// it returns Nanos::max(), because default deadlines have no effect there.
base::Nanos end_of(const Runtime& runtime, Deadline deadline);
/// Returns `left` or `right`, whichever deadline ends a wait first.
Deadline sooner(const Runtime& runtime, Deadline left, Deadline right);

}  // namespace runtime
