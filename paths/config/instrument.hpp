// SPDX-License-Identifier: Apache-2.0
// paths/config/instrument.hpp — insertion of event collectors into the paths of a config.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/settings.hpp"

namespace paths {

/// Creates event collectors, the wrappers that record operations. at() makes one collector for each
/// position in the text of the config, and returns the same collector for equal positions. Paths
/// that share a wrapper therefore also share the collectors around this wrapper.
class Collectors {
 public:
  base::Settings at(const base::Position& position);

 private:
  std::map<std::tuple<int, int, base::FileName>, base::Settings> made_;
};

/// Returns the list of wrappers `way` (key `through` of a path) with an event collector before and
/// after each wrapper for which `is_wanted` returns true. Two adjacent wrappers share the collector
/// between them. There is no collector in these places:
/// - after the last wrapper, which ends the path
/// - before a wrapper that begins a path without threads (a prefetch)
/// - directly after `lagged_check`, which passes on only some rounds
/// - below `map`, which passes on almost no operations
std::vector<base::Settings> with_collectors(
    const std::vector<base::Settings>& way, bool has_threads,
    const std::function<bool(const base::Settings& wrapper)>& is_wanted, Collectors& collectors);

/// Returns a low-level config with collectors around every wrapper of every path, or the unchanged
/// config if it already has any collector.
base::Settings with_collectors(const base::Settings& low_level);

/// Returns the first word of an item of a `through` list: the name of a wrapper, or a kind.
const std::string& name_in_way(const base::Settings& item);
/// Returns the kind of the wrapper that an item of a `through` list names or declares. An item
/// either names one of `wrappers`, alone or with a role, or declares a wrapper in place, as a kind
/// with settings. Returns "" for an unknown name.
std::string kind_in_way(const base::Settings& item, const base::Settings& wrappers);

}  // namespace paths
