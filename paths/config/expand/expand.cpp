// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/expand.cpp — expansion of clusters into hosts, wrappers and paths.
#include "paths/config/expand/expand.hpp"

#include <fmt/format.h>

#include <utility>

#include "paths/config/expand/collective.hpp"
#include "paths/config/expand/exchange.hpp"
#include "paths/config/expand/machines.hpp"
#include "paths/config/expand/routes.hpp"
#include "paths/config/expand/writer.hpp"
#include "runtime/processes/machine.hpp"

namespace paths {
namespace {

void write_element(const MultiCluster& all, const MultiCluster::Element& element,
                   const expansion::Machines& machines, expansion::Writer& writer,
                   expansion::Routes& routes) {
  writer.element(element.name, element.settings);
  const auto home = all.host_named(element.host.text());
  if (!home) return;
  for (const std::uint32_t host : element.reach) {
    expansion::Way way;
    routes.route(way, host, *home, element.name);
    machines.map_if_near(way, host, element, *home);
    way.push_back(expansion::in_place("store", {expansion::entry("element", element.name)},
                                      element.name.position()));
    writer.path(element.name, {host, 0, all.hosts[host].threads}, std::move(way),
                element.instrumented);
  }
}

/// Reports a mistake if the expansion of the config would be too large. The size of the expansion
/// grows with the square of the number of clusters if they exchange results.
void check_size(const MultiCluster& all, const base::Position& position, base::Mistakes& mistakes) {
  constexpr std::uint64_t path_bytes_least = 512;
  std::uint64_t paths = all.hosts.size();
  for (const MultiCluster::Collective& collective : all.collectives)
    paths +=
        all.hosts.size() +
        (collective.algorithm.all_to_all ? all.clusters.size() * (all.clusters.size() - 1) : 0);
  for (const MultiCluster::Element& element : all.elements) paths += element.reach.size();
  const std::uint64_t bytes = paths * path_bytes_least, most = runtime::machine().memory_bytes;
  if (bytes > most)
    mistakes.add(position,
                 fmt::format("its {} hosts and paths, written out, need {} of memory at "
                             "least, but there are {}",
                             paths, runtime::rounded_bytes(bytes), runtime::rounded_bytes(most)));
}

/// Returns the sections of a config with mistakes that need no generated wrappers or paths. See
/// Expansion::is_partial.
Expansion expand_partly(const MultiCluster& all, const base::Settings& settings) {
  std::vector<base::Settings::Entry> entries;
  for (const auto& entry : settings.entries())
    for (const std::string_view key : expansion::common_sections)
      if (entry.first.text() == key && (key != "groups" || all.has_all_hosts))
        entries.push_back(entry);
  if (all.has_all_hosts) {
    expansion::Writer writer(all);
    for (const MultiCluster::Cluster& cluster : all.clusters)
      for (const std::uint32_t host : cluster.hosts) writer.host(host);
    std::vector<base::Settings::Entry> elements;
    for (const MultiCluster::Element& element : all.elements)
      elements.emplace_back(element.name, element.settings);
    const base::Position& position = settings.position();
    entries.push_back(
        expansion::entry("hosts", base::Settings::map(writer.hosts().entries(), position)));
    entries.push_back(
        expansion::entry("elements", base::Settings::map(std::move(elements), position)));
  }
  return {.is_partial = true,
          .written = base::Settings::map(std::move(entries), settings.position())};
}

}  // namespace

bool is_high_level(const base::Settings& settings) {
  for (const std::string_view key : {"clusters", "links", "collectives", "exchanges"})
    if (settings.find(key) != nullptr) return true;
  return false;
}

Expansion expand(const base::Settings& settings, const WrapperKinds& kinds,
                 const Overrides& overrides, base::Mistakes& mistakes) {
  const MultiCluster all = read_multi_cluster(settings, kinds, overrides, mistakes);
  if (mistakes.empty()) check_size(all, settings.position(), mistakes);
  if (!mistakes.empty()) return expand_partly(all, settings);
  expansion::Writer writer(all);
  expansion::Routes routes(all, writer, mistakes);
  for (const MultiCluster::Cluster& cluster : all.clusters)
    for (const std::uint32_t host : cluster.hosts) writer.host(host);
  for (const MultiCluster::Collective& collective : all.collectives)
    expansion::CollectiveExpansion(all, collective, *kinds.at(collective.kind).collective, writer,
                                   routes)
        .write(mistakes);
  const expansion::Machines machines(all, settings, writer, overrides);
  for (const MultiCluster::Exchange& exchange : all.exchanges)
    expansion::write_exchange(all, exchange, machines, writer, routes, mistakes);
  for (const MultiCluster::Element& element : all.elements)
    write_element(all, element, machines, writer, routes);
  return mistakes.empty() ? writer.finish(settings) : expand_partly(all, settings);
}

}  // namespace paths
