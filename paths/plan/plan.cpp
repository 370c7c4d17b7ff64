// SPDX-License-Identifier: Apache-2.0
// paths/plan/plan.cpp — look-ups in a plan, and names of contributors.
#include "paths/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace paths {
namespace {

template <class Named>
std::optional<std::uint32_t> index_of(std::string_view name, const std::vector<Named>& all,
                                      const std::unordered_map<std::string, std::uint32_t>& index) {
  if (index.size() == all.size()) {
    const auto found = index.find(std::string(name));
    if (found == index.end()) return std::nullopt;
    return found->second;
  }
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
  if (found == all.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - all.begin());
}

/// Returns the enum value that has the name `word`. `words` has the names of the values, in their
/// order.
/// Adds to `hosts` the hosts on which paths through `stage` begin.
void add_hosts_above(const Plan& plan, StageId stage, std::set<std::uint32_t>& hosts) {
  for (const Plan::PlanPath& path : plan.paths)
    if (path.stage == stage) hosts.insert(path.host);
  for (StageId above = 0; above < plan.stages.size(); ++above)
    if (plan.stages[above].below == stage) add_hosts_above(plan, above, hosts);
}

std::string group_name(const Plan& plan, const std::set<std::uint32_t>& hosts) {
  if (hosts.empty()) return "nobody";
  if (hosts.size() == 1) return "host " + plan.hosts[*hosts.begin()].name;
  std::set<std::uint32_t> clusters;
  for (const std::uint32_t host : hosts) clusters.insert(plan.hosts[host].cluster);
  if (clusters.size() == 1) return "cluster " + plan.clusters[*clusters.begin()];
  return fmt::format("{} clusters", clusters.size());
}

/// Source of contributions to a stage: a path that begins at the stage, or a stage directly above.
struct Entrance {
  std::uint32_t slot = 0;
  std::optional<std::uint32_t> path;
  StageId above = no_stage;
};

std::vector<Entrance> entrances(const Plan& plan, StageId stage) {
  std::vector<Entrance> found;
  for (std::uint32_t path = 0; path < plan.paths.size(); ++path)
    if (plan.paths[path].stage == stage) found.push_back({plan.paths[path].slot, path, no_stage});
  for (StageId above = 0; above < plan.stages.size(); ++above)
    if (plan.stages[above].below == stage)
      found.push_back({plan.stages[above].slot, std::nullopt, above});
  std::sort(found.begin(), found.end(),
            [](const Entrance& a, const Entrance& b) { return a.slot < b.slot; });
  return found;
}

bool is_entered_by_one(const Plan& plan, StageId stage) {
  const std::vector<Entrance> all = entrances(plan, stage);
  return all.size() == 1 && (!all[0].path || plan.paths[*all[0].path].threads <= 1);
}

/// Returns the name of the contributor at `slot` of `stage`, for a message of the host `here`.
std::string contributor_at(const Plan& plan, std::uint32_t here, StageId stage, std::uint32_t slots,
                           std::uint32_t slot) {
  const std::vector<Entrance> all = entrances(plan, stage);
  auto next = std::find_if(all.begin(), all.end(),
                           [&](const Entrance& entrance) { return entrance.slot > slot; });
  if (next == all.begin()) return "nobody";
  const Entrance& entrance = *(next - 1);
  const std::uint32_t width = (next == all.end() ? slots : next->slot) - entrance.slot;
  const std::uint32_t offset = slot - entrance.slot;
  if (entrance.path) return plan.beginner(*entrance.path, offset);
  // If the stage above is a join, all contributors of the join together have one slot of `stage`.
  // The name of the slot then describes all these contributors.
  if (width > 1 || is_entered_by_one(plan, entrance.above))
    return contributor_at(plan, here, entrance.above, width, offset);
  std::set<std::uint32_t> hosts;
  add_hosts_above(plan, entrance.above, hosts);
  // If the contribution comes from hosts that are all in the cluster of the host `here`, the name
  // of that cluster would include `here` itself. The text then names a host instead.
  const std::uint32_t from = plan.host_of(entrance.above);
  const auto is_near = [&](std::uint32_t host) {
    return plan.hosts[host].cluster == plan.hosts[here].cluster;
  };
  if (from != here && hosts.size() > 1 && std::all_of(hosts.begin(), hosts.end(), is_near))
    return fmt::format("host {} or a host above it", plan.hosts[from].name);
  return group_name(plan, hosts);
}

}  // namespace

void Plan::index_names() {
  host_index.clear();
  for (std::uint32_t host = 0; host < hosts.size(); ++host)
    host_index.emplace(hosts[host].name, host);
  element_index.clear();
  for (std::uint32_t element = 0; element < elements.size(); ++element)
    element_index.emplace(elements[element].name, element);
}

std::optional<Plan::Security> Plan::security_named(std::string_view word) {
  const auto* const found = std::find(security_words.begin(), security_words.end(), word);
  if (found == security_words.end()) return std::nullopt;
  return static_cast<Security>(found - security_words.begin());
}

bool Plan::encrypts_between(std::uint32_t cluster, std::uint32_t other) const {
  return transport->is_network && (security == Security::run || security == Security::keys) &&
         !protected_links.contains(std::minmax(cluster, other));
}

std::uint32_t Plan::thread_count() const {
  return hosts.empty() ? 0 : hosts.back().first_thread + hosts.back().threads;
}

std::optional<std::uint32_t> Plan::host_named(std::string_view name) const {
  return index_of(name, hosts, host_index);
}

std::optional<std::uint32_t> Plan::graph_named(std::string_view name) const {
  const auto found = std::find_if(graphs.begin(), graphs.end(),
                                  [&](const PlanGraph& graph) { return graph.name == name; });
  if (found == graphs.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - graphs.begin());
}

std::optional<std::uint32_t> Plan::element_named(std::string_view name) const {
  return index_of(name, elements, element_index);
}

std::string Plan::beginner(std::uint32_t path, std::uint32_t thread) const {
  const std::string& host = hosts[paths[path].host].name;
  if (paths[path].threads == 0) return "host " + host;
  return fmt::format("thread {}/{}", host, paths[path].first_thread + thread);
}

std::string Plan::contributor(std::uint32_t wrapper, std::uint32_t slot) const {
  for (StageId stage = 0; stage < stages.size(); ++stage)
    if (stages[stage].wrapper == wrapper)
      return contributor_at(*this, wrappers[wrapper].host, stage, wrappers[wrapper].slots, slot);
  return "nobody";
}

}  // namespace paths
