// SPDX-License-Identifier: Apache-2.0
// paths/config/read_links.cpp — links between clusters, from the config or from a measured network.
#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <system_error>

#include "base/link_model/measured_network.hpp"
#include "base/text_file.hpp"
#include "paths/config/multi_cluster.hpp"
#include "paths/plan/names.hpp"

namespace paths {
namespace {

using base::Settings;

constexpr std::uint64_t links_max = 1'000'000;

class LinkReader {
 public:
  LinkReader(MultiCluster& all, base::Mistakes& mistakes) : all_(all), mistakes_(mistakes) {}

  void read(const Settings& value) {
    base::MapReader reader(value, mistakes_, "link");
    const Settings between = reader.take("between");
    const Settings from = reader.take("from");
    const Settings to = reader.take("to");
    const MultiCluster::Link link = read_link(reader);
    reader.finish();
    if (!value.is_map()) return;
    const bool both = reader.has("between");
    if (both == (reader.has("from") || reader.has("to"))) {
      mistakes_.add(value.position(), "link: expected either between: [A, B] or from: A, to: B");
      return;
    }
    if (!both) {
      add(from, to, value, link);
    } else if (!between.is_list() || between.items().size() != 2) {
      mistakes_.add(between.position(), fmt::format("between: expected two clusters such as "
                                                    "[alpha, beta], found {}",
                                                    between.describe()));
    } else {
      if (add(between.items()[0], between.items()[1], value, link))
        add(between.items()[1], between.items()[0], value, link);
    }
  }

  /// Reads the form of `links` that is a map: `all` declares one link for all pairs of clusters,
  /// and `from` names a file with links and networks of clusters.
  void read_map(const Settings& section, const Settings& cluster_section) {
    base::MapReader reader(section, mistakes_, "links");
    const auto file = reader.word("from");
    const bool has_both = file && reader.has("all");
    if (has_both) reader.mistake("all", "expected either all or from, found both");
    const bool are_protected = file && is_protected(reader);
    const Settings all =
        file ? Settings()
             : reader.take_required("all", "a link, as those of every two clusters are, or from");
    reader.finish();
    if (has_both) return;
    if (file) {
      read_from(reader, *file, cluster_section);
      for (auto& [pair, link] : all_.links) link.is_protected = are_protected;
      return;
    }
    base::MapReader inside(all, mistakes_, "link");
    const MultiCluster::Link link = read_link(inside);
    inside.finish();
    const std::uint64_t clusters = all_.clusters.size(), links = clusters * (clusters - 1);
    if (clusters > 1 && links > links_max)
      return reader.mistake("all", fmt::format("expected at most {} links, but {} clusters have {} "
                                               "from one to another",
                                               links_max, clusters, links));
    for (std::uint32_t from = 0; from < all_.clusters.size(); ++from)
      for (std::uint32_t to = 0; to < all_.clusters.size(); ++to)
        if (from != to) all_.links.emplace(std::pair(from, to), link);
  }

  /// Checks that both directions of each link have the same `security`, because one connection
  /// carries both directions.
  void check_directions() {
    for (const auto& [pair, link] : all_.links) {
      const auto back = all_.links.find({pair.second, pair.first});
      if (!link.is_protected || back == all_.links.end() || back->second.is_protected) continue;
      mistakes_.add(back->second.settings.position(),
                    fmt::format("security: expected network for the link from {} to {}, as its "
                                "other direction has{}",
                                all_.cluster_name(pair.second), all_.cluster_name(pair.first),
                                also_at(link.settings.position())));
    }
  }

 private:
  static MultiCluster::Link read_link(base::MapReader& reader) {
    MultiCluster::Link link = read_link_text(reader, true);
    link.is_protected = is_protected(reader);
    return link;
  }

  static bool is_protected(base::MapReader& reader) {
    return reader.choice("security", {"network"}, "") == "network";
  }

  void read_from(base::MapReader& reader, const std::string& name, const Settings& clusters) {
    const std::string file = base::file_beside(name, reader.position_of("from").file);
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
      return reader.mistake("from",
                            fmt::format("expected a file that can be read, found '{}'", file));
    try {
      take(tuning::load_measured_network(file), clusters);
    } catch (const base::ConfigError& error) {
      for (const auto& [position, message] : error.mistakes()) mistakes_.add(position, message);
    }
  }

  void take(const tuning::MeasuredNetwork& network, const Settings& clusters) {
    if (!are_clusters_of(network)) return;
    for (const auto& [pair, link] : network.links) {
      base::MapReader inside(link.text(), mistakes_, "link");
      all_.links.emplace(
          std::pair(*all_.cluster_named(pair.first), *all_.cluster_named(pair.second)),
          read_link_text(inside, true));
      inside.finish();
    }
    for (const auto& [cluster, found, position] : network.clusters)
      if (found && clusters.find(cluster)->find("network") == nullptr)
        read_network_text(found->text(), all_.clusters[*all_.cluster_named(cluster)].way,
                          mistakes_);
  }

  /// Returns whether the file has all clusters of the config and no other clusters. Reports each
  /// difference as a mistake.
  bool are_clusters_of(const tuning::MeasuredNetwork& network) {
    bool are = true;
    std::set<std::string_view> found;
    for (const auto& cluster : network.clusters) {
      found.insert(cluster.name);
      if (all_.cluster_named(cluster.name)) continue;
      mistakes_.add(cluster.position, not_named("a cluster of the config that takes this file",
                                                Settings::scalar(cluster.name, cluster.position),
                                                written_names(all_.clusters)));
      are = false;
    }
    for (const auto& cluster : all_.clusters) {
      if (found.contains(cluster.name.text())) continue;
      mistakes_.add(network.position,
                    fmt::format("clusters: no {}, which the config has{}", cluster.name.text(),
                                also_at(cluster.name.position())));
      are = false;
    }
    return are;
  }

  std::optional<std::uint32_t> cluster(const Settings& name, const Settings& link) {
    const auto found = all_.cluster_named(name.text());
    if (!found)
      mistakes_.add(
          name.is_null() ? link.position() : name.position(),
          "link: " + not_named("the name of a cluster", name, written_names(all_.clusters)));
    return found;
  }

  bool add(const Settings& from, const Settings& to, const Settings& value,
           const MultiCluster::Link& link) {
    const auto source = cluster(from, value);
    const auto target = cluster(to, value);
    if (!source || !target) return false;
    if (source == target) {
      mistakes_.add(to.position(), fmt::format("link: expected two clusters, found {} twice; what "
                                               "is inside a cluster is its network",
                                               to.text()));
      return false;
    }
    const bool is_first = all_.links.emplace(std::pair(*source, *target), link).second;
    if (!is_first)
      mistakes_.add(value.position(),
                    fmt::format("link: a second one from {} to {}", from.text(), to.text()));
    return is_first;
  }

  MultiCluster& all_;
  base::Mistakes& mistakes_;
};

}  // namespace

void read_links(const Settings& section, const Settings& clusters, MultiCluster& multi_cluster,
                base::Mistakes& mistakes) {
  LinkReader reader(multi_cluster, mistakes);
  for (const Settings& link : section.items()) reader.read(link);
  if (section.is_map()) reader.read_map(section, clusters);
  reader.check_directions();
}

}  // namespace paths
