// SPDX-License-Identifier: Apache-2.0
// wrappers/event_collector.hpp — records when operations passed down and up.
#pragma once
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Stamps an operation on its way down and its result on the way up, failures included, and adds
/// the pair to the host's records under the number of its own stage. Release and traffic leave no
/// record.
///
/// Context: whichever brought the operation.
/// Blocks:  nothing; records are added without locks.
/// Order:   changes none.
/// Throws:  nothing of its own.
class EventCollector final : public paths::Wrapper {
 public:
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  paths::OperationSet nonblocking_operations() const override { return paths::OperationSet::all(); }
};

paths::WrapperKind event_collector_kind();

}  // namespace wrappers
