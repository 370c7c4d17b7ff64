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
  /// Maximum number of passes in all kept iterations together. A pass is an operation at a
  /// collector.
  std::size_t passes = 200'000;
  /// Maximum number of iterations that are kept from the beginning of the run.
  std::size_t iterations = 80;
  /// Memory limit for rounds that lack records.
  std::size_t open_rounds_bytes = std::size_t{64} << 20;
  /// Whether the times of all hosts are on one clock, as in a run on the virtual clock.
  bool has_common_clock = false;
};

/// The rounds that were kept for the page. A stretch is a sequence of consecutive iterations. Each
/// tree has a stretch at its beginning, and stretches around its slowest iterations.
struct PageTimelineReport {
  /// An operation that passed a collector. If its record is missing, all fields are default
  /// values.
  struct Passed {
    std::int64_t down_nanos = 0;
    std::int64_t up_nanos = 0;
    std::int64_t computation_nanos = -1;  ///< computation before the operation; below 0 = unknown
    bool is_here = false;
  };
  struct Round {
    std::uint32_t tree = 0;  ///< number of the tree in the Shape of the run
    std::uint64_t sequence = 0;
    std::vector<Passed> passes;  ///< indexed by the collector's place in the tree
  };
  struct Stretch {
    std::uint64_t slowest = 0;  ///< sequence of the slowest iteration
    /// Duration of the slowest iteration on its slowest thread: computation and operation.
    std::int64_t slowest_nanos = 0;
    bool is_beginning = false;
    std::int64_t error_nanos = 0;  ///< largest error between clocks; less than 0 if unknown
    std::vector<Round> rounds;     ///< times on the clock of the first host
  };
  bool has_common_clock = false;
  std::vector<Stretch> stretches;  ///< in the order of their iterations
  PageGroupsReport groups;         ///< times on the clocks that the analysis uses
};

/// Keeps a few complete iterations of a run, so that the page can show the course of single
/// iterations.
///
/// Why:      An analysis reports only how often something happened. To show one iteration, its
///           records are needed, and memory has room for only a few iterations of a long run.
/// Clocks:   The times of the rounds in a stretch are converted to one clock. Operations that
///           crossed from one host to another determine the offset of the two hosts' clocks. The
///           crossing with the least two-way time is used. The error is at most half of that time.
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
