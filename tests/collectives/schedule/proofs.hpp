// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/proofs.hpp — verification of many schedules of one topology without
// repetition.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "base/digest.hpp"
#include "collectives/schedule/verifier.hpp"

namespace collectives {

/// A verifier that remembers verified schedules, because different parameters often make the same
/// schedule. For example, a binomial tree over two participants is a chain. If the verifier has
/// verified a schedule before, it only checks the declared order of sums.
///
/// A schedule is identified by a 128-bit digest of all its steps and its collective. Among a
/// billion schedules, the probability that two different schedules have the same digest is below
/// 10^-20.
class Proofs {
 public:
  explicit Proofs(std::shared_ptr<const Topology> topology) : topology_(std::move(topology)) {}

  /// Returns the first mistake of the schedule as verify() describes it; "" = the schedule is
  /// correct.
  std::string mistake(const Algorithm& algorithm, const CollectiveSpec& task,
                      const Parameters& parameters);
  std::size_t schedules() const { return schedules_; }  ///< schedules checked so far
  std::size_t verified() const { return verified_; }    ///< distinct schedules verified so far

 private:
  struct Hash {
    std::size_t operator()(const base::Digest& digest) const { return digest.low; }
  };
  base::Digest digest(const CollectiveSpec& task) const;

  std::shared_ptr<const Topology> topology_;
  Schedule schedule_;  // member instead of a local variable, so that its memory is reused
  // Order of summation of each correct schedule, keyed by the digest of the schedule.
  std::unordered_map<base::Digest, Order, Hash> orders_;
  std::size_t schedules_ = 0, verified_ = 0;
};

}  // namespace collectives
