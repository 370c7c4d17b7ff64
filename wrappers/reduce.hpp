// SPDX-License-Identifier: Apache-2.0
// wrappers/reduce.hpp — joins paths: combines what their threads contribute, answers one of them.
#pragma once
#include "paths/joins/reduction.hpp"
#include "paths/joins/round.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Combines the moves of all contributors like an allreduce, but only slot 0 waits for them, goes
/// down with the result and gets what comes up. The others return as soon as their contribution is
/// accepted here, with an empty result; nothing holds them back from running ahead.
///
/// Context: slot 0's is inside `next`, so that it is always the same one.
/// Blocks:  slot 0 until all have contributed (paths/joins/round.hpp); the others never.
/// Order:   none within a round; rounds go down as they become complete.
/// Throws:  TravelError: to slot 0 the round's failure; to others their own, or that of a round
///          that had failed before they came.
class Reduce final : public paths::Wrapper {
 public:
  /// `wrapper` is its index in the plan.
  Reduce(paths::Site& site, std::uint32_t wrapper, paths::Reduction reduction);
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  base::Nanos end_late(base::Nanos now) override { return rounds_.end_late(now); }
  void give_up() override { rounds_.give_up(); }
  bool takes_failures() const override { return true; }
  bool joins() const override { return true; }

 private:
  paths::Rounds rounds_;
};

paths::WrapperKind reduce_kind();

}  // namespace wrappers
