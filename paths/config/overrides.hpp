// SPDX-License-Identifier: Apache-2.0
// paths/config/overrides.hpp — what a command line says instead of a config.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace paths {

/// Instead of the high level of the config, before it is expanded; on a
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

}  // namespace paths
