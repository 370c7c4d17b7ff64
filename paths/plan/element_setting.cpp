// SPDX-License-Identifier: Apache-2.0
// paths/plan/element_setting.cpp — check of settings that name elements.
#include "paths/plan/element_setting.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/near_match.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

std::string read_element(base::MapReader& reader, std::string_view key, const WrapperPlace& place) {
  const std::string name = reader.required_word(key, "the name of an element of this host");
  if (name.empty()) return name;  // required_word() has reported the mistake
  const Plan& plan = place.plan();
  const auto index = plan.element_named(name);
  if (index && plan.elements[*index].host == place.host()) return name;
  std::string hint;
  if (index) {
    hint = fmt::format(", which is on host '{}'", plan.hosts[plan.elements[*index].host].name);
  } else {
    std::vector<std::string_view> here;
    for (const Plan::PlanElement& element : plan.elements) {
      if (element.host == place.host()) here.push_back(element.name);
    }
    hint = base::did_you_mean(name, here);
  }
  reader.mistake(key, fmt::format("expected an element of host '{}', found '{}'{}",
                                  plan.hosts[place.host()].name, name, hint));
  return name;
}

void check_element(base::MapReader& reader, std::string_view key, const std::string& name,
                   const WrapperPlace& place, const pastset::Template& expected) {
  const Plan& plan = place.plan();
  const auto index = plan.element_named(name);
  if (!index || plan.elements[*index].host != place.host()) {
    return reader.mistake(key, fmt::format("expected elements of host '{}', found '{}'",
                                           plan.hosts[place.host()].name, name));
  }
  const pastset::Template& found = plan.elements[*index].tuple_template;
  if (found == expected) return;
  reader.mistake(key, fmt::format("element '{}' needs the template \"{}\", found \"{}\"", name,
                                  expected.text(), found.text()));
}

}  // namespace paths
