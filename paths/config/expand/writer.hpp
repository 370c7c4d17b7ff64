// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/writer.hpp — the low level of a config, while it is written.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "pastset/template.hpp"
#include "paths/config/expansion.hpp"
#include "paths/config/instrument.hpp"
#include "paths/config/multi_cluster.hpp"

/// Inside of paths/config/expand/expand.hpp.
namespace paths::expansion {

using Entries = std::vector<base::Settings::Entry>;
/// What a path leads through, from the top.
using Way = std::vector<base::Settings>;

base::Settings word(std::string text, const base::Position& position);
base::Settings::Entry entry(std::string key, base::Settings value);
/// A wrapper of one path, written where it stands.
base::Settings in_place(std::string kind, Entries settings, const base::Position& position);
/// The wrapper that ends a path in an element.
base::Settings store(const std::string& element, const base::Position& position);
/// The same for a path that a push begins; `marks` is the store's setting.
base::Settings marked_store(const std::string& element, std::string marks,
                            const base::Position& position);
void append(Way& way, const Way& rest);

/// Some threads of a host, or none: what drives a path.
struct Threads {
  std::uint32_t host = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Collects sections in the order in which they are written.
class Writer {
 public:
  /// `all` outlives it.
  explicit Writer(const MultiCluster& all);

  void host(std::uint32_t host);
  base::Settings hosts() const { return base::Settings::map(hosts_); }
  void element(const base::Settings& name, const base::Settings& settings);
  /// `keep_newest`: 0 keeps all.
  void element(const std::string& name, std::uint32_t host, const pastset::Template& tuple,
               std::uint64_t keep_newest, const base::Position& position);
  /// A wrapper that several paths share, once for each name, which is returned.
  base::Settings share(const std::string& name, std::string_view kind, std::uint32_t host,
                       const base::Settings& settings, const base::Position& position);
  /// Hosts send what has no path: the key `lanes` is there, whether the config has it or not.
  void need_lanes() { needs_lanes_ = true; }
  /// What the paths of that name are; `is` has its settings at the low level.
  void graph(const base::Settings& name, Entries is);
  /// `instrumented` as of a collective: around which wrappers to put event collectors.
  void path(const base::Settings& graph, const Threads& threads, Way way,
            const std::vector<std::string>& instrumented);

  /// What was written, with what `settings` already say at the low level.
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
