// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/every_schedule.hpp — combinations of collectives, groups and
// parameters of algorithms to test.
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

/// Returns every division of the participants into 1 to `clusters` clusters of consecutive ranks.
/// Each division is a list of the sizes of its clusters.
std::vector<std::vector<std::size_t>> splits(std::size_t participants, std::size_t clusters);

/// Returns combinations of values for the parameters of `algorithm` that affect the collective.
/// Each parameter takes all its words, or its default and small numbers.
std::vector<Parameters> variants(const Algorithm& algorithm, Collective collective);

/// Returns tasks of the collective on the group, with every rank as the root. Lengths of vectors
/// are below the group's size, or not divisible by this size. Blocks have different lengths, some
/// of them 0.
std::vector<CollectiveSpec> tasks(Collective collective, std::shared_ptr<const Topology> group);

/// Calls `see` for each valid combination of an algorithm, a task on the group, and parameters.
/// Skips the combinations that the algorithm refuses.
using See = std::function<void(const Algorithm&, const CollectiveSpec&, const Parameters&)>;
void for_every_schedule(const std::shared_ptr<const Topology>& group, const See& see);

/// Returns a text such as "ring allreduce on 3+4, root 0, 15 elements, inner=direct".
std::string text(const Algorithm& algorithm, const CollectiveSpec& task,
                 const Parameters& parameters);

std::shared_ptr<const Topology> clustered(const std::vector<std::size_t>& sizes);
