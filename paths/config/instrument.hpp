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

/// Event collectors, one for each position in the text, so that paths with a common rest still
/// share it when instrumented.
class Collectors {
 public:
  base::Settings at(const base::Position& position);

 private:
  std::map<std::tuple<int, int, base::FileName>, base::Settings> made_;
};

/// Returns a `through` list with an event collector before and after each wanted wrapper, one where
/// two meet, and none after the last wrapper, which ends the path. A wrapper that begins a path (a
/// prefetch) stays first. There is no collector after `lagged_check`, which passes only some
/// rounds, or below `map`, which passes almost nothing.
std::vector<base::Settings> with_collectors(
    const std::vector<base::Settings>& way, bool has_threads,
    const std::function<bool(const base::Settings& wrapper)>& is_wanted, Collectors& collectors);

/// Returns a low-level config with collectors around every wrapper of every path, or the unchanged
/// config if it already has any.
base::Settings with_collectors(const base::Settings& low_level);

/// Returns the first word of an item of a `through` list: the name of a wrapper, or a kind.
const std::string& name_in_way(const base::Settings& item);
/// Returns the kind of an item of a `through` list: a name in `wrappers`, alone or with a role, or
/// a kind written in place. Returns "" if there is no such kind.
std::string kind_in_way(const base::Settings& item, const base::Settings& wrappers);

}  // namespace paths
