// SPDX-License-Identifier: Apache-2.0
// paths/config/config.hpp — from the text a person writes to the plan that runs, and back.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// What a command line says instead of the high level of the config, before it is expanded; on a
/// low-level config each of these is an error.
struct Overrides {
  std::optional<std::string> algorithm;  ///< "magpie", "periodic:50", ...: of every collective
  std::optional<std::string> root;       ///< "CLUSTER/HOST"
  std::optional<bool> instrument;
  bool traced = false;  ///< instruments what the config does not say otherwise of; either level
  std::optional<std::uint16_t> port;     ///< base port; allowed on a low-level config, too
  std::optional<std::string> transport;  ///< "tcp" or "ipc"; likewise
  std::optional<std::string> stack;      ///< of a thread, "8MiB"; likewise
};

/// Reads either level. Throws ConfigError with every mistake.
Plan read_plan(const base::Settings& settings, const WrapperKinds& kinds,
               const Overrides& overrides = {});
Plan load_plan(const std::string& file, const WrapperKinds& kinds, const Overrides& overrides = {});

/// The low level as text: read_plan() gives the same plan, with the same digest.
std::string print_plan(const Plan& plan, const WrapperKinds& kinds);

/// Counts slots, checks the plan as a whole (paths reach an element, agree where they meet, no
/// cycle, hosts reached by forwards only, templates fit) and every wrapper's settings, and sets
/// the digest. For plans built by code; read_plan() has done it. Throws ConfigError.
void finish_plan(Plan& plan, const WrapperKinds& kinds);

}  // namespace paths
