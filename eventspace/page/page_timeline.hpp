// SPDX-License-Identifier: Apache-2.0
// eventspace/page/page_timeline.hpp — a few complete iterations, for the timeline of the page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "eventspace/page/page_groups.hpp"
#include "eventspace/record.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

struct PageTimelineOptions {
  /// Largest number of passes by collectors in all kept iterations together.
  std::size_t passes = 200'000;
  /// Largest number of iterations in the beginning.
  std::size_t iterations = 80;
  /// Memory for rounds that lack records.
  std::size_t open_rounds_bytes = std::size_t{64} << 20;
  /// Whether the times of all hosts are on one clock, as in a run on the virtual clock.
  bool has_common_clock = false;
};

/// Kept rounds, in stretches of consecutive iterations: the beginning of each tree, and the slowest
/// iterations of each with their neighbours.
struct PageTimelineReport {
  /// Pass by a collector. If its record is missing, all fields are default values.
  struct Passed {
    std::int64_t down_nanos = 0;
    std::int64_t up_nanos = 0;
    std::int64_t computation_nanos = -1;  ///< computation before it; below 0 = unknown
    bool is_here = false;
  };
  struct Round {
    std::uint32_t tree = 0;  ///< tree of the Shape
    std::uint64_t sequence = 0;
    std::vector<Passed> passes;  ///< indexed by place in the tree
  };
  struct Stretch {
    std::uint64_t slowest = 0;       ///< sequence of the slowest iteration
    std::int64_t slowest_nanos = 0;  ///< its computation and operation, on its slowest thread
    bool is_beginning = false;
    std::int64_t error_nanos = 0;  ///< largest error between clocks; below 0 = unknown
    std::vector<Round> rounds;     ///< times on the clock of the first host
  };
  bool has_common_clock = false;
  std::vector<Stretch> stretches;  ///< in the order of iterations
  PageGroupsReport groups;         ///< times on the clocks that the analysis uses
};

/// Keeps a few complete iterations of a run, to show how single iterations came about.
///
/// Why:      An analysis reports how often something happened. To see the course of one iteration
///           its records are needed, and a long run can keep only a few.
/// Clocks:   The crossings of a stretch put the hosts on one clock. The one with the least two-way
///           time determines the offset of two clocks, within half of that time.
/// Memory:   Bounded by the options, whatever the length of the run.
/// Requires: The structure outlives the object.
class PageTimeline {
 public:
  explicit PageTimeline(const Structure& structure, const PageTimelineOptions& options = {});
  ~PageTimeline();
  PageTimeline(const PageTimeline&) = delete;
  PageTimeline& operator=(const PageTimeline&) = delete;

  void add(std::uint32_t host,
           std::span<const EventRecord> records);  ///< same order as for Analysis
  PageTimelineReport finish();                     ///< call once, after the last record

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace eventspace
