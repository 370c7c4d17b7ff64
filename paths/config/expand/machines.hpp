// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/machines.hpp — which elements hosts may map in place of sending to them.
#pragma once
#include <cstdint>

#include "base/settings.hpp"
#include "paths/config/expand/writer.hpp"
#include "paths/config/multi_cluster.hpp"
#include "paths/config/overrides.hpp"
#include "paths/plan/plan.hpp"

namespace paths::expansion {

/// Puts before the way to a shared element the wrapper that maps it, where that can be: on one
/// machine, as the addresses say, and not over a link that is emulated, which says that the hosts
/// are to be apart.
class Machines {
 public:
  /// All hosts are written; all outlive it.
  Machines(const MultiCluster& all, const base::Settings& settings, const Writer& writer,
           const Overrides& overrides);
  void map_if_near(Way& way, std::uint32_t from, const MultiCluster::Element& element,
                   std::uint32_t home) const;
  /// The same of an exchange's element of that name.
  void map_if_near(Way& way, std::uint32_t from, const MultiCluster::Exchange& exchange,
                   const base::Settings& element, std::uint32_t home) const;

 private:
  bool is_shared(const MultiCluster::Element& element, std::uint32_t home) const;
  void map_if_near(Way& way, std::uint32_t from, const base::Settings& element,
                   std::uint32_t home) const;
  bool are_near(std::uint32_t host, std::uint32_t other) const;

  const MultiCluster& all_;
  Plan hosts_;  // of which only the addresses are known
};

}  // namespace paths::expansion
