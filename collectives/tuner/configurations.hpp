// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/configurations.hpp — configurations among which a search chooses, as plain
// data.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace tuner {

/// A configuration's length of messages and its predicted time.
struct Member {
  std::uint64_t length = 0;  ///< maximum bytes of a message; 0 = no segmentation
  /// Predicted time of one run. nullopt if the time is unknown, or far above the least predicted
  /// time of the space.
  std::optional<base::Nanos> predicted = {};
};

/// Configurations that differ only in the length of messages, longest first. The paper calls a
/// family a method, and the lengths of a family segment sizes.
/// Paper: Vadhiyar, Fagg and Dongarra 2004, exhaustive testing: "method" and "buffer size".
struct Family {
  std::string name = {};
  std::vector<Member> members = {};
};

/// The search space: all configurations of one collective, with one size, on one group of hosts.
/// Thread-safe: a value; concurrent reads are safe.
struct Space {
  std::vector<Family> families = {};
  /// Returns the number of configurations.
  std::size_t size() const {
    std::size_t count = 0;
    for (const Family& family : families) count += family.members.size();
    return count;
  }
};

/// Position of a configuration in a space. Positions are compared first by family, then by member.
struct Configuration {
  std::size_t family = 0;
  std::size_t member = 0;  ///< index in Family::members; 0 = the longest messages
  friend auto operator<=>(const Configuration&, const Configuration&) = default;
};

inline const Member& member_of(const Space& space, Configuration at) {
  return space.families[at.family].members[at.member];
}

/// Returns whether a search prefers `left` to `right` when both take the same time. A configuration
/// without segmentation is simpler than one with segmentation. Otherwise the configuration that
/// comes first in the space is simpler.
inline bool is_simpler(const Space& space, Configuration left, Configuration right) {
  const bool left_is_whole = member_of(space, left).length == 0;
  const bool right_is_whole = member_of(space, right).length == 0;
  return left_is_whole != right_is_whole ? left_is_whole : left < right;
}

}  // namespace tuner
