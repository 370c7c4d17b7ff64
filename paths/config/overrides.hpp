// SPDX-License-Identifier: Apache-2.0
// paths/config/overrides.hpp — command-line options that override the config.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace paths {

/// Options that replace parts of the high-level config before it is expanded. Options marked "also
/// low-level" are allowed with a low-level config, too. With a low-level config, all other options
/// are errors.
struct Overrides {
  std::optional<std::string> algorithm;  ///< algorithm of every collective, such as "magpie"
  std::optional<std::string> root;       ///< root of every collective, as "CLUSTER/HOST"
  std::optional<bool> instrument;
  /// Whether to add event collectors (wrappers that record operations) if the config does not have
  /// the setting `instrument`; also low-level.
  bool traced = false;
  std::optional<std::uint16_t> port;     ///< port of the first host; also low-level
  std::optional<std::string> transport;  ///< word of a base::TransportKind; also low-level
  std::optional<std::string> stack;      ///< stack size per thread, such as "8MiB"; also low-level
};

}  // namespace paths
