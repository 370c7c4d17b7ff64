// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/exchange_parameters.hpp — how algorithms let one choose among exchanges.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// The parameters `allgather` and `reduce_scatter`.
Parameter allgather_parameter(const std::string& fallback = "doubling",
                              std::vector<Collective> only_for = {});
Parameter reduce_scatter_parameter();

/// Why the words chosen for these parameters cannot be: among all, or in a cluster.
std::string wrong_for_all(const CollectiveSpec& task, const Parameters& parameters);
std::string wrong_for_clusters(const CollectiveSpec& task, const Parameters& parameters);

/// The order of sums by the `reduce_scatter` chosen, among all, or in each cluster and then over
/// clusters in order.
Order order_of_sums(const CollectiveSpec& task, const Parameters& parameters);

}  // namespace collectives
