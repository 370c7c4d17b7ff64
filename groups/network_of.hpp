// SPDX-License-Identifier: Apache-2.0
// groups/network_of.hpp — what the hosts of a config have between them, for prices.
#pragma once
#include <string>
#include <vector>

#include "base/link_model/measured_network.hpp"
#include "collectives/cost/network.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// Those who take part in a collective of all: the hosts that have threads, in the plan's order.
std::vector<std::uint32_t> participants_of(const paths::Plan& plan);

/// The groups that those hosts are in, clusters outermost. Clusters may differ in how deep their
/// groups go: where one goes no deeper, those who are together stay together.
/// Throws: ConfigError where there is no host.
collectives::Topology topology_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts);

/// Between those hosts, of which none is there twice. What is not emulated takes no time. Frames
/// are those of the plan's lanes.
///
/// All hosts reach links as those of a cluster with a switch do: that messages pass the exits of
/// others is left out.
/// Throws: ConfigError naming every pair of clusters without a link, and traces that cannot be
/// read.
pricing::Network network_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts);
/// The same, with links between clusters, and what hosts send and receive by inside of them, as
/// they were measured.
/// Throws: ConfigError, also naming every cluster that only the measured network has, and the
/// hosts' that it lacks.
pricing::Network network_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
                            const tuning::MeasuredNetwork& measured);
/// Between the participants of the plan.
pricing::Network network_of(const paths::Plan& plan);

}  // namespace groups
