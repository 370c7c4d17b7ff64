// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/machines.hpp — choice of the shared elements that hosts map into their
// memory.
#pragma once
#include <cstdint>

#include "base/settings.hpp"
#include "paths/config/expand/writer.hpp"
#include "paths/config/multi_cluster.hpp"
#include "paths/config/overrides.hpp"
#include "paths/plan/plan.hpp"

namespace paths::expansion {

/// Decides which paths map a shared element into the memory of the host on which they begin. Such a
/// path gets the wrapper that maps the element, and operations on the path need no messages to the
/// host that owns the element. A path gets this wrapper only if the addresses of both hosts are on
/// one machine, and if no link between the hosts is emulated. An emulated link declares that the
/// hosts are distant.
class Machines {
 public:
  /// Requires: all arguments outlive this object, and all hosts are written.
  Machines(const MultiCluster& all, const base::Settings& settings, const Writer& writer,
           const Overrides& overrides);
  void map_if_near(Way& way, std::uint32_t from, const MultiCluster::Element& element,
                   std::uint32_t home) const;
  /// Appends to `way`, a path of `exchange`, the wrapper that maps `element`. Does so only if the
  /// hosts `from` and `home` are on one machine.
  void map_if_near(Way& way, std::uint32_t from, const MultiCluster::Exchange& exchange,
                   const base::Settings& element, std::uint32_t home) const;

 private:
  bool is_shared(const MultiCluster::Element& element, std::uint32_t home) const;
  void map_if_near(Way& way, std::uint32_t from, const base::Settings& element,
                   std::uint32_t home) const;
  bool are_near(std::uint32_t host, std::uint32_t other) const;

  const MultiCluster& all_;
  Plan hosts_;  // addresses of the hosts; no other part of this plan is set
};

}  // namespace paths::expansion
