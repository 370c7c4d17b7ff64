// SPDX-License-Identifier: Apache-2.0
// groups/network_of.hpp — cost models of the network between the hosts of a config.
#pragma once
#include <string>
#include <vector>

#include "base/link_model/measured_network.hpp"
#include "collectives/cost/network.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// Returns the participants of a collective of all threads: the hosts that have threads, in the
/// plan's order.
std::vector<std::uint32_t> participants_of(const paths::Plan& plan);

/// Returns the groups of hosts, clusters outermost. Clusters may differ in the depth of their
/// groups; hosts together in the deepest group of a cluster stay together at all further levels.
/// Throws: ConfigError if `hosts` is empty.
collectives::Topology topology_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts);

/// Returns the network between those hosts, each listed once. Links that are not emulated take no
/// time. Frames are those of the plan's lanes.
///
/// All hosts reach links like those of a cluster with a switch: the model omits that messages pass
/// the exits of other clusters.
/// Throws: ConfigError for traces that cannot be read, and naming every pair of clusters without a
///         link.
pricing::Network network_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts);
/// Returns the network with measured links between clusters and measured sending and receiving
/// inside them.
/// Throws: ConfigError as above, and naming every cluster that only the measurement has and every
///         cluster of the hosts that it lacks.
pricing::Network network_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
                            const tuning::MeasuredNetwork& measured);
/// Returns the network between the participants of the plan.
pricing::Network network_of(const paths::Plan& plan);

}  // namespace groups
