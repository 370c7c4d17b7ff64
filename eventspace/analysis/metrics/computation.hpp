// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/computation.hpp — computation of threads between operations.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/analysis/metrics/conditional.hpp"
#include "eventspace/analysis/metrics/figures.hpp"
#include "eventspace/analysis/metrics/period.hpp"
#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/report.hpp"
#include "eventspace/analysis/report/significance.hpp"
#include "eventspace/group_record.hpp"
#include "eventspace/record.hpp"

namespace eventspace {

/// Determines how long threads compute between operations, and which computations are slow, late
/// or noisy. A computation lasts from the return of an operation to the begin of the next
/// operation.
///
/// A computation is compared only with computations at the same place of the program: between the
/// same two operations. An iteration may have several parts of different length.
///
/// A computation is late if it exceeds its thread's mean over the whole run. Computations are
/// therefore kept until the end of the analysis. If there are too many, the older half is
/// classified by the mean so far.
class Computation {
 public:
  Computation(const Shape& shape, const Figures& figures, std::size_t kept_max,
              std::size_t exact_max);

  /// Adds an operation of a thread. Operations must be added in the order of their ends. Returns
  /// the duration of the computation before the operation, or -1 if it is unknown.
  std::int64_t add(std::uint32_t leaf, const EventRecord& operation);
  void add_thread(const EventRecord& life);
  /// Adds an operation of a thread in a group, or a call that starts or awaits such an operation.
  /// Its time does not count as computation.
  void add_in_group(const EventRecord& record);
  void finish();

  /// Adds the figures to a report. `texts` has the names of group operations.
  void report(Report& report, const Conditional& conditional, const GroupTexts& texts) const;
  std::vector<std::int64_t> critical_noise() const;  ///< noise in critical computations, by leaf

  /// The path and the kind of a thread's operation. A computation is identified by two objects of
  /// this type: for the operation before it and for the operation after it.
  struct At {
    std::uint32_t leaf = none;  ///< number of the path's Leaf; none for a group or no operation
    std::uint64_t kind = 0;     ///< number of the kind of operation; 0 = no operation
    friend auto operator<=>(const At&, const At&) = default;
  };
  /// Returns how much of a computation is noise. The computation lasted `nanos`, from the operation
  /// `after` to the operation `before`. Requires: finish().
  std::int64_t noise_between(const At& after, const At& before, std::int64_t nanos) const;
  std::uint64_t unknown() const { return unknown_; }
  std::uint64_t judged_early() const { return judged_early_; }

 private:
  class Kept {  // one computation, in 16 bytes because there are many
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
  /// Computation before the first operation of a thread. It is counted at the first place of the
  /// program that is followed by an operation of the same leaf and kind.
  struct First {
    At at;
    Kept kept;
  };
  struct ThreadState {
    bool has_begun = false;
    std::int64_t last_up = 0;
    At last;
    std::int64_t first_down = 0;
    At first;
    std::uint64_t first_sequence = 0;
    std::optional<First> before_first;
    std::set<std::uint32_t> started_shares;  // numbers of shares of started operations
  };
  /// A place in the program of a thread: between two operations.
  struct PlaceState {
    PlaceState(const At& given_after, const At& given_before, std::uint32_t given_group,
               std::size_t exact)
        : after(given_after), before(given_before), group(given_group), all(exact), noise(exact) {}
    At after;                 // operation before the computation, if any
    At before;                // operation after the computation
    std::uint32_t group = 0;  // index of the set (see groups_) that contains this place
    Distribution all;
    Blocks blocks;
    Blocks begins;
    Blocks quiet;        // computations, of which outliers count as long as the base
    Blocks disturbance;  // noise of each computation: 0 if it is no outlier
    std::int64_t longest_nanos = -1;
    std::int64_t longest_begin_nanos = 0;
    Distribution noise;  // time by which outliers exceed the base
    std::vector<Kept> kept;
    std::int64_t base = 0;
    std::int64_t outlier = 0;
    std::int64_t critical_noise = 0;
    // True if the thread is slower than others by a multiple of a noise event's duration, but noise
    // is not the reason: noise events are rarer than computations.
    bool is_noise_rare = false;
    bool is_noise_in_all = false;  // whether noise in all computations explains that it is slower
    std::optional<double> period_nanos;
    double period_agreement = 0;
    double iteration = 0;  // mean duration of an iteration, if the noise has a period
    std::vector<SpectrumPoint> spectrum;
  };
  struct LeafState {
    std::uint64_t next_sequence = 0;
    std::set<std::uint64_t> started;  // sequences of started operations that have no record yet
    std::vector<std::uint32_t> places;
    std::uint64_t lead_of = 0;  // number of the round to which `lead_used` refers
    // Part of the lead of that round (RoundNote::lead_nanos) that noise has already used up.
    std::int64_t lead_used = 0;
  };
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
  // Usual values of computations at the same place of the program.
  struct Usual {
    // Median of the host's other threads; if there are none, of the cluster's.
    std::int64_t median = 0;

    std::int64_t spread = 0;      // median minus 10th percentile, of the cluster's threads
    std::int64_t far_spread = 0;  // median minus 1st percentile, of the cluster's threads
  };
  /// Bounds above which a computation is an outlier or late.
  struct Bounds {
    std::int64_t base = 0;
    std::int64_t outlier = 0;
    double mean = 0;
  };

  void keep(std::uint32_t place, const Kept& kept);
  std::uint32_t place_between(const At& after, const At& before);
  std::uint32_t host_of(std::uint32_t leaf) const {
    return shape_.structure.paths[shape_.leaves[leaf].path].host;
  }
  std::uint32_t group_of(const At& after, const At& before);
  std::vector<Usual> usual() const;  // usual values of each place
  static Bounds bounds_of(const PlaceState& place, const Usual& like);
  static void find_noise_in_all(PlaceState& place, const Usual& like, Bounds& bounds);
  void judge(bool all);
  void judge_one(PlaceState& place, const Kept& kept, const Bounds& bounds);
  /// Returns the place of a leaf at which the thread computed longest in total, or none.
  std::uint32_t main_place_of(std::uint32_t leaf) const;
  ThreadReport report_thread(std::uint32_t place, const GroupTexts& texts) const;
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
  std::vector<PlaceState> places_;
  // Sets of places that have equal keys, and therefore compute the same; value: index of the set.
  // Key: cluster; graph and kind of the operation after the computation; graph and kind of the
  // operation before it.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t>,
           std::uint32_t>
      groups_;
  std::size_t exact_max_;
  std::vector<GraphState> graphs_;
  std::uint64_t unknown_ = 0;
  std::uint64_t judged_early_ = 0;
};

}  // namespace eventspace
