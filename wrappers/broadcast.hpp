// SPDX-License-Identifier: Apache-2.0
// wrappers/broadcast.hpp — joins paths: gives all contributors of a round one contributor's value.
#pragma once
#include <cstdint>
#include <optional>

#include "pastset/template.hpp"
#include "paths/joins/round.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace wrappers {

/// In each round everyone moves, and everyone gets what one of them, the root, moved; what the
/// others move is not looked at.
///
/// Where the root is one of the contributors, the others wait until it is here; the root goes on
/// down with its value and waits for nobody. Elsewhere the first arriver goes down, empty-handed,
/// to fetch the value, and the others wait for what it brings.
///
/// Context: the one that goes down is inside `next`.
/// Blocks:  until the root's value is here (paths/joins/round.hpp: deadlines, failures, releases).
/// Order:   none within a round; rounds go down as their first arriver or root comes.
/// Throws:  TravelError: when the root's contribution failed, its failure, to all; the failure of
///          any other contribution, to that contributor only, because nobody waits for it.
class Broadcast final : public paths::Wrapper {
 public:
  /// `wrapper` is its index in the plan; `from` the root's slot, if the root comes this way;
  /// `value` what the root moves, if that is to be checked here.
  Broadcast(paths::Wiring& wiring, std::uint32_t wrapper, std::optional<std::uint32_t> from,
            std::optional<pastset::Template> value);
  void handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) override;
  base::Nanos end_late(base::Nanos now) override { return rounds_.end_late(now); }
  void give_up() override { rounds_.give_up(); }
  bool takes_failures() const override { return true; }
  bool joins() const override { return true; }

 private:
  void check(paths::Operation& operation, paths::Wiring& wiring) const;

  const std::optional<std::uint32_t> from_;
  const std::optional<pastset::Template> value_;
  paths::Rounds rounds_;
};

paths::WrapperKind broadcast_kind();

}  // namespace wrappers
