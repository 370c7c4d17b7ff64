// SPDX-License-Identifier: Apache-2.0
// paths/config/multi_cluster.cpp — reader of clusters, links, exchanges and elements.
#include "paths/config/multi_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_map>

#include "base/link_model/measured_network.hpp"
#include "base/near_match.hpp"
#include "base/text_file.hpp"
#include "paths/config/low_level.hpp"
#include "paths/config/node_list.hpp"

namespace paths {
namespace {

using base::Settings;

constexpr std::int64_t cluster_hosts_max = 100'000;
constexpr std::uint64_t hosts_max = 1'000'000;
constexpr std::uint64_t links_max = 1'000'000;

template <class Named>
std::optional<std::uint32_t> search(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Named& one) { return one.name.text() == name; });
  if (found == all.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - all.begin());
}

/// Converts a ratio such as "30/36" to a decimal number. A host's speed may be written as the ratio
/// of two measured times.
Settings as_decimal(const Settings& written) {
  const std::string& text = written.text();
  const auto slash = text.find('/');
  if (slash == std::string::npos) return written;
  const auto over = base::parse_number(std::string_view(text).substr(0, slash));
  const auto under = base::parse_number(std::string_view(text).substr(slash + 1));
  if (!over || !under || !(*under > 0) || !std::isfinite(*over / *under)) return written;
  return Settings::scalar(fmt::format("{}", *over / *under), written.position());
}

class ClusterReader {
 public:
  ClusterReader(MultiCluster& all, base::Mistakes& mistakes) : all_(all), mistakes_(mistakes) {}

  void read(const Settings& name, const Settings& value) {
    index_ = static_cast<std::uint32_t>(all_.clusters.size());
    all_.clusters.emplace_back();
    all_.clusters.back().name = name;
    base::MapReader reader(value, mistakes_, "cluster " + name.text());
    const Settings hosts = reader.take_required(
        "hosts", "a number of hosts, their names (node[01-16]), or groups of them");
    first_groups_.clear();
    if (reader.has("hosts")) read_hosts(name, hosts);
    read_per_host(reader);
    const Settings rate = read_gateway(reader);
    const Settings network = reader.take("network");
    if (reader.has("network")) read_network_text(network, cluster().way, mistakes_);
    read_uplink_text(reader, rate, cluster().way);
    const Settings delay = reader.take("broadcast_delay");
    if (reader.time("broadcast_delay", base::Nanos{0}) > base::Nanos{0})
      cluster().broadcast_delay = delay;
    reader.finish();
  }

  void check_names() {
    for (const MultiCluster::Cluster& cluster : all_.clusters)
      if (const auto host = hosts_.find(cluster.name.text()); host != hosts_.end())
        mistakes_.add(all_.hosts[host->second].name.position(),
                      fmt::format("host {} has the name of a cluster{}", cluster.name.text(),
                                  also_at(cluster.name.position())));
  }

 private:
  MultiCluster::Cluster& cluster() { return all_.clusters[index_]; }

  void add_host(const Settings& name, std::uint32_t threads) {
    const auto index = static_cast<std::uint32_t>(all_.hosts.size());
    const auto [found, is_new] = hosts_.try_emplace(name.text(), index);
    if (!is_new) {
      const MultiCluster::Host& other = all_.hosts[found->second];
      const std::string what = other.cluster == index_ && !groups_.empty()
                                   ? fmt::format("host {} is in two groups, {} and {}", name.text(),
                                                 group_path(other.groups), group_path(groups_))
                                   : fmt::format("a second host is named {}", name.text());
      mistakes_.add(name.position(), what + also_at(other.name.position()));
      return;
    }
    all_.hosts.push_back({name, index_, threads, {}, {}, groups_});
    cluster().hosts.push_back(index);
  }

  /// Adds one host by its name, or several hosts by a list of names in Slurm's short form.
  void add_named(const Settings& written) {
    for (const std::string& name : names_in(written, "hosts")) {
      const Settings host = Settings::scalar(name, written.position());
      if (check_name(host, "a host", mistakes_)) add_host(host, 1);
    }
  }

  std::vector<std::string> names_in(const Settings& written, std::string_view key) {
    if (!is_node_list(written.text())) return {written.text()};
    NodeList list = read_node_list(written.text(), cluster_hosts_max);
    if (!list.mistake.empty())
      mistakes_.add(written.position(),
                    fmt::format("{}: expected names of hosts such as node[01-16], found '{}': {}",
                                key, written.text(), list.mistake));
    return std::move(list.names);
  }

  /// Reads the hosts of a cluster or group: a number, a list of names, or a map of nested groups.
  void read_hosts(const Settings& name, const Settings& hosts) {
    if (hosts.is_map()) return read_groups(name, hosts);
    if (!groups_.empty()) check_level(hosts);
    if (hosts.is_list()) {
      if (hosts.items().empty())
        mistakes_.add(hosts.position(), "hosts: expected at least one, found an empty list");
      for (const Settings& host : hosts.items())
        if (host.is_scalar())
          add_named(host);
        else
          check_name(host, "a host", mistakes_);
      return;
    }
    if (hosts.is_scalar() && is_node_list(hosts.text())) return add_named(hosts);
    const auto count =
        base::read_integer(hosts, mistakes_, "hosts", 1, cluster_hosts_max).value_or(0);
    const std::size_t first = cluster().hosts.size();
    for (std::int64_t host = 0; host < count; ++host)
      add_host(Settings::scalar(fmt::format("{}-{}", name.text(), first + host), hosts.position()),
               1);
  }

  /// Reads groups of hosts. Host numbers continue through all groups of the cluster.
  void read_groups(const Settings& name, const Settings& hosts) {
    if (hosts.entries().empty())
      mistakes_.add(hosts.position(), "hosts: expected at least one group, found an empty map");
    for (const auto& [group, inside] : hosts.entries()) {
      if (!check_name(group, "a group", mistakes_)) continue;
      groups_.push_back(group);
      read_hosts(name, inside);
      groups_.pop_back();
    }
  }

  /// Checks that all hosts of a cluster have the same number of nested groups.
  void check_level(const Settings& hosts) {
    if (first_groups_.empty()) first_groups_ = groups_;
    if (groups_.size() != first_groups_.size())
      mistakes_.add(hosts.position(),
                    fmt::format("hosts: expected {} levels of groups, as {} has, found {} of {}{}",
                                first_groups_.size(), group_path(first_groups_), groups_.size(),
                                group_path(groups_), also_at(first_groups_.back().position())));
  }

  /// Calls `use` for each host that has the setting. `value` is one setting for all hosts, or a map
  /// from hosts to settings.
  template <class Use>
  void for_hosts(const Settings& value, std::string_view key, Use&& use) {
    if (!value.is_map()) {
      for (const std::uint32_t host : cluster().hosts) use(host, value);
      return;
    }
    std::unordered_map<std::string, std::uint32_t> mine;
    for (const std::uint32_t host : cluster().hosts) mine.emplace(all_.host_name(host), host);
    for (const auto& [written, entry] : value.entries())
      for (const std::string& name : names_in(written, key))
        if (const auto found = mine.find(name); found != mine.end())
          use(found->second, entry);
        else
          refuse_host(key, Settings::scalar(name, written.position()));
  }

  void refuse_host(std::string_view key, const Settings& name) {
    std::vector<std::string> hosts;
    for (const std::uint32_t host : cluster().hosts) hosts.push_back(all_.host_name(host));
    std::sort(hosts.begin(), hosts.end());
    mistakes_.add(name.position(),
                  fmt::format("{}: {}", key,
                              not_named("a host of cluster " + cluster().name.text(), name,
                                        {hosts.begin(), hosts.end()})));
  }

  void read_per_host(base::MapReader& reader) {
    if (reader.has("threads"))
      for_hosts(reader.take("threads"), "threads", [&](std::uint32_t host, const Settings& value) {
        all_.hosts[host].threads = static_cast<std::uint32_t>(
            base::read_integer(value, mistakes_, "threads", 0, host_threads_max).value_or(1));
      });
    if (reader.has("speed"))
      for_hosts(reader.take("speed"), "speed", [&](std::uint32_t host, const Settings& value) {
        const Settings decimal = as_decimal(value);
        const auto speed = base::read_number(decimal, mistakes_, "speed");
        if (speed && !(*speed > 0))
          mistakes_.add(value.position(),
                        fmt::format("speed: expected more than 0, found {}", value.describe()));
        all_.hosts[host].speed = decimal;
      });
    if (reader.has("address")) read_addresses(reader.take("address"));
    if (reader.has("space"))
      for_hosts(reader.take("space"), "space",
                [&](std::uint32_t host, const Settings& value) { all_.hosts[host].space = value; });
  }

  void read_addresses(const Settings& written) {
    const auto is_one = [&](const Settings& value, std::string_view expected) {
      if (!value.is_scalar())
        mistakes_.add(value.position(),
                      fmt::format("address: expected {}, found {}", expected, value.describe()));
      return value.is_scalar();
    };
    if (!written.is_map() && !is_one(written, "one for all hosts, or a map of hosts to theirs"))
      return;
    for_hosts(written, "address", [&](std::uint32_t host, const Settings& value) {
      if (is_one(value, "an address")) all_.hosts[host].address = value;
    });
  }

  /// Reads the name of a host, or a map with its name and rate. Returns the rate.
  Settings read_gateway(base::MapReader& reader) {
    if (!cluster().hosts.empty()) cluster().way.exit = cluster().hosts.front();
    const Settings written = reader.take("gateway");
    if (!reader.has("gateway")) return {};
    if (reader.map().find("uplink") != nullptr && reader.map().find("uplink")->text() == "switch")
      reader.mistake("gateway",
                     "expected none where the uplink is a switch, which all hosts reach");
    if (!written.is_map()) return set_exit(reader, written), Settings();
    base::MapReader inside(written, mistakes_, "gateway");
    const Settings host = inside.take_required("host", "the name of a host");
    if (inside.has("host")) set_exit(inside, host, "host");
    const Settings rate = inside.take("rate");
    inside.bits_per_second("rate", 0);
    inside.finish();
    return rate;
  }

  void set_exit(base::MapReader& reader, const Settings& gateway,
                std::string_view key = "gateway") {
    const bool is_yes_or_no =
        gateway.is_scalar() && (gateway.text() == "true" || gateway.text() == "false");
    if (is_yes_or_no)
      reader.mistake(key, fmt::format("expected the name of a host, found '{}'", gateway.text()));
    if (is_yes_or_no || !check_name(gateway, "a gateway", mistakes_)) return;
    for (const std::uint32_t host : cluster().hosts)
      if (all_.host_name(host) == gateway.text()) {
        cluster().way.exit = host;
        return;
      }
    cluster().way.exit = static_cast<std::uint32_t>(all_.hosts.size());
    add_host(gateway, 0);
  }

  MultiCluster& all_;
  base::Mistakes& mistakes_;
  std::uint32_t index_ = 0;
  // Names of the groups around the host that is being read (groups_), and around the first host of
  // the cluster (first_groups_).
  std::vector<Settings> groups_, first_groups_;
  std::unordered_map<std::string, std::uint32_t> hosts_;
};

class LinkReader {
 public:
  LinkReader(MultiCluster& all, base::Mistakes& mistakes) : all_(all), mistakes_(mistakes) {}

  void read(const Settings& value) {
    base::MapReader reader(value, mistakes_, "link");
    const Settings between = reader.take("between");
    const Settings from = reader.take("from");
    const Settings to = reader.take("to");
    const MultiCluster::Link link = read_link_text(reader, true);
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
    const Settings all =
        file ? Settings()
             : reader.take_required("all", "a link, as those of every two clusters are, or from");
    reader.finish();
    if (has_both) return;
    if (file) return read_from(reader, *file, cluster_section);
    base::MapReader inside(all, mistakes_, "link");
    const MultiCluster::Link link = read_link_text(inside, true);
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

 private:
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

  /// Returns whether the file describes exactly the clusters of the config.
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

void add_reached(const Settings& name, const MultiCluster& all, MultiCluster::Element& element,
                 base::Mistakes& mistakes) {
  if (const auto cluster = all.cluster_named(name.text())) {
    const auto hosts = all.computing(*cluster);
    element.reach.insert(element.reach.end(), hosts.begin(), hosts.end());
  } else if (const auto host = all.host_named(name.text())) {
    if (all.hosts[*host].threads == 0)
      mistakes.add(name.position(), fmt::format("reach: host {} has no threads", name.text()));
    else
      element.reach.push_back(*host);
  } else {
    auto names = written_names(all.clusters);
    for (const MultiCluster::Host& one : all.hosts) names.emplace_back(one.name.text());
    mistakes.add(name.position(), "reach: " + not_named("all, hosts or clusters", name, names));
  }
}

/// Returns the kinds of wrapper that get event collectors according to the command line: all or
/// none.
std::vector<std::string> instrumented_by(const Overrides& overrides) {
  return overrides.instrument.value_or(overrides.traced) ? std::vector<std::string>{"true"}
                                                         : std::vector<std::string>{};
}

void read_element(const Settings& name, const Settings& value, const Overrides& overrides,
                  MultiCluster& all, base::Mistakes& mistakes) {
  MultiCluster::Element element;
  element.name = name;
  element.instrumented = instrumented_by(overrides);
  std::vector<Settings::Entry> rest;
  for (const auto& entry : value.entries()) {
    if (entry.first.text() == "host") element.host = entry.second;
    if (entry.first.text() != "reach") rest.push_back(entry);
  }
  // A value that is not a map is kept, so that the reader of the low-level config reports the
  // mistake.
  element.settings = value.is_map() ? Settings::map(std::move(rest), value.position()) : value;
  if (const Settings* reach = value.find("reach")) {
    if (reach->is_list()) {
      for (const Settings& one : reach->items()) add_reached(one, all, element, mistakes);
    } else if (reach->text() == "all") {
      for (std::uint32_t host = 0; host < all.hosts.size(); ++host)
        if (all.hosts[host].threads > 0) element.reach.push_back(host);
    } else {
      add_reached(*reach, all, element, mistakes);
    }
  }
  std::sort(element.reach.begin(), element.reach.end());
  element.reach.erase(std::unique(element.reach.begin(), element.reach.end()), element.reach.end());
  if (!element.reach.empty() && element.host.is_scalar() && !all.host_named(element.host.text()))
    mistakes.add(element.host.position(), "host: " + not_named("the name of a host", element.host,
                                                               written_names(all.hosts)));
  all.elements.push_back(std::move(element));
}

void read_exchange(const Settings& name, const Settings& value, const WrapperKinds& kinds,
                   const Overrides& overrides, MultiCluster& all, base::Mistakes& mistakes) {
  base::MapReader reader(value, mistakes, "exchange " + name.text());
  const std::string text = reader.required_word("template", "a template such as f64[]");
  std::string wrong;
  const bool is_written = reader.take("template").is_scalar();
  if (is_written && !pastset::Template::parse(text, &wrong)) reader.mistake("template", wrong);
  std::vector<std::string_view> on_the_way;  // kinds of wrapper on the paths of this collective
  for (const WrapperKind& kind : kinds.all())
    if (kind.ends() || kind.crosses() || kind.job == Job::link) on_the_way.emplace_back(kind.name);
  const Settings shared = reader.take("shared");
  const auto instrumented = read_instrument(reader, overrides, on_the_way);
  all.exchanges.push_back(
      {name, Settings::scalar(text, reader.position_of("template")), shared, instrumented});
  reader.finish();
}

std::vector<std::string> read_instrumented_kinds(base::MapReader& reader, const Settings& value,
                                                 const std::vector<std::string_view>& known) {
  std::vector<std::string> kinds;
  const std::vector<Settings> alone = {value};
  for (const Settings& item : value.is_list() ? value.items() : alone) {
    const auto found = std::find(known.begin(), known.end(), item.text());
    if (item.is_scalar() && found != known.end()) {
      kinds.push_back(item.text());
      continue;
    }
    reader.mistake("instrument",
                   fmt::format("expected true, false or kinds of wrappers, found {}{}",
                               item.describe(), base::did_you_mean(item.text(), known)));
  }
  return kinds;
}

std::uint64_t counted_hosts(const Settings& hosts) {
  std::uint64_t count = 0;
  for (const auto& [group, inside] : hosts.entries()) count += counted_hosts(inside);
  if (hosts.is_map()) return count;
  const auto number = base::parse_natural(hosts.text()).value_or(hosts.items().size());
  return std::min<std::uint64_t>(number, cluster_hosts_max);
}

/// Counts hosts before they are created, because one line of a config may declare very many hosts.
std::uint64_t declared_hosts(const Settings& clusters) {
  std::uint64_t count = 0;
  for (const auto& [name, cluster] : clusters.entries())
    if (const Settings* hosts = cluster.find("hosts")) count += counted_hosts(*hosts);
  return count;
}

}  // namespace

std::string group_path(const std::vector<Settings>& groups) {
  std::string path;
  for (const Settings& group : groups) path += (path.empty() ? "" : "/") + group.text();
  return path;
}

std::optional<std::uint32_t> MultiCluster::host_named(std::string_view name) const {
  return search(hosts, name);
}

std::optional<std::uint32_t> MultiCluster::cluster_named(std::string_view name) const {
  return search(clusters, name);
}

std::uint64_t MultiCluster::thread_count() const {
  std::uint64_t count = 0;
  for (const Host& host : hosts) count += host.threads;
  return count;
}

std::vector<std::uint32_t> MultiCluster::computing(std::uint32_t cluster) const {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t host : clusters[cluster].hosts)
    if (hosts[host].threads > 0) found.push_back(host);
  return found;
}

std::vector<std::string> read_instrument(base::MapReader& reader, const Overrides& overrides,
                                         const std::vector<std::string_view>& kinds) {
  const Settings value = reader.take("instrument");
  const bool is_flag = value.is_scalar() && (value.text() == "true" || value.text() == "false");
  std::vector<std::string> chosen;
  if (is_flag && value.text() == "true") chosen = {"true"};
  if (!value.is_null() && !is_flag) chosen = read_instrumented_kinds(reader, value, kinds);
  return overrides.instrument || value.is_null() ? instrumented_by(overrides) : chosen;
}

MultiCluster read_multi_cluster(const Settings& settings, const WrapperKinds& kinds,
                                const Overrides& overrides, base::Mistakes& mistakes) {
  MultiCluster all;
  base::MapReader reader(settings, mistakes, "the config");
  const Settings clusters = take_section(reader, "clusters", Settings::Kind::map);
  const Settings links = reader.take("links");
  if (!links.is_null() && !links.is_list() && !links.is_map())
    reader.mistake("links",
                   "expected a list, or a map with all or from, found " + links.describe());
  const Settings collectives = take_section(reader, "collectives", Settings::Kind::map);
  const Settings exchanges = take_section(reader, "exchanges", Settings::Kind::map);
  const Settings elements = take_section(reader, "elements", Settings::Kind::map);
  for (const std::string_view low_level :
       {"network", "deadline", "stack", "waiting", "shared_memory", "shared_spaces", "lanes",
        "decisions", "costs", "groups", "wrappers", "graphs", "paths"})
    reader.has(low_level);
  if (settings.find("hosts") != nullptr) {
    reader.has("hosts");
    reader.mistake("hosts", "expected hosts inside clusters, because the config has clusters");
  }
  reader.finish();
  if (clusters.entries().empty())
    mistakes.add(settings.position(),
                 "clusters: missing in the config, expected a map of clusters");
  if (const std::uint64_t hosts = declared_hosts(clusters); hosts > hosts_max) {
    mistakes.add(
        clusters.position(),
        fmt::format("clusters: expected at most {} hosts in total, found {}", hosts_max, hosts));
    return all;
  }
  ClusterReader cluster_reader(all, mistakes);
  for (const auto& [name, value] : clusters.entries())
    if (check_name(name, "a cluster", mistakes)) cluster_reader.read(name, value);
  cluster_reader.check_names();
  LinkReader link_reader(all, mistakes);
  for (const Settings& link : links.items()) link_reader.read(link);
  if (links.is_map()) link_reader.read_map(links, clusters);
  read_collectives(collectives, kinds, overrides, all, mistakes);
  const auto refuse_name_of = [&](const Settings& others, std::string_view other,
                                  const Settings& name, std::string_view what) {
    if (others.find(name.text()) != nullptr)
      mistakes.add(name.position(),
                   fmt::format("{} {} has the name of {}", what, name.text(), other));
  };
  for (const auto& [name, value] : exchanges.entries()) {
    refuse_name_of(collectives, "a collective", name, "exchange");
    if (check_name(name, "an exchange", mistakes))
      read_exchange(name, value, kinds, overrides, all, mistakes);
  }
  for (const auto& [name, value] : elements.entries()) {
    refuse_name_of(collectives, "a collective", name, "element");
    refuse_name_of(exchanges, "an exchange", name, "element");
    if (check_name(name, "an element", mistakes))
      read_element(name, value, overrides, all, mistakes);
  }
  return all;
}

}  // namespace paths
