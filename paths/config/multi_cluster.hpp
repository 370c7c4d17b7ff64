// SPDX-License-Identifier: Apache-2.0
// paths/config/multi_cluster.hpp — parsed high-level config, with clusters and collectives.
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

/// All declarations of the high-level config. Declarations that the low-level config contains
/// unchanged are kept as Settings. If a later check finds a mistake in such a declaration, the
/// error message can then give the declaration's position in the config.
struct MultiCluster {
  struct Host {
    base::Settings name;
    std::uint32_t cluster = 0;
    std::uint32_t threads = 0;
    base::Settings speed, address;  ///< settings `speed` and `address`; null if not given
    /// Names of the groups inside its cluster to which the host belongs, outermost first.
    std::vector<base::Settings> groups{};
    base::Settings space{};  ///< setting `space` of the host; null if not given
  };
  struct Cluster {
    base::Settings name;
    std::vector<std::uint32_t> hosts;  ///< indexes of hosts; a host that is only a gateway is last
    Ways::Cluster way;                 ///< exit and network links of the cluster
    std::optional<base::Settings> broadcast_delay;
  };
  using Link = LinkText;  ///< one direction of a link between clusters; it may have no delay
  struct Collective {
    base::Settings name;
    std::string kind;
    base::Settings settings;           ///< settings of the collective's joins
    base::Settings written_condition;  ///< value of the setting `condition`; null if not given
    pastset::Template value;
    Algorithm algorithm;
    base::Position algorithm_position;  ///< position of `algorithm` in the config, if given
    std::uint32_t root_cluster = 0;
    std::uint32_t root_host = 0;
    std::uint32_t fan_out = 0;  ///< maximum number of children per host; 0 = unlimited
    /// Kinds of wrapper around which event collectors (wrappers that record operations) are
    /// inserted. The single word "true" means all kinds.
    std::vector<std::string> instrumented;
  };
  /// Exchange of tuples between each thread and the threads with the next lower and higher rank.
  struct Exchange {
    base::Settings name, tuple_template;
    base::Settings shared;  ///< setting `shared` of the elements into which other hosts move tuples
    std::vector<std::string> instrumented;  ///< same meaning as Collective::instrumented
  };
  struct Element {
    base::Settings name, host;
    base::Settings settings;           ///< all settings of the element except `reach`
    std::vector<std::uint32_t> reach;  ///< indexes of hosts whose threads get a path to the element
    std::vector<std::string> instrumented = {};  ///< same meaning as Collective::instrumented
  };

  bool has_all_hosts = false;  ///< whether the section `clusters` has no mistakes
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
  /// Returns the hosts of the cluster that have threads, in the order of Cluster::hosts.
  std::vector<std::uint32_t> computing(std::uint32_t cluster) const;
};

/// Returns the names of all hosts or all clusters, as the config writes them.
template <class Named>
std::vector<std::string_view> written_names(const std::vector<Named>& all) {
  std::vector<std::string_view> names;
  for (const Named& one : all) names.emplace_back(one.name.text());
  return names;
}

/// Returns the nested groups of a host as one text, such as "lan-1/machine-1".
std::string group_path(const std::vector<base::Settings>& groups);

/// Reads the high-level config and reports every mistake. Ignores the contents of sections that a
/// low-level config may have, too. The reader of the low-level config checks those sections.
MultiCluster read_multi_cluster(const base::Settings& settings, const WrapperKinds& kinds,
                                const Overrides& overrides, base::Mistakes& mistakes);
/// Reads the section `clusters`. If the section declares too many hosts, reads nothing and returns
/// false.
bool read_clusters(const base::Settings& section, MultiCluster& multi_cluster,
                   base::Mistakes& mistakes);
/// Reads the section `links`. `clusters` is the section `clusters`. Requires: clusters were read.
void read_links(const base::Settings& section, const base::Settings& clusters,
                MultiCluster& multi_cluster, base::Mistakes& mistakes);
/// Reads the section `collectives`. Requires: clusters were read.
void read_collectives(const base::Settings& section, const WrapperKinds& kinds,
                      const Overrides& overrides, MultiCluster& multi_cluster,
                      base::Mistakes& mistakes);
/// Reads the setting `instrument`. Returns the kinds of wrapper that get event collectors: all,
/// none, or some of `kinds`. The command-line option overrides this setting, even a list of kinds.
std::vector<std::string> read_instrument(base::MapReader& reader, const Overrides& overrides,
                                         const std::vector<std::string_view>& kinds);

}  // namespace paths
