// SPDX-License-Identifier: Apache-2.0
// paths/joins/withdrawals.hpp — contributors of a join that have withdrawn or been released.
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

/// Record of the withdrawals of a join's slots. For each slot that has withdrawn, the record has
/// the first round to which the slot does not contribute. The record also has the first round to
/// which the whole join does not contribute, as announced to the joins below.
///
/// Thread-safe: no. The join's mutex guards this object.
class Withdrawals {
 public:
  explicit Withdrawals(std::uint32_t slots) : slots_(slots), next_(slots, 0) {}

  void note_contribution(std::uint32_t slot, std::uint64_t sequence);
  /// Notes the withdrawal of a slot. `operation` contains the slot, and the first round to which
  /// the slot does not contribute. Returns the first round to which the slot did not contribute
  /// according to its earlier withdrawals; `never` if there were none.
  std::uint64_t note(const Operation& operation);
  /// Returns the withdrawal that the join must send down because a slot has withdrawn; nullopt if
  /// it must send none. `operation` is the withdrawal of the slot. `is_needed` tells whether rounds
  /// need the slot; if not, none is sent. None is sent either if this join has already sent a
  /// withdrawal from the first round that the slot misses, or from an earlier round.
  std::optional<Operation> news(const Operation& operation, bool is_needed);
  /// Notes that the path of a slot is released; `operation` is this release. If all other slots
  /// were released before, turns `operation` into the release of the join and returns true.
  bool release(Operation& operation);

  /// Returns whether the slot does not contribute to the round `sequence`, because it has
  /// withdrawn.
  bool misses(std::uint32_t slot, std::uint64_t sequence) const;
  std::vector<std::uint32_t> missing(std::uint64_t sequence) const;
  /// Returns why a slot that has withdrawn does not contribute to a round: the failure with which
  /// it withdrew, or else the release of its path.
  Failure failure(const HostView& view, const std::string& join, std::uint32_t slot,
                  std::uint64_t sequence, std::uint32_t path) const;
  /// Returns whether the joins below know that this join does not contribute to the round.
  bool is_announced(std::uint64_t sequence) const { return announced_from_ <= sequence; }

 private:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  struct Withdrawn {
    std::uint64_t from = 0;  // first round to which the slot does not contribute
    std::uint32_t path = 0;
    std::uint32_t thread = 0;
    Failure failure;  // failure that caused the withdrawal; nullptr if there is none
  };

  const std::uint32_t slots_;
  std::map<std::uint32_t, Withdrawn> withdrawn_;  // withdrawals, keyed by slot
  std::vector<std::uint64_t> next_;  // indexed by slot: round after the latest contribution
  // First round to which this join does not contribute, as announced to the joins below.
  std::uint64_t announced_from_ = never;
  std::set<std::uint32_t> released_;  // slots whose paths are released
};

}  // namespace paths
