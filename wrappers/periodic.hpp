// SPDX-License-Identifier: Apache-2.0
// wrappers/periodic.hpp — gate that passes one round in `every`, and replies to all other rounds.
#pragma once
#include <cstdint>

#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Passes a move (a contribution) down only if its round, counted from 1, is a multiple of `every`.
/// All other moves return immediately with the thread's own value and without a condition.
///
/// Why:     A solver that may stop a few iterations late need not check its condition in each
///          iteration. It stops at a round that passes. The condition of such a round is exact.
/// Blocks:  never. A move of a round that does not pass returns without waiting for other threads.
/// Throws:  nothing of its own.
/// Context: runs in the context of the operation.
/// Failure: In a round that does not pass, a contribution that failed above this wrapper fails only
///          its own thread. If the failure went down the path, a join below would wait for
///          contributors that never arrive in that round.
class Periodic final : public paths::Wrapper {
 public:
  explicit Periodic(std::uint64_t every) : every_(every) {}
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  bool sees_failed_operations() const override { return true; }

 private:
  const std::uint64_t every_;
};

paths::WrapperKind periodic_kind();

}  // namespace wrappers
