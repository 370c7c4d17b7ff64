// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/collective.hpp — the paths of a collective, and what its algorithm's word
// writes them with.
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

/// What the roots of clusters tell each other, and what decides with it at each of them.
struct Telling {
  std::string check = "condition_check";  ///< a kind of wrapper
  Entries settings;                       ///< of its own: the reduction's are added
  pastset::Template tuple;                ///< of a result
  std::uint64_t kept = 1;                 ///< results that a cluster keeps of its own
  bool skips = true;                      ///< only the newest result matters to the others
};

/// Writes one collective, in the way of its algorithm's word.
class CollectiveExpansion {
 public:
  /// All outlive it.
  CollectiveExpansion(const MultiCluster& all, const MultiCluster::Collective& collective,
                      const CollectiveKind& kind, Writer& writer, Routes& routes);
  void write(base::Mistakes& mistakes);

  // What words write with.

  const Algorithm& algorithm() const { return collective_.algorithm; }
  /// Whether there are several clusters that tell each other; else it is one tree.
  bool is_among_clusters() const {
    return collective_.algorithm.all_to_all && clusters_.size() > 1;
  }
  /// On each path, before its first join.
  void put_above_joins(base::Settings wrapper) { above_joins_.push_back(std::move(wrapper)); }
  /// Of one tree: between the root of a cluster and the way to the root of all.
  void put_below_clusters(base::Settings wrapper) { below_clusters_.push_back(std::move(wrapper)); }
  void write_tree();
  /// A tree in each cluster. Needs several clusters, as the next one.
  void write_all_to_all(const Telling& telling);
  /// Each host ends its own paths, and a schedule joins hosts.
  void write_schedule();
  /// Their roots tell each other the newest results; of one cluster, a tree.
  void write_newest();

  // What transfers write with: what comes from the cluster `from` to the cluster `into`.

  void write_prefetch(std::uint32_t into, std::uint32_t from);
  void write_push(std::uint32_t into, std::uint32_t from);
  void write_asks(std::uint32_t into, std::uint32_t from);

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
  /// Ways down from hosts in which others meet.
  using Climbs = std::unordered_map<std::uint32_t, Way>;
  void climb(Way& way, const ClusterTree& tree, std::uint32_t host, const Way& rest, Climbs& known);
  base::Settings join(std::string_view part, std::uint32_t host,
                      std::optional<std::uint32_t> root_slot);
  base::Settings check(const Telling& telling, const std::string& result, const Way& combine,
                       const Way& asks) const;
  bool has_all_links();

  std::string name(std::string_view part) const;
  /// Of one kind, in the root of the cluster `here`, for its dealings with another cluster.
  std::string between(std::string_view kind, std::uint32_t here, std::uint32_t other) const;
  std::uint32_t root_of(std::uint32_t cluster) const;
  base::Settings text(std::string words) const { return word(std::move(words), position_); }
  base::Settings number(std::uint64_t value) const { return text(std::to_string(value)); }
  void add_path(std::uint32_t host, std::uint32_t threads, Way way);

  const MultiCluster& all_;
  const MultiCluster::Collective& collective_;
  const CollectiveKind& kind_;
  const base::Position position_;
  const base::Settings join_settings_;
  const bool is_alone_;  ///< one thread in all: its join is what makes its path a collective's
  Writer& writer_;
  Routes& routes_;
  std::vector<std::uint32_t> clusters_;  ///< that have threads
  Way above_joins_, below_clusters_;
  bool skips_ = true;  ///< of what the clusters are told
};

}  // namespace paths::expansion
