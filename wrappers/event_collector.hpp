// SPDX-License-Identifier: Apache-2.0
// wrappers/event_collector.hpp — trace records of when operations passed down and up.
#pragma once
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Records when an operation passes on its way down, and when its result or failure passes on its
/// way up. The host's recorder stores the record under the number of this stage. Operations of the
/// kinds release and traffic are not recorded.
///
/// Blocks:  never; records are added without locks.
/// Throws:  nothing of its own.
/// Context: runs in the context of the operation.
class EventCollector final : public paths::Wrapper {
 public:
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  paths::OperationSet nonblocking_operations() const override { return paths::OperationSet::all(); }
};

paths::WrapperKind event_collector_kind();

}  // namespace wrappers
