// SPDX-License-Identifier: Apache-2.0
// collectives/cost/best.hpp — search for the fastest algorithm of a collective on a network.
#pragma once
#include "collectives/cost/bound.hpp"
#include "collectives/cost/evaluator.hpp"

namespace pricing {

/// An algorithm with values for its parameters.
struct Candidate {
  const collectives::Algorithm* algorithm = nullptr;
  collectives::Parameters parameters;
};

/// Candidates that differ only in the maximum length of messages, shortest messages last.
using Family = std::vector<Candidate>;

/// Returns all candidates for the collective whose order of summation is `worst` or better, in the
/// order of the list of algorithms. They cover every word of every parameter, and numbers in
/// powers of two. Message lengths range from the whole vector down to 1/512 of it, but not below 1
/// KiB. Only canonical sums are valid for every operation. No algorithm makes canonical scans over
/// groups of several levels.
std::vector<Family> families_of(const collectives::CollectiveSpec& task, Bytes element_bytes,
                                collectives::Order worst = collectives::Order::by_block);

struct Best {
  Candidate candidate;
  Price price;
  std::size_t candidates = 0;
  std::size_t priced = 0;    ///< evaluations begun
  std::size_t finished = 0;  ///< evaluations that reached the end, below the limit of time
};

/// Searches for the fastest schedule. The result is the same on every host. If several candidates
/// make the same schedule, only one of them is evaluated. Above 2048 participants, only the most
/// promising families are searched. Families that send too many messages are then skipped, unless
/// every family sends too many.
///
/// First the search prices a few members of each family, beginning with the families whose busiest
/// host or link has the least load. Then it refines each family whose best member is close to the
/// best time: it prices the neighbours of that member. An evaluation is aborted when it exceeds
/// the limit of time. A family is skipped if its load alone exceeds the best time. The search ends
/// when the best time is at most 0.1% above the lower bound. Among equal candidates, the first one
/// tried wins. Segments so short that a schedule would need more than a million messages are not
/// tried.
/// Throws: std::invalid_argument if no candidate can do the collective.
Best best_of(const collectives::CollectiveSpec& task, Bytes element_bytes, const Network& network,
             collectives::Order worst = collectives::Order::by_block);
/// Searches only the given families.
Best best_among(const std::vector<Family>& families, const collectives::CollectiveSpec& task,
                Bytes element_bytes, const Network& network);

}  // namespace pricing
