// SPDX-License-Identifier: Apache-2.0
// collectives/cost/best.hpp — search for the fastest algorithm of a collective on a network.
#pragma once
#include "collectives/cost/bound.hpp"
#include "collectives/cost/evaluator.hpp"

namespace pricing {

/// A candidate for the fastest schedule: an algorithm with values for its parameters.
struct Candidate {
  const collectives::Algorithm* algorithm = nullptr;
  collectives::Parameters parameters;
};

/// A set of candidates that differ only in the maximum length of messages. The candidate with the
/// shortest messages is last.
using Family = std::vector<Candidate>;

/// Returns all candidates for the collective, in the order of the list of algorithms. The order of
/// summation of each candidate is `worst` or a stricter one. The candidates cover every word of
/// every parameter, and powers of two for every number. The maximum length of messages ranges from
/// the whole vector down to 1/512 of it, but not below 1 KiB. Only the order `canonical` is valid
/// for every operation. No algorithm has this order in scans over groups of several levels.
std::vector<Family> families_of(const collectives::CollectiveSpec& task, Bytes element_bytes,
                                collectives::Order worst = collectives::Order::by_block);

struct Best {
  Candidate candidate;
  Price price;
  std::size_t candidates = 0;
  /// Number of candidates whose evaluation was begun. An evaluation is aborted when the predicted
  /// time reaches a limit (best_of()).
  std::size_t priced = 0;
  /// Number of candidates that were evaluated to the end, because their times stayed below the
  /// limit.
  std::size_t finished = 0;
};

/// Searches for the fastest schedule. The result is the same on every host. If several candidates
/// make the same schedule, only one of these candidates is evaluated. For more than 2048
/// participants, only the most promising families are searched. Families that send too many
/// messages are left out, unless all families send too many messages.
///
/// First the search evaluates a few candidates of each family. It begins with the families whose
/// busiest host or link has the least load. It skips a family if the load of its busiest host or
/// link exceeds the best time so far. Then it searches each family whose best candidate is close to
/// the best time: it evaluates the candidates next to the best candidate of the family. An
/// evaluation is aborted when the predicted time reaches a limit. In the first part of the search,
/// the limit is 1.3 times the best time so far; then it is the best time so far. The search ends
/// when the best time is at most 0.1% above the lower bound. If several candidates are equally
/// fast, the candidate that was evaluated first is chosen. Message lengths so short that a schedule
/// would need more than a million messages are not tried.
/// Throws: std::invalid_argument if no candidate can do the collective.
Best best_of(const collectives::CollectiveSpec& task, Bytes element_bytes, const Network& network,
             collectives::Order worst = collectives::Order::by_block);
/// Searches only the given families, in the same way as best_of().
Best best_among(const std::vector<Family>& families, const collectives::CollectiveSpec& task,
                Bytes element_bytes, const Network& network);

}  // namespace pricing
