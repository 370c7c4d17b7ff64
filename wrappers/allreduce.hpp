// SPDX-License-Identifier: Apache-2.0
// wrappers/allreduce.hpp — joins paths: combines what their threads contribute, answers them all.
#pragma once
#include "paths/joins/reduction.hpp"
#include "paths/joins/round.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// Combines the moves of all contributors, one round after the other, in the order of their slots,
/// so that results have the same bits from run to run. What comes up is everybody's result.
///
/// Why:     Bongo et al. 2004, §III-A: the last arriver alone goes on, the others wait for a copy.
/// Context: the last arriver's is inside `next` for the whole round.
/// Blocks:  until all have contributed (paths/joins/round.hpp: deadlines, failures, releases).
/// Order:   none within a round; rounds go down as they become complete.
/// Throws:  TravelError: the round's failure, the same one to all. A NaN, an integer overflow or a
///          value outside the declared sign names who contributed it.
class Allreduce final : public paths::Wrapper {
 public:
  /// `wrapper` is its index in the plan.
  Allreduce(paths::Site& site, std::uint32_t wrapper, paths::Reduction reduction);
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  base::Nanos end_late(base::Nanos now) override { return rounds_.end_late(now); }
  void give_up() override { rounds_.give_up(); }
  bool takes_failures() const override { return true; }
  bool joins() const override { return true; }

 private:
  paths::Rounds rounds_;
};

paths::WrapperKind allreduce_kind();

}  // namespace wrappers
