// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/writer.hpp — writer of the low-level config that an expansion produces.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "pastset/template.hpp"
#include "paths/config/expansion.hpp"
#include "paths/config/instrument.hpp"
#include "paths/config/multi_cluster.hpp"

/// Namespace of the expansion. Only the folder paths/config/expand uses this namespace; expand.hpp
/// is the interface for other folders.
namespace paths::expansion {

/// Sections that mean the same in high-level and low-level configs, and need no generated names.
inline constexpr std::array<std::string_view, 10> common_sections = {
    "network",       "deadline", "stack",     "waiting", "shared_memory",
    "shared_spaces", "lanes",    "decisions", "costs",   "groups"};

using Entries = std::vector<base::Settings::Entry>;
/// Wrappers of a path, in their order from the thread to the element.
using Way = std::vector<base::Settings>;

base::Settings word(std::string text, const base::Position& position);
base::Settings::Entry entry(std::string key, base::Settings value);
/// Returns the item of a path that declares a wrapper in place, because only this path uses it.
base::Settings in_place(std::string kind, Entries settings, const base::Position& position);
/// Returns the wrapper that ends a path in an element.
base::Settings store(const std::string& element, const base::Position& position);
/// Returns the wrapper that ends a path in an element, with the setting `marks`. The setting names
/// the events after which the wrapper puts an error mark into the element, such as failures.
base::Settings marked_store(const std::string& element, std::string marks,
                            const base::Position& position);
void append(Way& way, const Way& rest);

/// The threads of a host that begin a path. `count` is 0 for a path without threads. The first
/// wrapper of such a path starts the operations.
struct Threads {
  std::uint32_t host = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Collects the sections of a low-level config in the order in which they are written.
class Writer {
 public:
  /// `all` outlives this object.
  explicit Writer(const MultiCluster& all);

  void host(std::uint32_t host);
  base::Settings hosts() const { return base::Settings::map(hosts_); }
  void element(const base::Settings& name, const base::Settings& settings);
  /// Writes an element that keeps its newest `keep_newest` tuples; 0 = all tuples.
  void element(const std::string& name, std::uint32_t host, const pastset::Template& tuple,
               std::uint64_t keep_newest, const base::Position& position);
  /// Writes a wrapper that several paths share, and returns its name. A second call with the same
  /// name writes nothing.
  base::Settings share(const std::string& name, std::string_view kind, std::uint32_t host,
                       const base::Settings& settings, const base::Position& position);
  /// Makes finish() add the key `lanes`, which a config needs if its hosts send messages without a
  /// path.
  void need_lanes() { needs_lanes_ = true; }
  /// Writes a graph: the common description of all paths that name this graph. `is` has the
  /// settings of the graph.
  void graph(const base::Settings& name, Entries is);
  /// Writes a path. `instrumented` has the kinds of wrapper around which event collectors (wrappers
  /// that record operations) are inserted (see MultiCluster::Collective).
  void path(const base::Settings& graph, const Threads& threads, Way way,
            const std::vector<std::string>& instrumented);

  /// Returns the low-level config. It has the sections written so far, and those keys of `settings`
  /// that are also allowed in a low-level config.
  Expansion finish(const base::Settings& settings);

 private:
  Way instrument(const std::vector<std::string>& instrumented, bool has_threads, Way way);

  const MultiCluster& all_;
  Entries hosts_, elements_, graphs_;
  Expansion expansion_;
  Collectors collectors_;
  bool needs_lanes_ = false;
};

}  // namespace paths::expansion
