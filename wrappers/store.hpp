// SPDX-License-Identifier: Apache-2.0
// wrappers/store.hpp — end of a path in an element, for every operation of PastSet.
#pragma once
#include <cstdint>
#include <memory>

#include "pastset/element.hpp"
#include "paths/host/elements/element_operation.hpp"
#include "paths/host/elements/waiting_accesses.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Events after which a store marks its element with an error. Only a store on a path that begins
/// with a push may mark its element.
enum class StoreMarks : std::uint8_t {
  nothing,
  failures,          ///< a failed move, or an end of the path by a failure
  failures_and_end,  ///< a failed move, or any end of the path
};

/// Ends a path in an element. It carries out each operation on the element and replies with the
/// element's result. The result of a move is the moved tuple.
///
/// Blocks:  as the element does, until the host's deadline.
/// Throws:  pastset::ElementError, with the element's message.
/// Context: runs in the application thread for operations from the element's own host. Operations
///          from other hosts wait without blocking a thread or fiber. They run in a fiber of their
///          own (service context) only if the element runs application code or another process can
///          hold its lock.
/// Order:   Blocked moves continue in the order of arrival.
class Store final : public paths::Wrapper {
 public:
  explicit Store(std::shared_ptr<pastset::Element> element, StoreMarks marks = StoreMarks::nothing);
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  bool needs_context() const override { return paths::needs_context_on(*element_); }
  base::Nanos end_late(base::Nanos now) override { return waiting_.end_late(now); }
  void give_up() override { waiting_.give_up(); }
  paths::OperationSet nonblocking_operations() const override {
    return paths::nonblocking_on(*element_);
  }
  pastset::Element* element_here() override { return element_.get(); }
  bool sees_failed_operations() const override { return marks_ != StoreMarks::nothing; }

 private:
  bool leaves_mark(const paths::Operation& operation, const paths::Plan& plan) const;
  const std::shared_ptr<pastset::Element> element_;
  const StoreMarks marks_;
  paths::WaitingAccesses waiting_;
};

paths::WrapperKind store_kind();

}  // namespace wrappers
