// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/input/shape.hpp — trees of collectors, which show which records belong
// together.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "eventspace/structure.hpp"

namespace eventspace {

inline constexpr std::uint32_t none = 0xffffffff;

/// Kind of the wrappers between an event collector (a wrapper that records operations) and the next
/// collector below. If there are several wrappers, the most important wrapper determines the kind.
enum class HopKind : std::uint8_t {
  internal,  ///< wrappers on one host that are of none of the kinds below
  join,      ///< a join: allreduce, reduce, barrier or broadcast
  crossing,  ///< `forward` to another host, where the next collector is
  link,      ///< an emulated link
  check,     ///< a condition check
  end,       ///< last wrappers of the path, without a collector below
};

/// One contributor at a collector. The collector makes a record for each operation of this
/// contributor. "Below" means closer to the element, "above" means closer to the threads.
struct Probe {
  std::uint32_t stage = 0;
  std::uint32_t slot = 0;
  std::uint32_t tree = none;
  std::uint32_t place = 0;          ///< index in Tree::probes
  std::uint32_t below = none;       ///< number of the Probe at the next collector below
  std::uint32_t above = none;       ///< Probe whose `below` is this Probe; none if a join is above
  std::uint32_t join = none;        ///< join between this collector and the next collector below
  std::uint32_t join_above = none;  ///< join between this collector and the collectors above
  std::uint32_t hop = none;
  std::uint32_t leaf = none;  ///< number of the leaf, if a path begins here
  bool is_remote = false;     ///< whether operations arrive from another host
};

/// Wrappers between a collector and the next collector below. All slots of the collector have the
/// same wrappers below it.
struct Hop {
  HopKind kind = HopKind::internal;
  std::uint32_t stage = 0;     ///< stage of the collector
  std::uint32_t wrapper = 0;   ///< wrapper that determines `kind`
  std::uint32_t wrappers = 0;  ///< number of wrappers above the next collector
  std::uint32_t from_host = 0;
  /// Host of the next collector. For a link: host at which the message arrives.
  std::uint32_t to_host = 0;
  std::uint32_t role = 0;
  bool is_wan = false;  ///< whether the hop goes to another cluster, or is a link between clusters
  /// Whether one of the wrappers of this hop is a `periodic` wrapper, which replies to some rounds
  /// itself.
  bool is_periodic = false;
  /// Whether the reply to a contribution is as long as the contribution. The join below determines
  /// this.
  bool is_answered_in_kind = false;
  /// Whether this hop is a link that is not next to a `forward` wrapper. Such a link delays
  /// messages within one host.
  bool is_hold = false;
};

struct Join {
  std::uint32_t wrapper = 0;
  std::uint32_t tree = none;
  std::uint32_t below = none;  ///< Probe at the next collector below the join
  /// Probes of the contributors; a slot without a collector has no Probe.
  std::vector<std::uint32_t> contributors;
};

/// The begin of a path: a thread that uses the path, or a wrapper that starts operations itself.
struct Leaf {
  std::uint32_t probe = 0;
  std::uint32_t path = 0;
  std::uint32_t thread = none;  ///< rank of the thread; none if a wrapper begins the path
};

/// Probes (contributors at collectors) that have rounds in common, because their paths meet in
/// joins.
struct Tree {
  std::uint32_t graph = 0;            ///< index in Shape::graphs of the graph of the paths
  std::vector<std::uint32_t> probes;  ///< sorted: Probes closer to the element come first
  std::vector<std::uint32_t> joins;   ///< sorted: joins closer to the threads come first
  std::vector<std::uint32_t> leaves;
  std::uint32_t bottom_probe = none;
  std::uint32_t bottom_join = none;  ///< lowest join, if no collector is below that join
  bool has_periodic = false;
  bool has_joins() const { return !joins.empty(); }
};

/// Groups the contributors at collectors (Probes) of a structure into trees. The Probes of one tree
/// take part in the same rounds. Borrows the structure, which must outlive the Shape.
///
/// Throws: std::runtime_error if the structure has more threads, contributors at collectors or
///         consecutive stages than can be analysed.
struct Shape {
  explicit Shape(const Structure& structure);

  /// Returns the number of the Probe that made a record, or none if the structure has no such
  /// collector.
  std::uint32_t probe_of(std::uint32_t stage, std::uint32_t slot) const {
    if (stage >= structure.stages.size()) return none;
    const std::uint32_t first = first_probe[stage];
    return slot < first_probe[stage + 1] - first ? first + slot : none;
  }
  /// Returns the number of the Leaf of a thread on a path, or none if no collector records the
  /// path.
  std::uint32_t leaf_of(std::uint32_t path, std::uint32_t thread) const;

  const Structure& structure;
  /// The two hosts between which a stage delays messages. Both are `none` unless the stage is an
  /// emulated link next to a `forward` wrapper.
  struct LinkWay {
    std::uint32_t from_host = none;
    std::uint32_t to_host = none;
  };
  std::vector<LinkWay> link_ways;
  std::vector<std::string> graphs;
  std::vector<Probe> probes;
  /// Number of the first Probe of each stage. A last entry follows: the number of all Probes.
  std::vector<std::uint32_t> first_probe;
  std::vector<Hop> hops;
  std::vector<Join> joins;
  std::vector<Leaf> leaves;
  std::vector<Tree> trees;
};

bool is_collector(const Structure::Wrapper& wrapper);
bool is_join(const Structure::Wrapper& wrapper);

}  // namespace eventspace
