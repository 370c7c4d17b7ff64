// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/schedules.hpp — search space of the schedules of a collective.
#pragma once
#include "collectives/cost/best.hpp"
#include "collectives/tuner/configurations.hpp"

namespace tuner {

/// Returns the predicted time of one run of a candidate; nullopt if the time reaches `limit`.
using Predict =
    std::function<std::optional<base::Nanos>(const pricing::Candidate&, base::Nanos limit)>;

/// A search space and the schedules of its configurations.
struct Schedules {
  Space space = {};
  /// Candidates of all configurations: the family and the member have the same indexes as in
  /// `space`.
  std::vector<pricing::Family> families = {};
  const pricing::Candidate& at(Configuration one) const { return families[one.family][one.member]; }
};

/// Default maximum number of messages of a schedule in a search. schedules_of() estimates the
/// number of messages.
inline constexpr std::size_t messages_of_schedule_most = std::size_t{1} << 20;

/// Returns the families of the paper: flat, chain, binary and binomial trees. Messages are as long
/// as the whole vector, or as any smaller power of two, in array elements. `worst` is the least
/// strict order of summation that is allowed. Returns no families if trees do not have an allowed
/// order. Paper: Vadhiyar, Fagg and Dongarra 2004, Table 1 and Table 2.
std::vector<pricing::Family> families_of_paper(const collectives::CollectiveSpec& task,
                                               collectives::Order worst);

/// Returns the schedules among which a search chooses, each with its predicted time. Usually the
/// families are those of pricing::families_of(). If families with different parameters make the
/// same schedules on the network, only the first of these families is kept. Lengths that need more
/// than `messages_most` messages are left out, except the longest length of each family. A
/// predicted time is left out if it exceeds 6 times the least predicted time so far, because such a
/// slow configuration cannot enter a race.
/// Units: lengths of the space are in bytes.
/// Throws: std::invalid_argument if there are no families.
Schedules schedules_of(const std::vector<pricing::Family>& families,
                       const collectives::CollectiveSpec& task, pricing::Bytes element_bytes,
                       const pricing::Network& network, const Predict& predict,
                       std::size_t messages_most = messages_of_schedule_most);

/// Returns a function that predicts times with the evaluator of schedules.
/// Requires: the spec and the network outlive the function.
Predict predict_on(const collectives::CollectiveSpec& task, pricing::Bytes element_bytes,
                   const pricing::Network& network);

}  // namespace tuner
