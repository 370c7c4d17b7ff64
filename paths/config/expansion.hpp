// SPDX-License-Identifier: Apache-2.0
// paths/config/expansion.hpp — a config at the low level, of which the high level wrote a part.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/settings.hpp"

namespace paths {

/// Wrappers and paths that are made of clusters, of which there may be millions, are not written as
/// settings, which would be read again. They refer to hosts by index, in the order in which the
/// hosts are written. Items that are alike on many paths are the same Settings.
struct Expansion {
  struct Wrapper {
    base::Settings name;
    std::string kind;
    std::uint32_t host = 0;
    base::Settings settings;  ///< a map, of its kind's own
  };
  struct Path {
    base::Settings graph;
    std::uint32_t host = 0;
    std::uint32_t first_thread = 0;
    std::uint32_t threads = 0;            ///< 0: it drives itself
    std::vector<base::Settings> through;  ///< as the low level has it
  };

  base::Settings written{};             ///< all of a config at the low level
  std::vector<base::Settings> hosts{};  ///< names
  // They stand before the wrappers and paths that are written.
  std::vector<Wrapper> wrappers{};
  std::vector<Path> paths{};
  std::unordered_map<std::string_view, std::uint32_t> wrapper_numbers{};  ///< by name
};

}  // namespace paths
