// SPDX-License-Identifier: Apache-2.0
// paths/wrapper_kind.cpp — list of wrapper kinds, with look-up by name.
#include "paths/wrapper_kind.hpp"

#include <algorithm>
#include <utility>

#include "base/errors.hpp"

namespace paths {

base::Settings CollectiveKind::own_settings(const base::Settings& map) const {
  std::vector<base::Settings::Entry> own;
  for (const SettingHelp& setting : settings)
    for (const base::Settings::Entry& entry : map.entries())
      if (entry.first.text() == setting.name) own.push_back(entry);
  return base::Settings::map(std::move(own), map.position());
}

void WrapperKinds::add(WrapperKind kind) {
  ENSURE(!kind.name.empty());
  ENSURE(find(kind.name) == nullptr);
  ENSURE(kind.read != nullptr);
  kinds_.push_back(std::move(kind));
}

const WrapperKind* WrapperKinds::find(std::string_view name) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const WrapperKind& kind) { return kind.name == name; });
  return found == kinds_.end() ? nullptr : &*found;
}

const WrapperKind& WrapperKinds::at(std::string_view name) const {
  const WrapperKind* const found = find(name);
  ENSURE(found != nullptr);
  return *found;
}

std::vector<std::string_view> WrapperKinds::names() const {
  std::vector<std::string_view> names;
  for (const WrapperKind& kind : kinds_) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string_view> WrapperKinds::collectives() const {
  std::vector<std::string_view> names;
  for (const WrapperKind& kind : kinds_)
    if (kind.collective) names.emplace_back(kind.name);
  return names;
}

}  // namespace paths
