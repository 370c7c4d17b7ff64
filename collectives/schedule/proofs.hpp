// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/proofs.hpp — many schedules of one topology verified, each only once.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "collectives/schedule/verifier.hpp"

namespace collectives {

/// Knows what it has verified. Many parameters make one and the same schedule (a binomial tree over
/// two is a chain): of such a one only the declared order of sums is looked at again.
///
/// A schedule is known by 128 bits of all its steps and of its task, so that two of a billion would
/// be taken for one once in 10^20 times.
class Proofs {
 public:
  explicit Proofs(std::shared_ptr<const Topology> topology) : topology_(std::move(topology)) {}

  /// As verify() says, empty if all holds.
  std::string mistake(const Algorithm& algorithm, const CollectiveSpec& task,
                      const Parameters& parameters);
  std::size_t schedules() const { return schedules_; }  ///< that were asked for
  std::size_t verified() const { return verified_; }    ///< those that differ

 private:
  struct Key {
    std::uint64_t high, low;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.low; }
  };
  Key key(const CollectiveSpec& task) const;

  std::shared_ptr<const Topology> topology_;
  Schedule schedule_;                            // its memory is used again
  std::unordered_map<Key, Order, Hash> orders_;  // of those that hold
  std::size_t schedules_ = 0, verified_ = 0;
};

}  // namespace collectives
