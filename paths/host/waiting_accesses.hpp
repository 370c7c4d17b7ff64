// SPDX-License-Identifier: Apache-2.0
// paths/host/waiting_accesses.hpp — operations that may have to wait in an element.
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

/// What operate_on() does, of one wrapper: in the operation's own context, or answered later.
///
/// Sharing: any context may call anything, or what is none.
class WaitingAccesses {
 public:
  /// `hint` adds something to what is said of a read that is late.
  using Hint = std::string (*)(const Plan& plan, std::uint32_t path);
  explicit WaitingAccesses(pastset::Element& element, Hint hint = nullptr)
      : element_(element), hint_(hint) {}
  ~WaitingAccesses();  ///< when none waits any more
  WaitingAccesses(const WaitingAccesses&) = delete;
  WaitingAccesses& operator=(const WaitingAccesses&) = delete;

  /// The path ends here.
  void handle(Operation&& operation, const Next& next, Responder& responder);
  base::Nanos end_late(base::Nanos now);  ///< Wrapper::end_late()
  void give_up();                         ///< Wrapper::give_up()

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
