// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/writer.cpp — construction of the low-level config, section by section, as
// settings (base/settings.hpp).
#include "paths/config/expand/writer.hpp"

#include <algorithm>
#include <utility>

#include "paths/config/expand/routes.hpp"
#include "paths/config/instrument.hpp"
#include "paths/config/low_level.hpp"

namespace paths::expansion {

using base::Settings;

Settings word(std::string text, const base::Position& position) {
  return Settings::scalar(std::move(text), position);
}

Settings::Entry entry(std::string key, Settings value) {
  const base::Position position = value.position();
  return {word(std::move(key), position), std::move(value)};
}

Settings in_place(std::string kind, Entries settings, const base::Position& position) {
  return Settings::map(
      {{word(std::move(kind), position), Settings::map(std::move(settings), position)}}, position);
}

Settings store(const std::string& element, const base::Position& position) {
  return in_place("store", {entry("element", word(element, position))}, position);
}

Settings marked_store(const std::string& element, std::string marks,
                      const base::Position& position) {
  return in_place(
      "store",
      {entry("element", word(element, position)), entry("marks", word(std::move(marks), position))},
      position);
}

void append(Way& way, const Way& rest) { way.insert(way.end(), rest.begin(), rest.end()); }

Writer::Writer(const MultiCluster& all) : all_(all) {
  const std::size_t usual = all.collectives.size() * all.hosts.size();
  expansion_.wrapper_numbers.reserve(usual);
  expansion_.wrappers.reserve(usual);
  expansion_.paths.reserve(usual);
}

void Writer::host(std::uint32_t index) {
  const MultiCluster::Host& host = all_.hosts[index];
  const base::Position& position = host.name.position();
  Entries settings = {entry("cluster", all_.clusters[host.cluster].name),
                      entry("threads", word(std::to_string(host.threads), position))};
  if (!host.speed.is_null()) settings.push_back(entry("speed", host.speed));
  if (!host.address.is_null()) settings.push_back(entry("address", host.address));
  if (!host.groups.empty())
    settings.push_back(entry("groups", word(group_path(host.groups), host.groups[0].position())));
  if (!host.space.is_null()) settings.push_back(entry("space", host.space));
  hosts_.emplace_back(host.name, Settings::map(std::move(settings), position));
  expansion_.hosts.push_back(host.name);
}

void Writer::element(const Settings& name, const Settings& settings) {
  elements_.emplace_back(name, settings);
}

void Writer::element(const std::string& name, std::uint32_t host, const pastset::Template& tuple,
                     std::uint64_t keep_newest, const base::Position& position) {
  Entries settings = {entry("host", word(all_.host_name(host), position)),
                      entry("template", word(tuple.text(), position)),
                      entry("keep_newest", word(std::to_string(keep_newest), position))};
  // Generated elements are not shared. Programs do not open them by name, and no setting gives
  // their memory size.
  if (all_.hosts[host].space.text() == "shared")
    settings.push_back(entry("shared", word("false", position)));
  elements_.push_back(entry(name, Settings::map(std::move(settings), position)));
}

Settings Writer::share(const std::string& name, std::string_view kind, std::uint32_t host,
                       const Settings& settings, const base::Position& position) {
  Settings written = word(name, position);
  const auto [found, is_new] = expansion_.wrapper_numbers.try_emplace(
      written.text(), static_cast<std::uint32_t>(expansion_.wrappers.size()));
  if (!is_new) return expansion_.wrappers[found->second].name;
  expansion_.wrappers.push_back({written, std::string(kind), host, settings});
  return written;
}

void Writer::graph(const Settings& name, Entries is) {
  graphs_.emplace_back(name, Settings::map(std::move(is), name.position()));
}

void Writer::path(const Settings& graph, const Threads& threads, Way way,
                  const std::vector<std::string>& instrumented) {
  way = instrument(instrumented, threads.count > 0, std::move(way));
  expansion_.paths.push_back({graph, threads.host, threads.first, threads.count, std::move(way)});
}

Way Writer::instrument(const std::vector<std::string>& instrumented, bool has_threads, Way way) {
  if (instrumented.empty()) return way;
  const bool is_all = instrumented.front() == "true";
  const auto& numbers = expansion_.wrapper_numbers;
  const auto is_wanted = [&](const Settings& item) {
    if (is_all) return true;
    const auto found = numbers.find(name_in_way(item));
    const std::string kind =
        found != numbers.end() ? expansion_.wrappers[found->second].kind : kind_in_way(item, {});
    const auto is = [&](const std::string& one) { return one == kind; };
    return std::any_of(instrumented.begin(), instrumented.end(), is);
  };
  return with_collectors(way, has_threads, is_wanted, collectors_);
}

Expansion Writer::finish(const Settings& settings) {
  Entries low_level;
  for (const std::string_view key : common_sections)
    for (const auto& written : settings.entries())
      if (written.first.text() == key) low_level.push_back(written);
  if (const Settings* own = settings.find("graphs"))
    graphs_.insert(graphs_.end(), own->entries().begin(), own->entries().end());
  const base::Position& position = settings.position();
  const Settings* const wrappers = settings.find("wrappers");
  const Settings* const paths = settings.find("paths");
  write_protected_links(all_, low_level, position);
  if (needs_lanes_ && settings.find("lanes") == nullptr)
    low_level.push_back(entry("lanes", Settings::map({}, position)));
  low_level.push_back(entry("hosts", Settings::map(std::move(hosts_), position)));
  low_level.push_back(entry("ways", write_ways(all_, position)));
  low_level.push_back(entry("elements", Settings::map(std::move(elements_), position)));
  low_level.push_back(entry(
      "wrappers", Settings::map(wrappers != nullptr ? wrappers->entries() : Entries(), position)));
  low_level.push_back(entry("graphs", Settings::map(std::move(graphs_), position)));
  low_level.push_back(
      entry("paths", Settings::list(paths != nullptr ? paths->items() : Way(), position)));
  expansion_.written = Settings::map(std::move(low_level), position);
  return std::move(expansion_);
}

}  // namespace paths::expansion
