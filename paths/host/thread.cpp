// SPDX-License-Identifier: Apache-2.0
// paths/host/thread.cpp — life of a thread, and its paths in the plan.
#include "paths/host/thread.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/near_match.hpp"
#include "base/usage_error.hpp"
#include "paths/host/host.hpp"

namespace paths {

Thread::Thread(Deployment& deployment, std::uint32_t index, std::uint64_t seed)
    : deployment_(&deployment),
      index_(index),
      life_(begin_life()),
      owner_(deployment, index),
      random_(seed, deployment.plan().hosts[deployment.index()].first_thread + index) {
  const Plan& plan = deployment.plan();
  deployment.ended_threads().remove(index);
  for (std::uint32_t number : deployment.instance().paths()) {
    const auto& path = plan.paths[number];
    if (index >= path.first_thread && index - path.first_thread < path.threads)
      paths_.emplace_back(deployment, number, index - path.first_thread, owner_, last_failure_);
  }
}

Thread::~Thread() { end(); }

/// Adds a trace record of the thread's life, which begins now. Returns the record.
eventspace::EventRecord Thread::begin_life() {
  eventspace::EventRecord life;
  life.place = rank();
  life.kind = static_cast<std::uint8_t>(eventspace::EventKind::thread);
  life.down_nanos = life.up_nanos = now().count();
  deployment_->recorder().add(life);
  return life;
}

std::uint32_t Thread::rank() const {
  return deployment_->plan().hosts[deployment_->index()].first_thread + index_;
}
Host& Thread::host() const { return deployment_->host(); }
const std::string& Thread::cluster() const {
  return deployment_->plan().cluster_of(deployment_->index());
}
double Thread::speed() const { return deployment_->plan().hosts[deployment_->index()].speed; }

base::Nanos Thread::now() const { return deployment_->runtime().now(); }
void Thread::sleep_for(base::Nanos span) {
  owner_.check("sleep_for", "the clock");
  deployment_->runtime().sleep_for(span);
}

void Thread::mark_iteration() {
  owner_.check("mark_iteration", "the trace");
  if (!deployment_->recorder().is_on()) return;
  eventspace::EventRecord mark;
  mark.kind = static_cast<std::uint8_t>(eventspace::EventKind::iteration);
  mark.place = rank();
  mark.sequence = iterations_++;
  mark.down_nanos = mark.up_nanos = now().count();
  deployment_->recorder().add(mark);
}

std::uint32_t Thread::threads() const { return deployment_->plan().thread_count(); }

bool Thread::has_path(std::string_view graph) const {
  for (const Path& path : paths_)
    if (path.graph() == graph) return true;
  return false;
}

Path& Thread::path(std::string_view graph) {
  std::vector<std::string_view> names;
  for (Path& path : paths_) {
    if (path.graph() == graph) return path;
    names.push_back(path.graph());
  }
  constexpr std::size_t shown_max = 8;
  const auto near = base::near_match(graph, names);
  const std::size_t more = names.size() - std::min(names.size(), shown_max);
  names.resize(names.size() - more);
  throw base::UsageError(
      fmt::format("{} has no path '{}'{}; it has {}{}", owner_.thread(), graph,
                  near ? fmt::format(" (did you mean '{}'?)", *near) : "",
                  names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                  more > 0 ? fmt::format(" and {} more", more) : ""));
}

void Thread::fail(const std::string& reason) {
  fail(TravelError(deployment_->name(), "", "", reason, FailureCause::application));
}

void Thread::fail(const TravelError& error) {
  owner_.check("fail", "the paths");
  release_paths(std::make_shared<TravelError>(error));
}

/// Releases all paths. If the release of a path may wait for other threads or hosts, the path first
/// withdraws and is released after all other paths. Threads that wait for this thread therefore get
/// the failure without delay.
void Thread::release_paths(const Failure& failure) {
  for (Path& path : paths_) {
    if (path.operations().holds_release())
      path.operations().withdraw(failure);
    else
      path.release(failure);
  }
  for (Path& path : paths_) path.release(failure);
}

/// Checks that the thread is allowed to detach its OS thread.
/// Throws: UsageError if the caller is another thread, or if an operation that this thread started
///         is under way.
void Thread::check_leaves() {
  if (owner_.has_ended()) return;
  const Owner::Use used(owner_, "detach", "the place", {});
  for (const Path& path : paths_)
    if (path.operations().has_started())
      throw base::UsageError(
          fmt::format("{}: detach while an operation that it started on path {} is under way; wait "
                      "for it first",
                      owner_.thread(), path.graph()));
}

bool Thread::is_over() const {
  const auto is_released = [](const Path& path) { return path.operations().released(); };
  return owner_.has_ended() ||
         (!paths_.empty() && std::all_of(paths_.begin(), paths_.end(), is_released));
}

void Thread::end() {
  if (!owner_.is_caller()) return;
  host().thread_ended(*deployment_, index_);  // must precede release_paths(), which may wait
  release_paths(*last_failure_);
  owner_.end();
  life_.up_nanos = now().count();
  deployment_->recorder().add(life_);
}

}  // namespace paths
