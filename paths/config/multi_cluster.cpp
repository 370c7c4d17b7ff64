// SPDX-License-Identifier: Apache-2.0
// paths/config/multi_cluster.cpp — reader of the high-level config, with its exchanges and
// elements.
#include "paths/config/multi_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/near_match.hpp"
#include "paths/config/low_level.hpp"

namespace paths {
namespace {

using base::Settings;

template <class Named>
std::optional<std::uint32_t> search(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Named& one) { return one.name.text() == name; });
  if (found == all.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - all.begin());
}

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
  const std::size_t mistakes_before = mistakes.size();
  if (!read_clusters(clusters, all, mistakes)) return all;
  all.has_all_hosts = !all.hosts.empty() && mistakes.size() == mistakes_before;
  read_links(links, clusters, all, mistakes);
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
