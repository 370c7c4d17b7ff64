// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/every_schedule.hpp — tasks and parameters, all of them or some.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "collectives/algorithms/all.hpp"

using collectives::Algorithm;
using collectives::Collective;
using collectives::CollectiveSpec;
using collectives::Count;
using collectives::Counts;
using collectives::Parameters;
using collectives::Rank;
using collectives::Topology;

/// Every way of so many participants into 1 to `clusters` clusters, ranks in order.
std::vector<std::vector<std::size_t>> splits(std::size_t participants, std::size_t clusters);

/// Values of all parameters that matter: each word, numbers by themselves and small.
std::vector<Parameters> variants(const Algorithm& algorithm, Collective collective);

/// Tasks of the collective on the group: every root; vectors that do not divide, some shorter than
/// the group; counts of blocks that differ, with zeros.
std::vector<CollectiveSpec> tasks(Collective collective, std::shared_ptr<const Topology> group);

/// Everything the list has for the group: `see` each algorithm, task and parameters that is not
/// refused.
using See = std::function<void(const Algorithm&, const CollectiveSpec&, const Parameters&)>;
void for_every_schedule(const std::shared_ptr<const Topology>& group, const See& see);

/// "ring allreduce on 3+4, root 0, 15 elements, inner=direct".
std::string text(const Algorithm& algorithm, const CollectiveSpec& task,
                 const Parameters& parameters);

std::shared_ptr<const Topology> clustered(const std::vector<std::size_t>& sizes);
