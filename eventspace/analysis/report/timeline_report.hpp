// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/timeline_report.hpp — timeline of a run, for the page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eventspace/analysis/report/time_report.hpp"

namespace eventspace {

/// Number of equal blocks of time into which the minimap divides a run.
inline constexpr std::size_t timeline_blocks = 256;

/// Timeline of a run: what each thread did in some stretches (spans of time), and the critical
/// path. Times count from the begin of the run. If hosts have no common clock, the times of each
/// host count from the begin of its first thread.
struct TimelineReport {
  static constexpr std::uint32_t nothing = 0xffffffff;

  /// Part of a thread's time that has one label.
  struct Part {
    std::uint32_t label = nothing;  ///< index in `labels`; `nothing` outside of the thread's life
    /// Rank of the other thread for which the thread waited; `nothing` if it waited for no thread.
    std::uint32_t thread = nothing;
    std::int64_t nanos = 0;
  };
  struct Stretch {
    std::int64_t begin_nanos = 0;
    std::int64_t end_nanos = 0;
    std::vector<std::vector<Part>> threads;  ///< indexed by rank; the parts adjoin
  };
  /// Step of the critical path. A step that leads from one thread to another thread is a message.
  struct Step {
    std::int64_t begin_nanos = 0;
    std::int64_t nanos = 0;
    std::uint32_t label = 0;
    std::uint32_t from_thread = 0;
    std::uint32_t to_thread = 0;
  };
  /// Time that the critical path spends with one label in one block of the minimap
  /// (timeline_blocks).
  struct Share {
    std::uint32_t block = 0;
    std::uint32_t label = 0;
    std::int64_t nanos = 0;
  };

  std::int64_t nanos = 0;  ///< length of the run
  bool has_common_clock = false;
  std::vector<TimeRow> labels;  ///< operation, cause and place, as in TimeReport
  std::vector<Stretch> stretches;
  std::vector<Step> path;
  bool has_whole_path = false;  ///< if false, `path` has only the steps in `stretches`
  std::vector<Share> shares;
  std::int64_t first_iteration_nanos = 0;    ///< begin of the first iteration in the run
  std::vector<std::int64_t> iteration_ends;  ///< end of every iterations_in_each-th iteration
  std::uint64_t iterations_in_each = 1;
};

}  // namespace eventspace
