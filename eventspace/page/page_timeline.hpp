// SPDX-License-Identifier: Apache-2.0
// eventspace/page/page_timeline.hpp — a few iterations in full, to look at one by one.
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
  /// Passes by a collector, of all iterations that are kept together.
  std::size_t passes = 200'000;
  /// Of the beginning at most.
  std::size_t iterations = 80;
  /// For rounds of which not all records have come.
  std::size_t open_rounds_bytes = std::size_t{64} << 20;
  /// The times of all hosts are of one clock, as in a run on the virtual one.
  bool has_common_clock = false;
};

/// The rounds that are kept, in stretches: the beginning of all trees, and around the slowest ones
/// of each.
struct PageTimelineReport {
  /// All 0 but for `is_here`: no record of it came.
  struct Passed {
    std::int64_t down_nanos = 0;
    std::int64_t up_nanos = 0;
    std::int64_t computation_nanos = -1;  ///< of the thread before it came; below 0: not known
    bool is_here = false;
  };
  struct Round {
    std::uint32_t tree = 0;  ///< of the Shape
    std::uint64_t sequence = 0;
    std::vector<Passed> passes;  ///< by place in the tree
  };
  struct Stretch {
    std::uint64_t slowest = 0;       ///< which iteration took longest
    std::int64_t slowest_nanos = 0;  ///< and how long: computation and operation of a thread
    bool is_beginning = false;
    std::int64_t error_nanos = 0;  ///< by which hosts may be apart; below 0: not known
    std::vector<Round> rounds;     ///< times are on the clock of the first host
  };
  bool has_common_clock = false;
  std::vector<Stretch> stretches;  ///< in the order of iterations
  PageGroupsReport groups;         ///< on the clocks that the analysis is given
};

/// Why:    an analysis says what happened how often; to see how one iteration came about, its
///         records are needed, and of a long run only few can be kept.
/// Clocks: hosts are put on one clock by the crossings of a stretch: the one whose two-way time
///         was least says how far two clocks are apart, within half of that time.
/// Memory: bounded by the options, whatever the length of the run.
/// Owns:   nothing of the structure, which must live as long.
class PageTimeline {
 public:
  explicit PageTimeline(const Structure& structure, const PageTimelineOptions& options = {});
  ~PageTimeline();
  PageTimeline(const PageTimeline&) = delete;
  PageTimeline& operator=(const PageTimeline&) = delete;

  void add(std::uint32_t host, std::span<const EventRecord> records);  ///< as of an Analysis
  PageTimelineReport finish();  ///< once, when there are no more records

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace eventspace
