// SPDX-License-Identifier: Apache-2.0
// paths/config/low_level.hpp — readers of the sections of the low-level config.
#pragma once
#include <cstdint>
#include <optional>

#include "base/settings.hpp"
#include "paths/config/expansion.hpp"
#include "paths/config/overrides.hpp"
#include "paths/plan/names.hpp"
#include "paths/plan/plan.hpp"
#include "paths/plan/plan_text.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Largest number of threads that a config may give one host.
inline constexpr std::int64_t host_threads_max = 1'000'000;

/// Reads the low-level config section by section, and returns its plan. Does not check the plan as
/// a whole.
Plan read_low_level(Expansion config, const WrapperKinds& kinds, const Overrides& overrides,
                    PlanText& text, base::Mistakes& mistakes);

/// Takes the section `key` of a low-level or high-level config, and returns it. Adds a mistake if
/// the section is of a different kind than `kind`, such as a list instead of a map. A missing
/// section is no mistake.
base::Settings take_section(base::MapReader& reader, std::string_view key,
                            base::Settings::Kind kind);

/// Returns the index in `plan` of the host of a generated wrapper or path. `host` is the index of
/// the host in `config`. If that host could not be read, adds a mistake at `position` and returns
/// nullopt.
std::optional<std::uint32_t> find_host(const Expansion& config, std::uint32_t host,
                                       const Plan& plan, const base::Position& position,
                                       base::Mistakes& mistakes);

/// Each of the following functions reads one section into `plan`. Hosts must be read before
/// wrappers, wrappers before paths, and paths before graphs.
void read_hosts(const base::Settings& hosts, const base::Settings& network, Plan& plan,
                const Overrides& overrides, base::Mistakes& mistakes);
/// Reads `lanes` and `ways`. Requires: clusters were read.
void read_ways(base::MapReader& reader, Plan& plan, base::Mistakes& mistakes);
/// Reads `groups` of threads. Requires: hosts were read.
void read_groups(const base::Settings& section, Plan& plan, base::Mistakes& mistakes);
void read_graphs(const base::Settings& section, const WrapperKinds& kinds, Plan& plan,
                 PlanText& text, base::Mistakes& mistakes);
/// Reads the generated paths of `config`, and then the section `paths` that the user wrote.
void read_paths(Expansion config, const base::Settings& section, const WrapperKinds& kinds,
                Plan& plan, PlanText& text, base::Mistakes& mistakes);

}  // namespace paths
