// SPDX-License-Identifier: Apache-2.0
// wrappers/periodic.hpp — lets one round in so many through, and answers the others unchecked.
#pragma once
#include <cstdint>

#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Moves whose round, counted from 1, is a multiple of `every` go down; all others come back at
/// once with the thread's own value and no condition.
///
/// Why:     a solver that may stop a few iterations late need not ask in each of them. Where it
///          stops is where the exact condition of such a round says so.
/// Context: the operation's.
/// Blocks:  nothing of its own; in the rounds it answers nobody waits for anybody.
/// Order:   none of its own.
/// Failure: in a round that it answers, a contribution that failed above is its thread's alone:
///          a join below would wait for others that never come to that round.
/// Throws:  nothing of its own.
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
