// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/computation.hpp — computation of threads between operations.
#pragma once
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
#include "eventspace/analysis/metrics/lateness.hpp"
#include "eventspace/analysis/metrics/place_figures.hpp"
#include "eventspace/analysis/report/report.hpp"
#include "eventspace/group_record.hpp"
#include "eventspace/record.hpp"

namespace eventspace {

/// Determines how long threads compute between operations, and which computations are slow, late
/// or noisy. A computation lasts from the return of an operation to the begin of the next
/// operation.
///
/// A computation is compared only with computations at the same place of the program: between the
/// same two operations. The reason is that an iteration may have several parts of different length.
///
/// A computation is late if it exceeds its thread's mean over the whole run. Computations are
/// therefore kept until the end of the analysis. If there are too many computations, the mean so
/// far classifies the older half of them.
class Computation {
 public:
  Computation(const Shape& shape, const Figures& figures, std::size_t kept_max,
              std::size_t exact_max);

  /// Adds an operation of a thread. Operations must be added in the order of their ends. Returns
  /// the duration of the computation before the operation, or -1 if it is unknown.
  std::int64_t add(std::uint32_t leaf, const EventRecord& operation);
  void add_thread(const EventRecord& life);
  /// Adds an operation of a thread in a group, or a call that starts or awaits such an operation.
  /// The time of the operation or call does not count as computation.
  void add_in_group(const EventRecord& record);
  void finish();

  /// Adds the figures to a report. `texts` has the names of group operations.
  void report(Report& report, const Conditional& conditional, const GroupTexts& texts) const;
  std::vector<std::int64_t> critical_noise() const;  ///< noise in critical computations, per leaf

  /// The path and the kind of a thread's operation. Two objects of this type identify a
  /// computation: one for the operation before it, and one for the operation after it.
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
  /// Computation before the first operation of a thread. It counts at the first place of the
  /// program after which an operation of the same leaf and kind follows.
  struct First {
    At at;
    KeptComputation kept;
  };
  struct ThreadState {
    bool has_begun = false;
    std::int64_t last_up = 0;
    At last;
    std::int64_t first_down = 0;
    At first;
    std::uint64_t first_sequence = 0;
    std::optional<First> before_first;
    std::set<std::uint32_t> started_shares;  // shares of started operations
  };
  /// A place in the program of a thread: between two operations.
  struct PlaceState {
    PlaceState(const At& given_after, const At& given_before, std::uint32_t given_group,
               std::size_t exact)
        : after(given_after), before(given_before), group(given_group), figures(exact) {}
    At after;                 // operation before the computation, if any
    At before;                // operation after the computation
    std::uint32_t group = 0;  // index of the set (see groups_) that contains this place
    PlaceFigures figures;
    std::int64_t critical_noise = 0;
  };
  struct LeafState {
    std::uint64_t next_sequence = 0;
    std::set<std::uint64_t> started;  // sequences of started operations that have no record yet
    std::vector<std::uint32_t> places;
  };

  void keep(std::uint32_t place, const KeptComputation& kept);
  std::uint32_t place_between(const At& after, const At& before);
  std::uint32_t host_of(std::uint32_t leaf) const {
    return shape_.structure.paths[shape_.leaves[leaf].path].host;
  }
  std::uint32_t group_of(const At& after, const At& before);
  std::vector<UsualComputation> usual() const;  // usual values, indexed by place
  void judge(bool all);
  void judge_one(PlaceState& place, const KeptComputation& kept);
  /// Returns the place of a leaf at which the thread computed longest in total, or none.
  std::uint32_t main_place_of(std::uint32_t leaf) const;
  ThreadReport report_thread(std::uint32_t place, const GroupTexts& texts) const;
  void report_hosts(Report& report) const;
  static void compare_with_others(std::vector<HostReport>& all,
                                  const std::vector<std::uint32_t>& hosts, std::uint32_t number);

  const Shape& shape_;
  const Figures& figures_;
  std::size_t kept_max_;
  std::size_t kept_ = 0;
  std::vector<ThreadState> threads_;
  std::vector<LeafState> leaves_;
  std::vector<PlaceState> places_;
  // Index of the set of places for each key. Threads compute the same at all places with equal
  // keys. The key is the cluster, then graph and kind of the operation after the computation, then
  // graph and kind of the operation before the computation.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t>,
           std::uint32_t>
      groups_;
  std::size_t exact_max_;
  Lateness lateness_;
  std::uint64_t unknown_ = 0;
  std::uint64_t judged_early_ = 0;
};

}  // namespace eventspace
