// SPDX-License-Identifier: Apache-2.0
// paths/config/low_level.hpp — the readers of the parts of the low level.
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

/// The most threads that a config may give to one host.
inline constexpr std::int64_t host_threads_max = 1'000'000;

/// Reads the low level as far as each part can be understood by itself.
Plan read_low_level(Expansion config, const WrapperKinds& kinds, const Overrides& overrides,
                    PlanText& text, base::Mistakes& mistakes);

/// Only what both levels have in common: network and deadline.
void check_network(const base::Settings& settings, const Overrides& overrides,
                   base::Mistakes& mistakes);

/// The host of a wrapper or path that was made of clusters; one that could not be read is a mistake
/// at `position`.
std::optional<std::uint32_t> find_host(const Expansion& config, std::uint32_t host,
                                       const Plan& plan, const base::Position& position,
                                       base::Mistakes& mistakes);

/// Sections of it. Each adds to `plan`; paths need hosts and wrappers, those
/// need hosts, graphs need paths.
void read_hosts(const base::Settings& hosts, const base::Settings& network, Plan& plan,
                const Overrides& overrides, base::Mistakes& mistakes);
/// `lanes` and `ways`, of clusters that are known.
void read_ways(base::MapReader& reader, Plan& plan, base::Mistakes& mistakes);
/// `groups`, of threads of hosts that are known.
void read_groups(const base::Settings& section, Plan& plan, base::Mistakes& mistakes);
void read_graphs(const base::Settings& section, const WrapperKinds& kinds, Plan& plan,
                 PlanText& text, base::Mistakes& mistakes);
/// Those of `config` that were made of clusters, and the section with those that are written.
void read_paths(Expansion config, const base::Settings& section, const WrapperKinds& kinds,
                Plan& plan, PlanText& text, base::Mistakes& mistakes);

}  // namespace paths
