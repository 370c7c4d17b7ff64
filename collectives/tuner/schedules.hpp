// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/schedules.hpp — search space of the schedules of a collective.
#pragma once
#include "collectives/cost/best.hpp"
#include "collectives/tuner/configurations.hpp"

namespace tuner {

/// Returns the predicted time of one run of a candidate, or nothing if it reaches `limit`.
using Predict =
    std::function<std::optional<base::Nanos>(const pricing::Candidate&, base::Nanos limit)>;

/// A search space and the schedules of its configurations.
struct Schedules {
  Space space = {};
  /// Candidates, at the same positions as in the space.
  std::vector<pricing::Family> families = {};
  const pricing::Candidate& at(Configuration one) const { return families[one.family][one.member]; }
};

/// Default maximum for the messages of a schedule, as schedules_of() counts them.
inline constexpr std::size_t messages_of_schedule_most = std::size_t{1} << 20;

/// Returns the families of the paper: flat, chain, binary and binomial trees. Their lengths are the
/// whole message and every power of two below it, in array elements. Empty if no tree can do the
/// collective with that order of summation.
/// Paper: Vadhiyar, Fagg and Dongarra 2004, Table 1 and Table 2.
std::vector<pricing::Family> families_of_paper(const collectives::CollectiveSpec& task,
                                               collectives::Order worst);

/// Returns the schedules among which a search chooses, each with its predicted time. Usually the
/// families are those of pricing::families_of(). Different parameters can make the same schedule on
/// a given network; then only the first family is kept. Lengths that need more than `messages_most`
/// messages are left out, except the longest one of each family. A predicted time is left out if it
/// exceeds 6 times the least one so far, because neither such a slow configuration nor its
/// neighbours can enter a race.
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
