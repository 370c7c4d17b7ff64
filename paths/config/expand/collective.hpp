// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/collective.hpp — the paths of a collective: one tree, or one for each
// cluster.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paths/config/expand/cluster_tree.hpp"
#include "paths/config/expand/routes.hpp"
#include "paths/config/expand/writer.hpp"

namespace paths::expansion {

/// Writes one collective.
class CollectiveExpansion {
 public:
  /// All outlive it.
  CollectiveExpansion(const MultiCluster& all, const MultiCluster::Collective& collective,
                      Writer& writer, Routes& routes)
      : all_(all),
        collective_(collective),
        position_(collective.name.position()),
        is_alone_(all.thread_count() == 1),
        writer_(writer),
        routes_(routes) {}
  void write(base::Mistakes& mistakes);

 private:
  using Clusters = std::vector<std::uint32_t>;
  void write_tree(const Clusters& clusters);
  void write_cluster(std::uint32_t cluster, const Way& rest);
  Way climb(const ClusterTree& tree, std::uint32_t cluster, std::uint32_t host, const Way& rest);
  base::Settings join(std::string_view part, std::uint32_t host,
                      std::optional<std::uint32_t> root_slot);
  base::Settings check(const std::string& result, const Way& combine, const Way& asks) const;

  // all_to_all.cpp
  void write_all_to_all(const Clusters& clusters);
  bool has_all_links(const Clusters& clusters);
  void write_transfer(std::uint32_t into, std::uint32_t from);
  void write_prefetch(std::uint32_t into, std::uint32_t from);
  void write_push(std::uint32_t into, std::uint32_t from);
  void write_asks(std::uint32_t into, std::uint32_t from);

  std::string name(std::string_view part) const;
  /// Of one kind, in the root of the cluster `here`, for its dealings with another cluster.
  std::string between(std::string_view kind, std::uint32_t here, std::uint32_t other) const;
  std::uint32_t root_of(std::uint32_t cluster) const;
  base::Settings text(std::string words) const { return word(std::move(words), position_); }
  base::Settings number(std::uint64_t value) const { return text(std::to_string(value)); }
  void add_path(std::uint32_t host, std::uint32_t threads, Way way);

  const MultiCluster& all_;
  const MultiCluster::Collective& collective_;
  const base::Position position_;
  const bool is_alone_;  ///< one thread in all: its join is what makes its path a collective's
  Writer& writer_;
  Routes& routes_;
};

}  // namespace paths::expansion
