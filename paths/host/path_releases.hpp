// SPDX-License-Identifier: Apache-2.0
// paths/host/path_releases.hpp — count of released paths through a host.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>

#include "paths/plan/plan.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Counts the released paths that lead through a host. A deployment ends only after all of these
/// paths are released.
///
/// Thread-safe.
class PathReleases {
 public:
  /// Kind of origin of a path: a thread of the program, or a wrapper such as a prefetch.
  enum class Beginner : std::uint8_t { thread, wrapper };

  /// `plan` outlives this object.
  PathReleases(const Plan& plan, std::uint32_t host);

  void count(std::uint32_t path);
  /// Returns true for the first call with `path`, false for later calls with the same path.
  bool begin_release(std::uint32_t path);
  bool have_all() const;
  /// Waits until all paths with the origin `beginner` are released. Returns false if `limit` passes
  /// before.
  bool wait_for_all(Beginner beginner, runtime::Deadline limit, const runtime::Reason& reason);

 private:
  struct Count {
    std::uint64_t expected = 0;
    std::uint64_t seen = 0;
    bool is_complete() const { return seen >= expected; }
  };
  Count& count_of(Beginner beginner) { return counts_[static_cast<std::size_t>(beginner)]; }

  const Plan& plan_;
  mutable runtime::Mutex mutex_;
  runtime::WaitList changed_;
  std::array<Count, 2> counts_;    // indexed by Beginner
  std::set<std::uint32_t> begun_;  // paths for which begin_release() has been called
};

}  // namespace paths
