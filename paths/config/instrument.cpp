// SPDX-License-Identifier: Apache-2.0
// paths/config/instrument.cpp — insertion of event collectors into paths.
#include "paths/config/instrument.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace paths {
namespace {

using base::Settings;

constexpr const char* collector_kind = "event_collector";

Settings replaced(const Settings& map, std::string_view key, Settings value) {
  std::vector<Settings::Entry> entries = map.entries();
  for (Settings::Entry& entry : entries)
    if (entry.first.text() == key) entry.second = std::move(value);
  return Settings::map(std::move(entries), map.position());
}

}  // namespace

Settings Collectors::at(const base::Position& position) {
  const auto [found, is_new] = made_.try_emplace({position.line, position.column, position.file});
  if (is_new)
    found->second = Settings::map(
        {{Settings::scalar(collector_kind, position), Settings::map({}, position)}}, position);
  return found->second;
}

const std::string& name_in_way(const Settings& item) {
  return item.entries().empty() ? item.text() : item.entries().front().first.text();
}

std::string kind_in_way(const Settings& item, const Settings& wrappers) {
  const std::string& name = name_in_way(item);
  const Settings* wrapper = wrappers.find(name);
  const Settings* kind = wrapper != nullptr ? wrapper->find("kind") : nullptr;
  if (kind != nullptr) return kind->text();
  return item.entries().empty() ? "" : name;
}

std::vector<Settings> with_collectors(const std::vector<Settings>& way, bool has_threads,
                                      const std::function<bool(const Settings&)>& is_wanted,
                                      Collectors& collectors) {
  std::vector<Settings> collected;
  // Whether the path has a wrapper of the kind `map` above `place`. Such a wrapper passes on almost
  // no operations.
  bool is_mapped = false;
  for (std::size_t place = 0; place < way.size(); ++place) {
    // A `lagged_check` passes on only some rounds. A collector directly below a `lagged_check`
    // would miss the other rounds, so no collector is inserted there.
    const std::string above = place > 0 ? kind_in_way(way[place - 1], {}) : "";
    is_mapped |= above == "map";
    const bool may_stand_here = (has_threads || place > 0) && above != "lagged_check" && !is_mapped;
    const bool is_behind = place > 0 && is_wanted(way[place - 1]);
    if (may_stand_here && (is_behind || is_wanted(way[place])))
      collected.push_back(collectors.at(way[place].position()));
    collected.push_back(way[place]);
  }
  return collected;
}

Settings with_collectors(const Settings& low_level) {
  const Settings* paths = low_level.find("paths");
  if (paths == nullptr) return low_level;
  const Settings* named = low_level.find("wrappers");
  const Settings wrappers = named != nullptr ? *named : Settings();
  std::vector<Settings> collected;
  Collectors collectors;
  for (const Settings& path : paths->items()) {
    const Settings* through = path.find("through");
    // If the list `through` is missing or is not a list, the reader of paths reports this mistake.
    if (through == nullptr || !through->is_list()) return low_level;
    const bool has_some = std::any_of(
        through->items().begin(), through->items().end(),
        [&](const Settings& item) { return kind_in_way(item, wrappers) == collector_kind; });
    if (has_some) return low_level;
    auto way = with_collectors(
        through->items(), path.find("threads") != nullptr, [](const Settings&) { return true; },
        collectors);
    collected.push_back(
        replaced(path, "through", Settings::list(std::move(way), through->position())));
  }
  return replaced(low_level, "paths", Settings::list(std::move(collected), paths->position()));
}

}  // namespace paths
