// SPDX-License-Identifier: Apache-2.0
// paths/joins/withdrawals.hpp — contributors of a join that will not come any more.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "paths/operation.hpp"
#include "paths/plan/host_view.hpp"
#include "paths/travel_error.hpp"

namespace paths {

/// Which slots of a join have withdrawn and from which round on; what joins below know of that.
///
/// Thread-safe: no. The join's mutex guards it.
class Withdrawals {
 public:
  explicit Withdrawals(std::uint32_t slots) : slots_(slots), next_(slots, 0) {}

  /// Notes that a slot has contributed to a round.
  void note_contribution(std::uint32_t slot, std::uint64_t sequence);
  /// Notes that the slot of `operation` takes no part from its sequence on. Returns the first round
  /// that was known to miss the slot before.
  std::uint64_t note(const Operation& operation);
  /// Returns the withdrawal that goes on down, if `is_needed` and the joins below do not know of
  /// one yet.
  std::optional<Operation> news(const Operation& operation, bool is_needed);
  /// Notes that a slot is released. Returns whether it was the last: then `operation` is made the
  /// release of the join.
  bool release(Operation& operation);

  /// Returns whether the slot takes no part in a round.
  bool misses(std::uint32_t slot, std::uint64_t sequence) const;
  /// Returns the slots that take no part in a round.
  std::vector<std::uint32_t> missing(std::uint64_t sequence) const;
  /// Returns why a slot that takes no part in a round does not: its failure, or that it released
  /// its path.
  Failure failure(const HostView& view, const std::string& join, std::uint32_t slot,
                  std::uint64_t sequence, std::uint32_t path) const;
  /// Returns whether joins below know that nothing comes for this round.
  bool is_announced(std::uint64_t sequence) const { return announced_from_ <= sequence; }

 private:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  struct Withdrawn {
    std::uint64_t from = 0;  // the first round without the slot
    std::uint32_t path = 0;
    std::uint32_t thread = 0;
    Failure failure;  // nullptr at a regular end
  };

  const std::uint32_t slots_;
  std::map<std::uint32_t, Withdrawn> withdrawn_;  // by slot
  std::vector<std::uint64_t> next_;               // by slot: the round after its last one
  std::uint64_t announced_from_ = never;          // joins below expect nothing from this round on
  std::set<std::uint32_t> released_;              // slots
};

}  // namespace paths
