// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/machines.cpp — choice of the shared elements that hosts map, from the
// addresses of the hosts.
#include "paths/config/expand/machines.hpp"

#include <algorithm>

#include "paths/config/instrument.hpp"
#include "paths/config/low_level.hpp"
#include "paths/one_machine.hpp"

namespace paths::expansion {

using base::Settings;

namespace {

bool says_so(const Settings& shared) { return shared.is_map() || shared.text() == "true"; }

}  // namespace

/// Reads the addresses of hosts, but only if some element is shared. This condition saves time,
/// because a config may have a million hosts. Reports no mistakes in addresses, because the reader
/// of the low-level config reports them later.
Machines::Machines(const MultiCluster& all, const Settings& settings, const Writer& writer,
                   const Overrides& overrides)
    : all_(all) {
  const auto is_one_shared = [&](const MultiCluster::Element& element) {
    const auto home = all.host_named(element.host.text());
    return home && is_shared(element, *home);
  };
  const auto is_shared_one = [](const MultiCluster::Exchange& one) { return says_so(one.shared); };
  if (std::none_of(all.elements.begin(), all.elements.end(), is_one_shared) &&
      std::none_of(all.exchanges.begin(), all.exchanges.end(), is_shared_one))
    return;
  const Settings* const network = settings.find("network");
  const Settings* const memory = settings.find("shared_memory");
  hosts_.shared_memory = memory == nullptr || memory->text() != "false";
  base::Mistakes said_later;
  read_hosts(writer.hosts(), network != nullptr ? *network : Settings::map({}, settings.position()),
             hosts_, overrides, said_later);
  hosts_.index_names();
}

bool Machines::are_near(std::uint32_t host, std::uint32_t other) const {
  const auto here = hosts_.host_named(all_.host_name(host));
  const auto there = hosts_.host_named(all_.host_name(other));
  return here && there && here != there && hosts_.shared_memory &&
         are_of_one_machine(hosts_.hosts[*here].address, hosts_.hosts[*there].address);
}

bool Machines::is_shared(const MultiCluster::Element& element, std::uint32_t home) const {
  if (const Settings* const shared = element.settings.find("shared")) return says_so(*shared);
  return all_.hosts[home].space.text() == "shared";
}

void Machines::map_if_near(Way& way, std::uint32_t from, const MultiCluster::Element& element,
                           std::uint32_t home) const {
  if (is_shared(element, home)) map_if_near(way, from, element.name, home);
}

void Machines::map_if_near(Way& way, std::uint32_t from, const MultiCluster::Exchange& exchange,
                           const Settings& element, std::uint32_t home) const {
  if (says_so(exchange.shared)) map_if_near(way, from, element, home);
}

void Machines::map_if_near(Way& way, std::uint32_t from, const Settings& element,
                           std::uint32_t home) const {
  const bool delays = std::any_of(way.begin(), way.end(), [](const Settings& item) {
    return kind_in_way(item, {}) != "forward";
  });
  if (delays || !are_near(from, home)) return;
  way.insert(way.begin(), in_place("map", {entry("element", element)}, element.position()));
}

}  // namespace paths::expansion
