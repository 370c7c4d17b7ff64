// SPDX-License-Identifier: Apache-2.0
// paths/plan/names.hpp — names that people give, and what is said of wrong ones.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"

namespace paths {

/// "expected a host, found 'alhpa-0'; did you mean 'alpha-0'?"
std::string not_named(std::string_view expected, const base::Settings& found,
                      const std::vector<std::string_view>& names);
/// Names of anything: letters, digits, and _ . - inside. Adds a mistake for any other.
bool check_name(const base::Settings& name, std::string_view what, base::Mistakes& mistakes);
/// The position of what was written first, as text for a message about the second.
std::string also_at(const base::Position& first);

/// Each named thing's name, for near matches.
template <class Named>
std::vector<std::string_view> names_of(const std::vector<Named>& all) {
  std::vector<std::string_view> names;
  for (const Named& one : all)
    if (!one.name.empty()) names.emplace_back(one.name);
  return names;
}

}  // namespace paths
