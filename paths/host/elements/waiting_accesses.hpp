// SPDX-License-Identifier: Apache-2.0
// paths/host/elements/waiting_accesses.hpp — operations that may have to wait in an element.
#pragma once
#include <string>

#include "base/units.hpp"
#include "pastset/element.hpp"
#include "paths/operation.hpp"
#include "paths/plan/plan.hpp"
#include "paths/responder.hpp"
#include "paths/wrapper.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Runs operations on the element of one wrapper. If an operation owns a context (an OS thread or
/// fiber) and must wait, it blocks this context. Any other operation that must wait gets its reply
/// when the element notifies this object.
///
/// Thread-safe, also for operations without a context of their own.
class WaitingAccesses {
 public:
  /// Function that returns a text. The text is appended to the error of a read on `path` whose
  /// deadline has passed.
  using Hint = std::string (*)(const Plan& plan, std::uint32_t path);
  explicit WaitingAccesses(pastset::Element& element, Hint hint = nullptr)
      : element_(element), hint_(hint) {}
  ~WaitingAccesses();  ///< Requires: no operation waits.
  WaitingAccesses(const WaitingAccesses&) = delete;
  WaitingAccesses& operator=(const WaitingAccesses&) = delete;

  /// Handles an operation whose path ends at this wrapper.
  void handle(Operation&& operation, const Next& next, Responder& responder);
  base::Nanos end_late(base::Nanos now);  ///< see Wrapper::end_late()
  void give_up();                         ///< see Wrapper::give_up()

 private:
  struct Waiting;
  Result operate(const Operation& operation, const Deployment& deployment) const;
  void told(Waiting& waiting);
  void unlink(Waiting& waiting);
  static void answer(Waiting& waiting, Outcome&& outcome);

  pastset::Element& element_;
  const Hint hint_;
  runtime::Mutex mutex_;
  Waiting* first_ = nullptr;
};

}  // namespace paths
