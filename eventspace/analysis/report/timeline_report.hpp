// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/timeline_report.hpp — the course of a run in time, for its page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eventspace/analysis/report/time_report.hpp"

namespace eventspace {

/// Number of parts into which the minimap divides a run.
inline constexpr std::size_t timeline_blocks = 256;

/// What each thread did in some stretches of a run, and the critical path of the run. Times count
/// from the begin of the run. If the hosts' clocks are not compared, those of a host count from the
/// begin of its first thread.
struct TimelineReport {
  static constexpr std::uint32_t nothing = 0xffffffff;

  /// Part of a thread's time.
  struct Part {
    std::uint32_t label = nothing;   ///< index in `labels`; nothing before and after the thread
    std::uint32_t thread = nothing;  ///< rank of the thread that was waited for, if it is one
    std::int64_t nanos = 0;
  };
  struct Stretch {
    std::int64_t begin_nanos = 0;
    std::int64_t end_nanos = 0;
    std::vector<std::vector<Part>> threads;  ///< indexed by rank; the parts adjoin
  };
  /// Step of the critical path. If it is from one thread to another one, it is a message.
  struct Step {
    std::int64_t begin_nanos = 0;
    std::int64_t nanos = 0;
    std::uint32_t label = 0;
    std::uint32_t from_thread = 0;
    std::uint32_t to_thread = 0;
  };
  /// Time of the critical path in one part of the run.
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
  bool has_whole_path = false;  ///< otherwise only the steps in `stretches` are kept
  std::vector<Share> shares;
  std::int64_t first_iteration_nanos = 0;    ///< begin of the first iteration
  std::vector<std::int64_t> iteration_ends;  ///< each is the end of iterations_in_each more
  std::uint64_t iterations_in_each = 1;
};

}  // namespace eventspace
