// SPDX-License-Identifier: Apache-2.0
// groups/selection/network_of.hpp — cost models of the network between the hosts of a config.
#pragma once
#include <vector>

#include "base/link_model/measured_network.hpp"
#include "collectives/cost/network.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// Returns the participants of a collective of all threads. The participants are the hosts with
/// threads, in the plan's order.
std::vector<std::uint32_t> participants_of(const paths::Plan& plan);

/// Returns the topology of the hosts: clusters are the outermost level, with groups of hosts
/// inside. If a cluster has fewer levels of groups than a different cluster, its innermost groups
/// are repeated at the missing levels.
/// Throws: ConfigError if `hosts` is empty.
collectives::Topology topology_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts);

/// Returns the network between the given hosts, each of which must occur once. Links that are not
/// emulated take no time. Frames have the size that the plan gives for lanes.
///
/// Messages between clusters pass the exits or switches of both clusters (pricing::Network). If the
/// plan has no routes (Plan::ways), each cluster has a switch in this model.
/// Throws: ConfigError if a trace cannot be read, or if pairs of clusters have no link; the error
///         names every such pair.
pricing::Network network_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts);
/// Returns the network between the given hosts. Measured properties replace the properties in the
/// plan for links between clusters, for sending and receiving inside clusters, and for the costs of
/// hosts if they were measured.
/// Throws: ConfigError if a trace cannot be read, or if pairs of clusters have no link in the plan.
///         Also throws ConfigError if the measurement and the hosts have different clusters. The
///         error names every cluster that the measurement or the hosts lack.
pricing::Network network_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
                            const tuning::MeasuredNetwork& measured);
/// Returns the network between all participants of the plan.
pricing::Network network_of(const paths::Plan& plan);

}  // namespace groups
