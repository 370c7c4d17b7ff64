// SPDX-License-Identifier: Apache-2.0
// collectives/cost/best.hpp — the cheapest of all algorithms for a collective on a network.
#pragma once
#include "collectives/cost/bound.hpp"
#include "collectives/cost/evaluator.hpp"

namespace pricing {

/// An algorithm with values for its parameters.
struct Candidate {
  const collectives::Algorithm* algorithm = nullptr;
  collectives::Parameters parameters;
};

/// Those that differ in how long messages may be alone, shortest messages last.
using Family = std::vector<Candidate>;

/// Everything that can do the task and sums up in that order or a better one: every word of every
/// parameter, numbers in powers of two, lengths of messages from all down to a 512th of it, but not
/// below 1 KiB. In the order of the list of algorithms. Only canonical sums are those that every
/// operation may have; scans over groups of several levels have no algorithm that makes them.
std::vector<Family> families_of(const collectives::CollectiveSpec& task, Bytes element_bytes,
                                collectives::Order worst = collectives::Order::by_block);

struct Best {
  Candidate candidate;
  Price price;
  std::size_t candidates = 0;
  std::size_t priced = 0;    ///< begun
  std::size_t finished = 0;  ///< and not given up as too dear
};

/// How much is tried.
struct Effort {
  std::size_t messages_most = std::size_t{1}
                              << 20;  ///< shorter stretches and segments are left out
  double above_bound = 0.001;         ///< nothing better is looked for below that
};

/// The same on every host. Words that make the same schedule are one; of very many participants
/// schedules in which each sends to each are left out, because even their messages could not be
/// counted. Prices a few members of each
/// family, first of those whose busiest host or link has least to carry, and the neighbours of the
/// best one where that comes near the cheapest; each only until it is dearer than what is known,
/// and none any more that cannot be cheaper, or when nothing can by much (Effort). Of several that
/// cost the same, the first that is tried.
/// Throws: std::invalid_argument if nothing can do it.
Best best_of(const collectives::CollectiveSpec& task, Bytes element_bytes, const Network& network,
             const Execution& execution = {},
             collectives::Order worst = collectives::Order::by_block, const Effort& effort = {});
/// The best of those.
Best best_among(const std::vector<Family>& families, const collectives::CollectiveSpec& task,
                Bytes element_bytes, const Network& network, const Execution& execution = {},
                const Effort& effort = {});

/// The same by pricing everything.
Best best_of_all(const collectives::CollectiveSpec& task, Bytes element_bytes,
                 const Network& network, const Execution& execution = {},
                 collectives::Order worst = collectives::Order::by_block);

}  // namespace pricing
