// SPDX-License-Identifier: Apache-2.0
// wrappers/observe.hpp — read-only end of a path in an element.
#pragma once
#include <memory>
#include <utility>

#include "pastset/element.hpp"
#include "paths/host/elements/element_operation.hpp"
#include "paths/host/elements/waiting_accesses.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Ends a path in an element, like a store, but accepts only operations that read. These are
/// `enter` (compares the template), `observe`, `newest`, `first`, `last` and `delta` (returns
/// the maximum number of unobserved tuples). It rejects operations that would change or delete
/// tuples. A config can thus declare hosts that only read.
///
/// Blocks:  as the element does, until the host's deadline.
/// Throws:  pastset::ElementError with the element's message, or because an operation is rejected.
/// Context: runs in the application thread for operations from the element's own host. Operations
///          from other hosts wait without blocking a thread or fiber. They run in a fiber of their
///          own (service context) only if the element runs application code or another process can
/// Throws:  pastset::ElementError, with the element's message or because the operation is rejected.
class Observe final : public paths::Wrapper {
 public:
  explicit Observe(std::shared_ptr<pastset::Element> element)
      : element_(std::move(element)), waiting_(*element_) {}
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  bool needs_context() const override { return paths::needs_context_on(*element_); }
  base::Nanos end_late(base::Nanos now) override { return waiting_.end_late(now); }
  void give_up() override { waiting_.give_up(); }
  paths::OperationSet nonblocking_operations() const override {
    return paths::nonblocking_on(*element_);
  }

 private:
  void refuse_changes(const paths::Operation& operation) const;
  const std::shared_ptr<pastset::Element> element_;
  paths::WaitingAccesses waiting_;
};

paths::WrapperKind observe_kind();

}  // namespace wrappers
