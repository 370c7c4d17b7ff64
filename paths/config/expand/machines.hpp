// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/machines.hpp — choice of the shared elements that hosts map.
#pragma once
#include <cstdint>

#include "base/settings.hpp"
#include "paths/config/expand/writer.hpp"
#include "paths/config/multi_cluster.hpp"
#include "paths/config/overrides.hpp"
#include "paths/plan/plan.hpp"

namespace paths::expansion {

/// Adds the wrapper that maps a shared element before the way to it, if mapping is possible. The
/// hosts must be on one machine by their addresses. An emulated link between them prevents mapping,
/// because it declares the hosts to be distant.
class Machines {
 public:
  /// All arguments outlive it. Requires: all hosts are written.
  Machines(const MultiCluster& all, const base::Settings& settings, const Writer& writer,
           const Overrides& overrides);
  void map_if_near(Way& way, std::uint32_t from, const MultiCluster::Element& element,
                   std::uint32_t home) const;
  /// Does the same for an exchange's element of that name.
  void map_if_near(Way& way, std::uint32_t from, const MultiCluster::Exchange& exchange,
                   const base::Settings& element, std::uint32_t home) const;

 private:
  bool is_shared(const MultiCluster::Element& element, std::uint32_t home) const;
  void map_if_near(Way& way, std::uint32_t from, const base::Settings& element,
                   std::uint32_t home) const;
  bool are_near(std::uint32_t host, std::uint32_t other) const;

  const MultiCluster& all_;
  Plan hosts_;  // only the addresses are set
};

}  // namespace paths::expansion
