// SPDX-License-Identifier: Apache-2.0
// paths/config/overrides.hpp — command-line options that override the config.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace paths {

/// Options that replace parts of the high-level config before it is expanded. A low-level config
/// allows only those marked so; the others are an error there.
struct Overrides {
  std::optional<std::string> algorithm;  ///< "magpie", "periodic:50", ...: for every collective
  std::optional<std::string> root;       ///< "CLUSTER/HOST"
  std::optional<bool> instrument;
  bool traced = false;                   ///< instruments unless the config decides; either level
  std::optional<std::uint16_t> port;     ///< base port; also for a low-level config
  std::optional<std::string> transport;  ///< "tcp" or "ipc"; also for a low-level config
  std::optional<std::string> stack;      ///< stack size per thread, "8MiB"; also low-level
};

}  // namespace paths
