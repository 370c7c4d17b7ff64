// SPDX-License-Identifier: Apache-2.0
// wrappers/map.hpp — access to a shared element of another host on this machine, without frames.
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

/// Carries out operations directly on the element at the end of its path, as a store does on the
/// element's own host, if this process can map the element's memory. Otherwise operations take the
/// path as usual: several hosts in one process, or the virtual clock.
///
/// Operations that end or measure a run always take the path, so that hosts wait for each other and
/// learn of each other's ends. So do failures, which the end of a path may mark.
///
/// Blocks:  as the element does, until the host's deadline; the first operation also until the
///          element's host has started.
/// Throws:  pastset::ElementError, with the element's message.
/// Context: the operation's.
/// Order:   as that of a store.
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
  std::optional<std::shared_ptr<pastset::Element>> element_;  // null: cannot be mapped
};

paths::WrapperKind map_kind();

}  // namespace wrappers
