// SPDX-License-Identifier: Apache-2.0
// wrappers/lagged.hpp — starts each round and comes back with the result of an earlier one.
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

/// Sends a move down without waiting for it and answers with the result of the move `rounds` before
/// it; the first ones with their own value and no condition. What lies below has so many rounds'
/// time.
///
/// Why:     a non-blocking allreduce hides the wide-area latency behind iterations that a solver
///          may do too many.
/// Context: moves go down in service contexts of their own, one for each round under way.
/// Blocks:  until the earlier move has come back, which has its own deadline; a release until all
///          have, whatever they bring: the others started the same rounds.
/// Order:   moves of a contributor go down in order.
/// Throws:  what the earlier move threw. A contribution that failed above goes down at once, and
///          its contributor gets that failure at once instead of what was due, and again `rounds`
///          later, when all others get it.
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
  runtime::Mutex mutex_;                       // guards what follows
  std::map<std::uint32_t, Rounds> under_way_;  // by contributor, oldest first
};

paths::WrapperKind lagged_kind();

}  // namespace wrappers
