// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/exchange_parameters.hpp — algorithm parameters that select the exchange
// algorithm.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Return the parameters `allgather` and `reduce_scatter`, whose values are names of exchange
/// algorithms.
Parameter allgather_parameter(const std::string& fallback = "doubling",
                              std::vector<Collective> only_for = {});
Parameter reduce_scatter_parameter();

/// Returns why the selected exchange algorithms cannot run among all participants; "" if they can.
std::string wrong_for_all(const CollectiveSpec& task, const Parameters& parameters);
/// Returns why the selected exchange algorithms cannot run within each cluster; "" if they can.
std::string wrong_for_clusters(const CollectiveSpec& task, const Parameters& parameters);

/// Returns the order of summation with the selected `reduce_scatter`. The order is valid for an
/// exchange among all participants. It is also valid for an exchange within each cluster, followed
/// by a sum over the clusters in order.
Order order_of_sums(const CollectiveSpec& task, const Parameters& parameters);

}  // namespace collectives
