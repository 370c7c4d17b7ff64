// SPDX-License-Identifier: Apache-2.0
// paths/config/low_level.hpp — the parts that the readers of the low level share.
#pragma once
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/settings.hpp"
#include "paths/config/config.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// What a person wrote for each part of a plan, to point at when the whole does not fit together.
/// Empty for plans built by code.
struct PlanText {
  std::vector<base::Settings> stages;        ///< the item of the path that made the stage
  std::vector<base::Settings> wrappers;      ///< the name, or the item written in place
  std::vector<base::Settings> contributors;  ///< of a wrapper, as written; null when it was not
  std::unordered_set<std::string> broken;    ///< names of wrappers that could not be read
  bool whole = true;  ///< false when paths or wrappers were left out because of mistakes

  base::Position of_stage(StageId stage) const;
  base::Position of_wrapper(std::uint32_t wrapper) const;
};

/// Reads the low level as far as each part can be understood by itself.
Plan read_low_level(const base::Settings& settings, const WrapperKinds& kinds,
                    const Overrides& overrides, PlanText& text, base::Mistakes& mistakes);

/// Only what both levels have in common: network and deadline.
void check_network(const base::Settings& settings, const Overrides& overrides,
                   base::Mistakes& mistakes);

/// Sections of it. Each adds to `plan`; paths need hosts and wrappers, those need hosts.
void read_hosts(const base::Settings& hosts, const base::Settings& network, Plan& plan,
                const Overrides& overrides, base::Mistakes& mistakes);
void read_paths(const base::Settings& section, const WrapperKinds& kinds, Plan& plan,
                PlanText& text, base::Mistakes& mistakes);

/// Counts slots; says what does not fit together in the plan as a whole.
void count_slots(Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                 base::Mistakes& mistakes);
void check_structure(const Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                     base::Mistakes& mistakes);
void check_templates(const Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                     base::Mistakes& mistakes);
void check_drivers(const Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                   base::Mistakes& mistakes);
void check_wrappers(const Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                    base::Mistakes& mistakes);

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
