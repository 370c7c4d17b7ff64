// SPDX-License-Identifier: Apache-2.0
// paths/plan/names.hpp — names in configs, and messages about wrong names.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"

namespace paths {

/// Returns a message about a wrong name. The message suggests the most similar name in `names`:
/// "expected a host, found 'alhpa-0'; did you mean 'alpha-0'?"
std::string not_named(std::string_view expected, const base::Settings& found,
                      const std::vector<std::string_view>& names);
/// Returns whether `name` is a valid name; adds a mistake otherwise. A valid name has letters,
/// digits and '_', and also '-' and '.' except at its ends.
bool check_name(const base::Settings& name, std::string_view what, base::Mistakes& mistakes);
/// Returns " (the first is at POSITION)", for a message about a second definition of a name; "" if
/// the position of the first definition is not known.
std::string also_at(const base::Position& first);

/// Returns the names of all items of `all` that have a name, for the suggestion of not_named().
template <class Named>
std::vector<std::string_view> names_of(const std::vector<Named>& all) {
  std::vector<std::string_view> names;
  for (const Named& one : all)
    if (!one.name.empty()) names.emplace_back(one.name);
  return names;
}

}  // namespace paths
