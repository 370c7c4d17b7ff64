// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/lateness.hpp — late computations of iterations, and noise in rounds.
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

  /// Adds the computation before a contribution to a round. `late_nanos` is the time by which it
  /// exceeded the thread's mean.
  void add(std::uint32_t leaf, std::uint64_t sequence, double late_nanos);
  /// Adds the noise in such a computation. Returns whether the computation was the round's critical
  /// one.
  bool add_noise(std::uint32_t leaf, std::uint64_t sequence, std::int64_t noise_nanos);

  void report(Report& report, const Conditional& conditional) const;

 private:
  struct Iteration {
    // Number of bounds in lateness_bounds_nanos that the greatest lateness of a thread exceeded.
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
    std::uint64_t round = 0;  // number of the round to which `used` refers
    // Part of the lead of that round (RoundNote::lead_nanos) that noise has already used up.
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
