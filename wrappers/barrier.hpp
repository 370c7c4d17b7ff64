// SPDX-License-Identifier: Apache-2.0
// wrappers/barrier.hpp — joins paths: nobody returns from a round before everyone has come.
#pragma once
#include <cstdint>

#include "paths/joins/round.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// An allreduce of nothing: what is moved is not looked at and an empty tuple goes down.
///
/// Context: the last arriver's is inside `next` for the whole round.
/// Blocks:  until all have come (paths/joins/round.hpp: deadlines, failures, releases).
/// Order:   none within a round; rounds go down as they become complete.
/// Throws:  TravelError: the round's failure, the same one to all.
class Barrier final : public paths::Wrapper {
 public:
  /// `wrapper` is its index in the plan.
  Barrier(paths::Site& site, std::uint32_t wrapper) : rounds_(site, wrapper, {}) {}
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  base::Nanos end_late(base::Nanos now) override { return rounds_.end_late(now); }
  void give_up() override { rounds_.give_up(); }
  bool takes_failures() const override { return true; }
  bool joins() const override { return true; }

 private:
  paths::Rounds rounds_;
};

paths::WrapperKind barrier_kind();

}  // namespace wrappers
