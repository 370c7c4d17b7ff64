// SPDX-License-Identifier: Apache-2.0
// paths/config/multi_cluster.hpp — the high level of the config, read: clusters, links, what is on
// them.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "pastset/template.hpp"
#include "paths/config/algorithm.hpp"
#include "paths/config/link_text.hpp"
#include "paths/config/overrides.hpp"
#include "paths/joins/condition.hpp"
#include "paths/plan/ways.hpp"

namespace paths {

/// Everything declared at the high level. What is passed on as it was written is kept as Settings,
/// so that mistakes found later point at it.
struct MultiCluster {
  struct Host {
    base::Settings name;
    std::uint32_t cluster = 0;
    std::uint32_t threads = 0;
    base::Settings speed, address;  ///< null when not written
    /// Names of the groups inside its cluster that it is in, outermost first.
    std::vector<base::Settings> groups{};
    base::Settings space{};  ///< null when not written
  };
  struct Cluster {
    base::Settings name;
    std::vector<std::uint32_t> hosts;  ///< a gateway of its own last
    Ways::Cluster way;                 ///< how its hosts reach others
    std::optional<base::Settings> broadcast_delay;
  };
  using Link = LinkText;  ///< one direction; one that does not delay is declared all the same
  struct Collective {
    base::Settings name;
    std::string kind;
    base::Settings settings;           ///< its kind's own, as its joins take them
    base::Settings written_condition;  ///< null when there is none
    pastset::Template value;
    Algorithm algorithm;
    base::Position algorithm_position;  ///< where it is written, if it is
    std::uint32_t root_cluster = 0;
    std::uint32_t root_host = 0;
    std::uint32_t fan_out = 0;  ///< 0: all hosts of a cluster meet in one join
    /// "true" alone for all; else the kinds of wrappers that get event collectors.
    std::vector<std::string> instrumented;
  };
  /// Neighbours in order of rank send each other tuples.
  struct Exchange {
    base::Settings name, tuple_template;
    base::Settings shared;                  ///< of elements that other hosts move into; null
    std::vector<std::string> instrumented;  ///< as of a collective
  };
  struct Element {
    base::Settings name, host;
    base::Settings settings;           ///< without reach
    std::vector<std::uint32_t> reach;  ///< hosts whose threads get a path
  };

  std::vector<Host> hosts;
  std::vector<Cluster> clusters;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Link> links;
  std::vector<Collective> collectives;
  std::vector<Exchange> exchanges;
  std::vector<Element> elements;

  const std::string& host_name(std::uint32_t host) const { return hosts[host].name.text(); }
  const std::string& cluster_name(std::uint32_t cluster) const {
    return clusters[cluster].name.text();
  }
  std::optional<std::uint32_t> host_named(std::string_view name) const;
  std::optional<std::uint32_t> cluster_named(std::string_view name) const;
  std::uint64_t thread_count() const;
  /// Hosts of the cluster that have threads, in order.
  std::vector<std::uint32_t> computing(std::uint32_t cluster) const;
};

/// "lan-1/machine-1".
std::string group_path(const std::vector<base::Settings>& groups);

/// Reads it with every mistake. What other sections hold is not looked at.
MultiCluster read_multi_cluster(const base::Settings& settings, const WrapperKinds& kinds,
                                const Overrides& overrides, base::Mistakes& mistakes);
/// The part of it that is about collectives; clusters are known.
void read_collectives(const base::Settings& section, const WrapperKinds& kinds,
                      const Overrides& overrides, MultiCluster& multi_cluster,
                      base::Mistakes& mistakes);
/// Which wrappers get event collectors: true, false, or those of some of `kinds`. What the command
/// line says goes before, even to a list.
std::vector<std::string> read_instrument(base::MapReader& reader, const Overrides& overrides,
                                         const std::vector<std::string_view>& kinds);

}  // namespace paths
