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

/// Adds to a path the wrapper that maps a shared element into the memory of the path's host.
/// Operations then need no messages to the host that owns the element. The wrapper is added only if
/// the addresses of both hosts are on one machine, and no link between them is emulated. An
/// emulated link declares that the hosts are distant.
class Machines {
 public:
  /// All arguments outlive this object. Requires: all hosts are written.
  Machines(const MultiCluster& all, const base::Settings& settings, const Writer& writer,
           const Overrides& overrides);
  void map_if_near(Way& way, std::uint32_t from, const MultiCluster::Element& element,
                   std::uint32_t home) const;
  /// Adds the wrapper that maps `element` to a path of an exchange.
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
