// SPDX-License-Identifier: Apache-2.0
// runtime/continuation.hpp — how work that has no context of its own goes on.
#pragma once
#include "base/units.hpp"
#include "runtime/wait.hpp"

namespace runtime {

class Runtime;

/// The next part of work that has no context of its own. Its maker keeps it until go_on() begins;
/// from then on it may end.
class Continuation {
 protected:
  ~Continuation() = default;
  virtual void resume() noexcept = 0;

 private:
  friend class Resumptions;
};

/// Calls go_on(). On the steady clock it runs at once, and must not block. On the virtual clock it
/// runs in a service context behind all that are ready: events of one moment keep their order.
void schedule(Runtime& runtime, Continuation& continuation);

/// The time at which `deadline` ends a wait: Nanos::max() on the virtual clock, unless it was
/// written.
base::Nanos end_of(const Runtime& runtime, Deadline deadline);

}  // namespace runtime
