// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/collective.hpp — expansion of a collective into the paths of its algorithm.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/config/algorithm.hpp"
#include "paths/config/expand/cluster_tree.hpp"
#include "paths/config/expand/routes.hpp"
#include "paths/config/expand/writer.hpp"

namespace paths::expansion {

/// Description of the values that the roots of clusters send each other. Also describes the wrapper
/// that decides a round with these values.
struct Telling {
  std::string check = "condition_check";  ///< kind of the wrapper that decides a round
  Entries settings;         ///< settings of the wrapper `check`, without settings of the reduction
  pastset::Template tuple;  ///< template of the tuples that carry the values
  std::uint64_t kept = 1;   ///< number of results that a cluster keeps for the other clusters
  bool skips = true;        ///< whether other clusters may skip all results except the newest
};

/// Expands one collective of the config into the wrappers and paths of its algorithm.
class CollectiveExpansion {
 public:
  /// Requires: all arguments outlive this object.
  CollectiveExpansion(const MultiCluster& all, const MultiCluster::Collective& collective,
                      const CollectiveKind& kind, Writer& writer, Routes& routes);
  void write(base::Mistakes& mistakes);

  // Functions that AlgorithmWord::expand calls.

  const Algorithm& algorithm() const { return collective_.algorithm; }
  /// Returns whether several clusters exchange results. If false, all threads form one tree.
  bool is_among_clusters() const {
    return collective_.algorithm.all_to_all && clusters_.size() > 1;
  }
  /// Inserts a wrapper into each path, between the thread and the first join of the path.
  void put_above_joins(base::Settings wrapper) { above_joins_.push_back(std::move(wrapper)); }
  /// Inserts a wrapper below the root of each cluster, on the path from that root to the root of
  /// all clusters.
  /// Requires: all clusters form one tree.
  void put_below_clusters(base::Settings wrapper) { below_clusters_.push_back(std::move(wrapper)); }
  void write_tree();
  /// Writes a tree in each cluster, and paths over which the roots send each other their values.
  /// Requires: is_among_clusters().
  void write_all_to_all(const Telling& telling);
  /// Writes, for each host, a path from the host's threads to an element on the same host. A
  /// wrapper on this path runs a schedule. The schedule combines the values of all hosts by
  /// messages between the hosts.
  void write_schedule();
  /// Writes a tree for each cluster, and paths over which the roots send each other their newest
  /// results. If is_among_clusters() is false, writes one tree instead.
  void write_newest();

  base::Settings in_place(std::string kind, Entries settings) const {
    return expansion::in_place(std::move(kind), std::move(settings), position_);
  }
  base::Settings::Entry entry_of(std::string key, std::uint64_t value) const {
    return entry(std::move(key), number(value));
  }

 private:
  void write_graph();
  bool checks() const;
  Entries decides() const;
  void write_cluster(std::uint32_t cluster, const Way& rest);
  /// Wrappers from a host down to the end of its paths, keyed by host. Contains only hosts that
  /// combine the values of several hosts.
  using Climbs = std::unordered_map<std::uint32_t, Way>;
  void climb(Way& way, const ClusterTree& tree, std::uint32_t host, const Way& rest, Climbs& known);
  base::Settings join(std::string_view part, std::uint32_t host,
                      std::optional<std::uint32_t> root_slot);
  base::Settings check(const Telling& telling, const std::string& result, const Way& combine,
                       const Way& asks) const;
  base::Settings text(std::string words) const { return word(std::move(words), position_); }
  base::Settings number(std::uint64_t value) const { return text(std::to_string(value)); }
  void add_path(std::uint32_t host, std::uint32_t threads, Way way);

  const MultiCluster& all_;
  const MultiCluster::Collective& collective_;
  const CollectiveKind& kind_;
  const base::Position position_;
  const base::Settings join_settings_;
  /// Whether the collective has only one thread. The path of this thread gets a join too, because a
  /// path without a join would not be recognized as the path of a collective.
  const bool is_alone_;
  Writer& writer_;
  Routes& routes_;
  std::vector<std::uint32_t> clusters_;  ///< indexes of the clusters that have threads
  Way above_joins_, below_clusters_;
};

}  // namespace paths::expansion
