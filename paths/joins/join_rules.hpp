// SPDX-License-Identifier: Apache-2.0
// paths/joins/join_rules.hpp — rules by which a join selects leaders and combines contributions.
#pragma once
#include <cstdint>
#include <optional>

#include "pastset/template.hpp"
#include "paths/joins/reduction.hpp"
#include "paths/joins/round.hpp"

namespace paths {

/// Rule that selects the leader of a round and the time at which the leader starts. The leader is
/// the contributor that carries the round further down. With fixed_slot_after_all the other
/// contributors get an empty result immediately. With all other rules they wait.
enum class Leader : std::uint8_t {
  last_arriver,   ///< the last contributor to arrive leads, after all others have arrived
  first_arriver,  ///< the first contributor to arrive leads, without waiting for others
  fixed_slot,  ///< the contributor at `slot` leads as soon as it arrives; its tuple is the result
  fixed_slot_after_all,  ///< the contributor at `slot` leads after all contributors have arrived
};

/// Rules of a join: its leader, its reduction, and the tuple that it expects.
struct JoinRules {
  Leader leader = Leader::last_arriver;
  std::uint32_t slot = 0;  ///< slot of the leader; used only by the two rules with a fixed slot
  /// Reduction that checks and combines the contributions. Without a reduction, the join does not
  /// inspect payloads, and a leader that waits for all contributions carries an empty payload.
  std::optional<Reduction> reduction = {};
  /// Template of the tuple that the contributor at `slot` moves; nullopt if this join does not
  /// check the tuple. Only the rule fixed_slot uses this template.
  std::optional<pastset::Template> value = {};

  /// Returns whether the contributor at slot `of` may now become the leader of the round.
  /// Requires: the round has no leader.
  bool is_ready(const Round& round, std::uint32_t of) const;
  bool leads_after_all() const {
    return leader == Leader::last_arriver || leader == Leader::fixed_slot_after_all;
  }
  /// Returns whether a round fails if slot `of` does not contribute.
  bool needs(std::uint32_t of) const {
    return leads_after_all() || (leader == Leader::fixed_slot && of == slot);
  }
};

inline bool JoinRules::is_ready(const Round& round, std::uint32_t of) const {
  const bool are_all_here = round.here == round.by_slot.size();
  switch (leader) {
    case Leader::last_arriver: return are_all_here;
    case Leader::first_arriver: return !round.by_slot[of].failure || are_all_here;
    case Leader::fixed_slot: return of == slot;
    case Leader::fixed_slot_after_all: return of == slot && are_all_here;
  }
  return false;
}

}  // namespace paths
