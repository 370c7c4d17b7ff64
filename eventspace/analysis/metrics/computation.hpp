// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/computation.hpp — what threads do between operations: slow, late,
// noisy.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/analysis/metrics/conditional.hpp"
#include "eventspace/analysis/metrics/figures.hpp"
#include "eventspace/analysis/metrics/period.hpp"
#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/report.hpp"
#include "eventspace/record.hpp"

namespace eventspace {

/// A computation is an outlier when it takes more than its thread's base by this share of it, by
/// this much, and by this many times the usual spread (from the least tenth to the median).
inline constexpr double outlier_share = 0.02;
inline constexpr std::int64_t outlier_nanos = 50'000;
inline constexpr double outlier_spreads = 4;
/// When at least this share are outliers, the others may have had noise as well, but less of it:
/// by at most this factor of what one takes.
inline constexpr double noise_in_all_share = 0.05;
inline constexpr std::int64_t noise_in_all_times = 3;
/// A thread with fewer outliers has no noise.
inline constexpr std::uint64_t noisy_outliers = 5;
/// Its period resonates when it is so many iterations at most, but for this share of one.
inline constexpr double resonance_iterations = 20;
inline constexpr double resonance_share = 0.02;

/// Computations: from one operation's return to the start of the next. Whether one was late is
/// known only once the thread's mean is, so all are kept to the end; if they become too many, the
/// older half is judged with what is known by then.
class Computation {
 public:
  Computation(const Shape& shape, const Figures& figures, std::size_t kept_max,
              std::size_t exact_max);

  /// A thread's operation, in the order of their ends: how long it computed before, or below 0
  /// when that is not known.
  std::int64_t add(std::uint32_t leaf, const EventRecord& operation);
  void add_thread(const EventRecord& life);
  void finish();

  void report(Report& report, const Conditional& conditional) const;
  std::vector<std::int64_t> critical_noise() const;  ///< by leaf
  std::uint64_t unknown() const { return unknown_; }
  std::uint64_t judged_early() const { return judged_early_; }

 private:
  class Kept {  // 16 bytes: there are many
   public:
    Kept(std::int64_t begin, std::int64_t nanos, std::uint64_t sequence);
    std::int64_t begin() const { return begin_; }
    std::int64_t nanos() const;
    std::uint32_t sequence() const { return sequence_; }

   private:
    std::int64_t begin_;
    std::uint32_t span_;
    std::uint32_t sequence_;
  };
  struct ThreadState {
    bool has_begun = false;
    std::int64_t last_up = 0;
    std::int64_t first_down = 0;
    std::uint32_t first_leaf = none;
    std::uint64_t first_sequence = 0;
  };
  struct LeafState {
    explicit LeafState(std::size_t exact) : all(exact), noise(exact) {}
    Distribution all;
    Blocks blocks;
    Distribution noise;  // of outliers, what they took more than the base
    std::vector<Kept> kept;
    std::uint64_t next_sequence = 0;
    std::int64_t base = 0;
    std::int64_t outlier = 0;
    std::int64_t critical_noise = 0;
    std::uint64_t lead_of = 0;  // the round, and how much of its lead was noise
    std::int64_t lead_used = 0;
    bool is_noise_rare = false;  // though the thread is slow by as much as it takes
    std::optional<double> period_nanos;
    double period_agreement = 0;
    double iteration = 0;  // of those that are late with a period
    std::vector<SpectrumPoint> spectrum;
  };
  struct Iteration {
    std::uint8_t lateness = 0;  // how many of the bounds somebody exceeded
    bool is_seen = false;
    float greatest_noise = 0;
  };
  struct GraphState {
    Notes<Iteration> iterations;
    std::int64_t noise = 0;
    std::int64_t effective = 0;
    double lost = 0;  // by all threads
  };
  struct Usual {              // of the threads of a cluster on one graph
    std::int64_t median = 0;  // of those of the same host, when it has others

    std::int64_t spread = 0;      // from the least tenth to the median
    std::int64_t far_spread = 0;  // from the least hundredth to the median
  };
  /// By how much a computation must be late to count as an outlier.
  struct Bounds {
    std::int64_t base = 0;
    std::int64_t outlier = 0;
    double mean = 0;
  };

  void keep(std::uint32_t leaf, std::int64_t begin, std::int64_t nanos, std::uint64_t sequence);
  std::uint32_t host_of(std::uint32_t leaf) const {
    return shape_.structure.paths[shape_.leaves[leaf].path].host;
  }
  std::uint32_t group_of(std::uint32_t leaf) const;
  std::vector<Usual> usual() const;  // by leaf
  Bounds bounds_of(std::uint32_t leaf, const Usual& like) const;
  static void find_noise_in_all(LeafState& leaf, const Usual& like, Bounds& bounds);
  void judge(bool all);
  void judge_one(std::uint32_t leaf, const Kept& kept, const Bounds& bounds);
  static double iteration_of(const std::vector<Kept>& kept);
  static std::vector<Computed> computed_of(const LeafState& leaf, const Bounds& bounds);
  void look_for_period(std::uint32_t leaf, const Bounds& bounds);
  ThreadReport report_thread(std::uint32_t leaf) const;
  void report_hosts(Report& report) const;
  static void compare_with_others(std::vector<HostReport>& all,
                                  const std::vector<std::uint32_t>& hosts, std::uint32_t number);
  void report_lateness(Report& report, const Conditional& conditional) const;
  void add_wan(std::uint32_t tree, const Conditional& conditional, LatenessReport& lateness) const;

  const Shape& shape_;
  const Figures& figures_;
  std::size_t kept_max_;
  std::size_t kept_ = 0;
  std::vector<ThreadState> threads_;
  std::vector<LeafState> leaves_;
  std::vector<GraphState> graphs_;
  std::uint64_t unknown_ = 0;
  std::uint64_t judged_early_ = 0;
};

}  // namespace eventspace
