// SPDX-License-Identifier: Apache-2.0
// wrappers/lagged.hpp — rounds that return the result of an earlier round.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "paths/host/deployment.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/wait.hpp"

namespace wrappers {

/// Sends a move down without waiting for it and returns the result of the move `rounds` before it.
/// The first moves return their own value without a condition. The wrappers below thus have the
/// time of `rounds` rounds.
///
/// Why:     A nonblocking allreduce hides the wide-area latency behind iterations, of which a
///          solver may do a few too many.
/// Blocks:  until the earlier move has returned, which has its own deadline. A release waits until
///          all moves have returned, whatever their results, because the other contributors started
///          the same rounds.
/// Throws:  the exception of the earlier move. A contribution that failed above goes down at once.
///          Its contributor gets that failure at once instead of the result that was due, and again
///          `rounds` later, when all others get it.
/// Context: Moves go down in service contexts, one for each round under way.
/// Order:   Moves of one contributor go down in order.
class Lagged final : public paths::BlockingWrapper {
 public:
  Lagged(paths::Deployment& deployment, std::uint64_t rounds)
      : deployment_(deployment), rounds_(rounds) {}
  paths::Result operate(paths::Operation operation, paths::Next next) override;
  bool sees_failed_operations() const override { return true; }
  bool holds_releases() const override { return true; }

 private:
  struct Round;
  using Rounds = std::deque<std::shared_ptr<Round>>;

  paths::Result move(paths::Operation operation, const paths::Next& next);
  void keep_place(const paths::Operation& failed);
  std::shared_ptr<Round> add(std::uint32_t slot, std::shared_ptr<Round> round);
  std::shared_ptr<Round> start(paths::Operation operation, const paths::Next& next);
  void wait(Round& round) const;
  void drain(const paths::Operation& release, const paths::Next& next);

  paths::Deployment& deployment_;
  const std::uint64_t rounds_;
  runtime::Mutex mutex_;                       // guards under_way_
  std::map<std::uint32_t, Rounds> under_way_;  // oldest first
};

paths::WrapperKind lagged_kind();

}  // namespace wrappers
