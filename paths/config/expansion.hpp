// SPDX-License-Identifier: Apache-2.0
// paths/config/expansion.hpp — low-level config that was partly generated from a high-level config.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/settings.hpp"

namespace paths {

/// Low-level config whose wrappers and paths may be generated from clusters. There may be millions
/// of generated wrappers and paths. They are therefore not stored as settings, which would have to
/// be parsed again. A generated wrapper or path stores the index of its host in `hosts`. Equal
/// items of many paths share one Settings object.
struct Expansion {
  struct Wrapper {
    base::Settings name;
    std::string kind;
    std::uint32_t host = 0;
    base::Settings settings;  ///< settings that the wrapper's kind reads
  };
  struct Path {
    base::Settings graph;
    std::uint32_t host = 0;
    std::uint32_t first_thread = 0;
    std::uint32_t threads = 0;            ///< 0 if the path's first wrapper starts the operations
    std::vector<base::Settings> through;  ///< wrappers of the path, as items of a `through` list
  };

  /// Whether mistakes kept the config from being expanded. `written` then has only sections that
  /// need no generated wrappers or paths, so that their mistakes are found, too. If the clusters
  /// have mistakes, it has no hosts, and no sections that name hosts.
  bool is_partial = false;
  base::Settings written{};  ///< low-level sections of the config, as the user wrote them
  std::vector<base::Settings> hosts{};  ///< names of all hosts, in the order of the config
  // Generated wrappers and paths. In the plan they precede the wrappers and paths that the user
  // wrote.
  std::vector<Wrapper> wrappers{};
  std::vector<Path> paths{};
  /// Index in `wrappers` of each wrapper that has a name, keyed by the name.
  std::unordered_map<std::string_view, std::uint32_t> wrapper_numbers{};
};

}  // namespace paths
