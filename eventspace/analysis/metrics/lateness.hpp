// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/lateness.hpp — lateness of computations, and time that rounds lose to
// noise.
#pragma once
#include <cstdint>
#include <vector>

#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/analysis/metrics/conditional.hpp"
#include "eventspace/analysis/metrics/figures.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Determines for each graph how late the threads of an iteration were, and how long rounds waited
/// for noise.
class Lateness {
 public:
  Lateness(const Shape& shape, const Figures& figures);

  /// Adds the computation before a contribution to a round. `late_nanos` is the time by which the
  /// computation exceeded the thread's mean; below 0 = it was shorter.
  void add(std::uint32_t leaf, std::uint64_t sequence, double late_nanos);
  /// Adds the noise in the computation before a contribution to a round. Returns whether the round
  /// waited for this contribution.
  bool add_noise(std::uint32_t leaf, std::uint64_t sequence, std::int64_t noise_nanos);

  void report(Report& report, const Conditional& conditional) const;

 private:
  struct Iteration {
    // Number of bounds in lateness_bounds_nanos that the lateness of the latest thread exceeded.
    std::uint8_t lateness = 0;
    bool is_seen = false;
    float greatest_noise = 0;
  };
  struct GraphState {
    Notes<Iteration> iterations;
    std::int64_t noise = 0;
    std::int64_t effective = 0;
    double lost = 0;  // time lost to noise, summed over all threads
  };
  struct Lead {
    std::uint64_t round = 0;  // sequence of the round to which `used` refers
    // Part of the lead of `round` (RoundNote::lead_nanos) that noise has already used up.
    std::int64_t used = 0;
  };

  const Tree& tree_of(std::uint32_t leaf) const {
    return shape_.trees[shape_.probes[shape_.leaves[leaf].probe].tree];
  }
  void add_wan(std::uint32_t tree, const Conditional& conditional, LatenessReport& lateness) const;

  const Shape& shape_;
  const Figures& figures_;
  std::vector<GraphState> graphs_;
  std::vector<Lead> leads_;  // indexed by leaf
};

}  // namespace eventspace
