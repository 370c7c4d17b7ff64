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

/// Sends a move (a contribution) down without waiting for it, and returns the result of the move
/// that began `rounds` moves earlier. The first `rounds` moves return their own value, without a
/// condition. The wrappers below can thus take as long as `rounds` rounds without delaying the
/// program.
///
/// Why:     As with a nonblocking allreduce, the program computes while the messages cross the WAN.
///          A solver therefore stops up to `rounds` iterations late.
/// Blocks:  until the earlier move has returned. The earlier move has its own deadline. A release
///          waits until all moves have returned, whatever their results. All moves return, because
///          the other contributors have started the same rounds.
/// Throws:  the exception of the earlier move. If a contribution failed above this wrapper, its
///          contributor gets the failure at once, instead of the result of the earlier move. The
///          failure also goes down, so that the round fails. After `rounds` further moves, all
///          contributors get the failure of that round, including the contributor that failed.
/// Context: Moves go down in service contexts, one for each unfinished round.
/// Order:   The moves of one contributor go down in order.
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
  std::map<std::uint32_t, Rounds> under_way_;  // unfinished rounds of each slot, oldest first
};

paths::WrapperKind lagged_kind();

}  // namespace wrappers
