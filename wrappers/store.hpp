// SPDX-License-Identifier: Apache-2.0
// wrappers/store.hpp — the end of a path: an element, with every operation PastSet knows.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "pastset/element.hpp"
#include "paths/host/element_operation.hpp"
#include "paths/host/waiting_accesses.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// What leaves an error mark in the element: of paths that pushes begin.
enum class StoreMarks : std::uint8_t {
  nothing,
  failures,          ///< a failed move, and the end of the path when it is a failure
  failures_and_end,  ///< any end of the path, after which nothing more comes
};

/// Carries out each operation on its element and answers with what the element said; a moved
/// tuple goes back up as the result. One that marks ends a path of pushes.
///
/// Context: whichever brought the operation: the application's thread on the element's host, a
///          service context, or none, otherwise.
/// Blocks:  as the element does, until the host's deadline.
/// Order:   changes none of its own; blocked movers are admitted first come, first served.
/// Throws:  pastset::ElementError, with the element's own words.
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
