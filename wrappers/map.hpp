// SPDX-License-Identifier: Apache-2.0
// wrappers/map.hpp — a shared element of another host of this machine, without frames.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pastset/element.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/wait.hpp"

namespace wrappers {

/// Carries out operations on the element at the end of its path where that is in memory that this
/// host's process can map, as a store does on the element's own host. Else they go on as on any
/// path: where several hosts are in one process, or on the virtual clock. What a run does to end
/// and to be measured always goes on, so that hosts wait for each other and hear of their ends as
/// on any path; so do failures, which the end of a path may mark.
///
/// Context: whichever brought the operation.
/// Blocks:  as the element does, until the host's deadline; the first operation also until the
///          element's host is there.
/// Order:   as that of a store.
/// Throws:  pastset::ElementError, with the element's own words.
class Map final : public paths::BlockingWrapper {
 public:
  explicit Map(std::string element) : name_of_element_(std::move(element)) {}
  paths::Result operate(paths::Operation operation, paths::Next next) override;
  pastset::Element* element_here() override;

 private:
  std::shared_ptr<pastset::Element> element(const paths::Operation& operation,
                                            const paths::Next& next);
  const std::string name_of_element_;
  runtime::Mutex mutex_;
  std::optional<std::shared_ptr<pastset::Element>> element_;  // null: it cannot be mapped
};

paths::WrapperKind map_kind();

}  // namespace wrappers
