// SPDX-License-Identifier: Apache-2.0
// paths/host/peers_of.cpp — conversion of a plan's hosts, graphs and paths to the form of Peers.
#include "paths/host/peers_of.hpp"

#include <utility>

#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/exits.hpp"
#include "paths/plan/protected_links.hpp"
#include "paths/wire/source_filter.hpp"

namespace paths {
namespace {

/// Adds a peer for the switch of each cluster, up to the last cluster with an emulated switch.
/// Earlier clusters without an emulated switch also get a peer, because the index of a switch in
/// the list of peers must be switch_number() of its cluster.
void add_switches(const Plan& plan, Peers& peers) {
  const auto clusters = static_cast<std::uint32_t>(plan.clusters.size());
  std::uint32_t known = 0;  // number of clusters that get a peer
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster)
    if (is_switch_emulated(plan, cluster)) known = cluster + 1;
  for (std::uint32_t cluster = 0; cluster < known; ++cluster) {
    Peers::Peer one{place_name(plan, switch_number(plan, cluster)), "", cluster, {}, true};
    if (is_switch_emulated(plan, cluster)) one.address = switch_address(plan, cluster);
    one.key_owner = plan.hosts[exit_of(plan, cluster)].name;
    peers.hosts.push_back(std::move(one));
  }
}

void add_meetings(const Plan& plan, Peers& peers) {
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    peers.hosts[host].meets = hosts_to_meet(plan, host);
    for (const std::uint32_t met : peers.hosts[host].meets)
      peers.hosts[met].arrivals.push_back({host, no_stage});
  }
}

}  // namespace

std::shared_ptr<const Peers> peers_of(const Plan& plan, std::optional<base::Digest> run,
                                      bool are_processes, std::shared_ptr<const Keyring> keyring) {
  auto peers = std::make_shared<Peers>();
  for (const Plan::PlanHost& host : plan.hosts)
    peers->hosts.push_back({host.name, host.address, host.cluster, {}, false, {}, host.name});
  for (std::size_t host = 0; host < plan.shares.size(); ++host)
    for (const Plan::Entrance& entrance : plan.shares[host].entrances)
      peers->hosts[host].arrivals.push_back({entrance.from_host, entrance.stage});
  if (are_processes) add_meetings(plan, *peers);
  add_switches(plan, *peers);
  if (const auto second = protected_addresses(plan); !second.empty()) {
    peers->protected_links = plan.protected_links;
    for (std::size_t place = 0; place < peers->hosts.size(); ++place)
      peers->hosts[place].protected_address = second[place];
  }
  peers->has_fixed_sources = !plan.is_behind_nat && have_fixed_sources(*peers);
  peers->clusters = plan.clusters.size();
  for (const Plan::PlanGraph& graph : plan.graphs) peers->graphs.push_back(graph.name);
  peers->graph_of_path.reserve(plan.paths.size());
  for (const Plan::PlanPath& path : plan.paths) peers->graph_of_path.push_back(path.graph_number);
  peers->shared_memory = plan.shared_memory;
  peers->requires_shared_memory = plan.requires_shared_memory;
  peers->are_processes = are_processes;
  peers->shares_connections = plan.connection == Plan::Connection::shared;
  peers->deadline = plan.deadline;
  peers->liveness = {plan.liveness.beat, plan.liveness.silent};
  peers->digest = plan.digest;
  peers->run = run.value_or(plan.digest);
  peers->keyring = std::move(keyring);
  return peers;
}

}  // namespace paths
