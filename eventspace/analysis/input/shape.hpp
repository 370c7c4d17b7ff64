// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/input/shape.hpp — which records belong together: the trees collectors form.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "eventspace/structure.hpp"

namespace eventspace {

inline constexpr std::uint32_t none = 0xffffffff;

/// What lies between a collector and the next one below, classified by its most important wrapper.
enum class HopKind : std::uint8_t {
  internal,  ///< wrappers of one host
  join,      ///< allreduce, reduce, barrier, broadcast
  crossing,  ///< a forward to another host, where the next collector is
  link,      ///< an emulated link
  check,     ///< a condition check
  end,       ///< the last wrappers of the path: nothing is known of what is below the collector
};

/// A contributor's place at a collector: each operation that passes has one record there.
struct Lane {
  std::uint32_t stage = 0;
  std::uint32_t slot = 0;
  std::uint32_t tree = none;
  std::uint32_t place = 0;          ///< among the lanes of its tree, those below before those above
  std::uint32_t below = none;       ///< lane of the next collector
  std::uint32_t above = none;       ///< the one whose next collector this is; none behind a join
  std::uint32_t join = none;        ///< the join it enters
  std::uint32_t join_above = none;  ///< the join it is behind
  std::uint32_t hop = none;
  std::uint32_t leaf = none;  ///< where a path begins
  bool is_remote = false;     ///< what enters here came from another host
};

/// What lies behind a collector's stage, whatever the slot.
struct Hop {
  HopKind kind = HopKind::internal;
  std::uint32_t stage = 0;     ///< of the collector
  std::uint32_t wrapper = 0;   ///< the one that matters most
  std::uint32_t wrappers = 0;  ///< how many lie between the collectors
  std::uint32_t from_host = 0;
  std::uint32_t to_host = 0;  ///< of the collector behind; of a link: where the message arrives
  std::uint32_t role = 0;
  bool is_wan = false;       ///< crosses from one cluster to another, or delays what does
  bool is_periodic = false;  ///< answers some rounds itself
  /// A move brings back as many bytes as it took, because it ends in a join that answers that way.
  bool is_answered_in_kind = false;
  /// A link without a crossing beside it: it delays messages within one host.
  bool is_hold = false;
};

struct Join {
  std::uint32_t wrapper = 0;
  std::uint32_t tree = none;
  std::uint32_t below = none;               ///< lane of the collector behind
  std::vector<std::uint32_t> contributors;  ///< lanes; fewer than slots when some have no collector
};

/// A thread's place on one of its paths, or a path that a wrapper begins.
struct Leaf {
  std::uint32_t lane = 0;
  std::uint32_t path = 0;
  std::uint32_t thread = none;  ///< rank; none for a path that a wrapper begins
};

/// Lanes whose rounds are one: all that meet in a join somewhere.
struct Tree {
  std::uint32_t graph = 0;           ///< number of its paths' graph
  std::vector<std::uint32_t> lanes;  ///< those below before those above
  std::vector<std::uint32_t> joins;  ///< those above before those below
  std::vector<std::uint32_t> leaves;
  std::uint32_t bottom_lane = none;
  std::uint32_t bottom_join = none;  ///< when its last join has no collector behind
  bool has_periodic = false;
  bool has_joins() const { return !joins.empty(); }
};

/// Compiled from a structure once; refers to it.
///
/// Throws: std::runtime_error when the structure has more threads, places of records or stages in a
///         row than can be analysed.
struct Shape {
  explicit Shape(const Structure& structure);

  /// The lane of a record, or none: no collector of this structure.
  std::uint32_t lane_of(std::uint32_t stage, std::uint32_t slot) const {
    if (stage >= structure.stages.size()) return none;
    const std::uint32_t first = first_lane[stage];
    return slot < first_lane[stage + 1] - first ? first + slot : none;
  }

  const Structure& structure;
  /// By stage: of an emulated link beside a crossing the hosts that what passes goes from and to;
  /// else none.
  struct LinkWay {
    std::uint32_t from_host = none;
    std::uint32_t to_host = none;
  };
  std::vector<LinkWay> link_ways;
  std::vector<std::string> graphs;
  std::vector<Lane> lanes;
  std::vector<std::uint32_t> first_lane;  ///< by stage, and one more
  std::vector<Hop> hops;
  std::vector<Join> joins;
  std::vector<Leaf> leaves;
  std::vector<Tree> trees;
};

bool is_collector(const Structure::Wrapper& wrapper);
bool is_join(const Structure::Wrapper& wrapper);

}  // namespace eventspace
