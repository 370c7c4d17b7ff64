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

/// Carries out operations directly on the shared element at the end of the path, in this process.
/// The result is the same as from a store on the element's own host. If this process cannot map the
/// element's memory, operations take the path as usual. It cannot map the memory if several hosts
/// are in one process, or on the virtual clock.
///
/// Operations that end or measure a run always take the path. Hosts thus wait for each other and
/// learn when another host ends. Failed operations also take the path, because the store at the end
/// of the path may have to mark the element with the failure.
///
/// Blocks:  as the element does, until the host's deadline. The first operation also blocks until
///          the element's host has started.
/// Throws:  pastset::ElementError, with the element's message.
/// Context: runs in the context of the operation.
/// Order:   Blocked moves continue in the order of arrival, as with a store.
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
  // The mapped element. nullopt = mapping was not tried yet; nullptr = it cannot be mapped.
  std::optional<std::shared_ptr<pastset::Element>> element_;
};

paths::WrapperKind map_kind();

}  // namespace wrappers
