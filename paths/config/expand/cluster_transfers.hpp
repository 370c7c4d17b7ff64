// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/cluster_transfers.hpp — transfers of tuples between the roots of clusters.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "paths/config/expand/routes.hpp"
#include "paths/config/expand/writer.hpp"

namespace paths::expansion {

/// Returns the name COLLECTIVE.PART for an element or a wrapper of a collective.
std::string name_in(const MultiCluster::Collective& collective, std::string_view part);
/// Returns the host that is the root of a cluster in a collective.
std::uint32_t root_of(const MultiCluster& all, const MultiCluster::Collective& collective,
                      std::uint32_t cluster);

/// Writes the paths of a collective that bring tuples from the root of the cluster `from` to the
/// root of the cluster `into`. TransferWord::expand calls functions of this class.
class ClusterTransfers {
 public:
  /// `skips` tells whether other clusters may skip all results except the newest.
  /// Requires: all other arguments outlive this object.
  ClusterTransfers(const MultiCluster& all, const MultiCluster::Collective& collective, bool skips,
                   Writer& writer, Routes& routes)
      : all_(all),
        collective_(collective),
        position_(collective.name.position()),
        skips_(skips),
        writer_(writer),
        routes_(routes) {}

  void write_prefetch(std::uint32_t into, std::uint32_t from);
  void write_push(std::uint32_t into, std::uint32_t from);
  void write_asks(std::uint32_t into, std::uint32_t from);

  /// Returns the name of the element that gets the tuples of the cluster `from`. The element is at
  /// the root of the cluster `into`.
  std::string cache_of(std::uint32_t into, std::uint32_t from) const {
    return between("cache", into, from);
  }
  /// Returns the name of the element through which the root of `into` requests tuples of `from`.
  std::string asks_of(std::uint32_t into, std::uint32_t from) const {
    return between("asks", into, from);
  }

 private:
  /// Returns the name of an element at the root of the cluster `here`. That root uses the element
  /// to exchange values with the cluster `other`. `kind` is a part of the name.
  std::string between(std::string_view kind, std::uint32_t here, std::uint32_t other) const;
  void add_path(std::uint32_t host, Way way);

  const MultiCluster& all_;
  const MultiCluster::Collective& collective_;
  const base::Position position_;
  const bool skips_;
  Writer& writer_;
  Routes& routes_;
};

}  // namespace paths::expansion
