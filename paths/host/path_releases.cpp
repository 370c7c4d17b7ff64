// SPDX-License-Identifier: Apache-2.0
// paths/host/path_releases.cpp — counting of released paths, and waiting for the last release.
#include "paths/host/path_releases.hpp"

#include <algorithm>

namespace paths {

PathReleases::PathReleases(const Plan& plan, std::uint32_t host) : plan_(plan) {
  const Plan::HostPlan& share = plan.shares.at(host);
  count_of(Beginner::thread).expected = share.thread_releases;
  count_of(Beginner::wrapper).expected = share.background_releases;
}

void PathReleases::count(std::uint32_t path) {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  ++count_of(plan_.paths[path].threads == 0 ? Beginner::wrapper : Beginner::thread).seen;
  changed_.wake_all(wakes);
}

bool PathReleases::begin_release(std::uint32_t path) {
  const runtime::Lock lock(mutex_);
  return begun_.insert(path).second;
}

bool PathReleases::have_all() const {
  const runtime::Lock lock(mutex_);
  return std::ranges::all_of(counts_, &Count::is_complete);
}

bool PathReleases::wait_for_all(Beginner beginner, runtime::Deadline limit,
                                const runtime::Reason& reason) {
  runtime::Lock lock(mutex_);
  while (!count_of(beginner).is_complete())
    if (changed_.wait(lock, limit, reason) == runtime::Woken::expired) return false;
  return true;
}

}  // namespace paths
