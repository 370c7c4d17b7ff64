// SPDX-License-Identifier: Apache-2.0
// paths/config/read_clusters.cpp — clusters and their hosts, groups and gateways.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "paths/config/low_level.hpp"
#include "paths/config/multi_cluster.hpp"
#include "paths/config/node_list.hpp"
#include "paths/plan/names.hpp"

namespace paths {
namespace {

using base::Settings;

constexpr std::int64_t cluster_hosts_max = 100'000;
constexpr std::uint64_t hosts_max = 1'000'000;

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
    // The hosts have a mistake. A host in their place has the other settings of the cluster
    // checked.
    if (cluster().hosts.empty()) add_host(numbered_host(name, 0, value), 1);
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

  static Settings numbered_host(const Settings& cluster, std::size_t number, const Settings& at) {
    return Settings::scalar(fmt::format("{}-{}", cluster.text(), number), at.position());
  }

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
      add_host(numbered_host(name, first + static_cast<std::size_t>(host), hosts), 1);
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

  /// Calls `use` for each host to which the setting `key` applies. `value` is one setting for all
  /// hosts, or a map from hosts to settings.
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

  /// Reads the setting `gateway`: the name of a host, or a map with the name and rate of a host.
  /// Returns the rate; null if the config gives none.
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
  // Names of the groups that contain the host that is being read (groups_), and of the groups that
  // contain the first host of the cluster (first_groups_).
  std::vector<Settings> groups_, first_groups_;
  std::unordered_map<std::string, std::uint32_t> hosts_;
};

/// Adds the number of hosts in the value of a key `hosts` to `count`, until it exceeds hosts_max.
void count_hosts(const Settings& hosts, std::uint64_t& count) {
  for (const auto& [group, inside] : hosts.entries())
    if (count <= hosts_max) count_hosts(inside, count);
  const auto count_named = [&](const std::string& text) {
    count += is_node_list(text) ? read_node_list(text, cluster_hosts_max).names.size() : 1;
  };
  for (const Settings& host : hosts.items())
    if (count <= hosts_max) count_named(host.text());
  if (!hosts.is_scalar()) return;
  if (const auto number = base::parse_natural(hosts.text()))
    count += std::min<std::uint64_t>(*number, cluster_hosts_max);
  else
    count_named(hosts.text());
}

/// Returns the number of declared hosts without creating them, because one line of a config may
/// declare more hosts than fit into memory. Stops counting at a number above hosts_max.
std::uint64_t declared_hosts(const Settings& clusters) {
  std::uint64_t count = 0;
  for (const auto& [name, cluster] : clusters.entries())
    if (const Settings* hosts = cluster.find("hosts")) count_hosts(*hosts, count);
  return count;
}

}  // namespace

bool read_clusters(const Settings& section, MultiCluster& multi_cluster, base::Mistakes& mistakes) {
  if (const std::uint64_t hosts = declared_hosts(section); hosts > hosts_max) {
    mistakes.add(section.position(),
                 fmt::format("clusters: expected at most {} hosts in total, found {} or more",
                             hosts_max, hosts));
    return false;
  }
  ClusterReader reader(multi_cluster, mistakes);
  for (const auto& [name, value] : section.entries())
    if (check_name(name, "a cluster", mistakes)) reader.read(name, value);
  reader.check_names();
  return true;
}

}  // namespace paths
