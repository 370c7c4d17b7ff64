// SPDX-License-Identifier: Apache-2.0
// paths/config/instrument.hpp — event collectors on the ways of a config.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/settings.hpp"

namespace paths {

/// Event collectors, one for each place in the text: ways that go on alike stay alike with them.
class Collectors {
 public:
  base::Settings at(const base::Position& position);

 private:
  std::map<std::tuple<int, int, base::FileName>, base::Settings> made_;
};

/// A `through` list with an event collector before each wanted wrapper and behind it, once where
/// two meet; none behind the last one, which ends the path. What begins a path (a prefetch) stays
/// first on it. None behind `lagged_check`, which lets only some rounds through, and below `map`,
/// which mostly lets nothing through.
std::vector<base::Settings> with_collectors(
    const std::vector<base::Settings>& way, bool has_threads,
    const std::function<bool(const base::Settings& wrapper)>& is_wanted, Collectors& collectors);

/// A config of the low level with collectors around every wrapper of every path; as it is when it
/// has any already.
base::Settings with_collectors(const base::Settings& low_level);

/// The first word of what stands in a `through` list: the name of a wrapper, or a kind.
const std::string& name_in_way(const base::Settings& item);
/// The kind of what stands in a `through` list: a name in `wrappers`, alone or with a role, or a
/// kind written in place; "" when there is no such.
std::string kind_in_way(const base::Settings& item, const base::Settings& wrappers);

}  // namespace paths
