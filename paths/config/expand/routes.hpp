// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/routes.hpp — wrappers by which a path leads from one host to
// another.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "paths/config/expand/writer.hpp"

namespace paths::expansion {

/// Returns the value of the key `ways` of the low-level config, which describes how messages
/// without a path get from any host to any other.
base::Settings write_ways(const MultiCluster& all, const base::Position& position);
/// Adds the links with `security: network` to the key `network` of the low-level config `config`.
void write_protected_links(const MultiCluster& all, Entries& config,
                           const base::Position& position);

/// Writer of the wrappers that take a path from one host to another: over the networks of clusters,
/// through the exits of clusters, and over the links between clusters. Operations over an emulated
/// link are delayed at the host that sends them.
class Routes {
 public:
  /// Requires: all arguments outlive this object.
  Routes(const MultiCluster& all, Writer& writer, base::Mistakes& mistakes)
      : all_(all), writer_(writer), mistakes_(mistakes) {}

  /// Adds the wrappers that take a path from one host to another, in the same cluster or in two
  /// clusters. If a link is missing, reports a mistake at the position of the setting `asker`.
  void route(Way& way, std::uint32_t from, std::uint32_t to, const base::Settings& asker);
  /// Returns whether two clusters have links in both directions. Reports a missing link as a
  /// mistake at the position of the setting `asker`.
  bool has_links(std::uint32_t a, std::uint32_t b, const base::Settings& asker);
  /// Writes the wrapper of an emulated link, unless an earlier call has already written it. Returns
  /// the item that a path needs to send operations over the link in the direction `role`.
  base::Settings link_stage(const std::string& name, std::uint32_t host,
                            const base::Settings& settings, std::string_view role);

 private:
  void add_route(Way& way, std::uint32_t from, std::uint32_t to, const base::Settings& asker);
  void hop(Way& way, std::uint32_t from, std::uint32_t to);
  void cross(Way& way, std::uint32_t from, std::uint32_t to, const base::Settings& asker);
  void refuse_switches(std::uint32_t from, std::uint32_t to, const base::Settings& asker);
  const MultiCluster::Link* link(std::uint32_t from, std::uint32_t to, const base::Settings& asker);
  base::Settings forward(std::uint32_t host);
  std::uint32_t exit(std::uint32_t cluster) const { return all_.clusters[cluster].way.exit; }
  std::uint32_t cluster_of(std::uint32_t host) const { return all_.hosts[host].cluster; }

  const MultiCluster& all_;
  Writer& writer_;
  base::Mistakes& mistakes_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> missing_links_;
  std::set<std::uint32_t> switched_;  // clusters whose switch is already reported as a mistake
  std::unordered_map<std::uint32_t, base::Settings> forwards_;
  std::unordered_map<std::uint64_t, Way> routes_;  // routes written so far, keyed by (from, to)
};

}  // namespace paths::expansion
