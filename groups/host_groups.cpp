// SPDX-License-Identifier: Apache-2.0
// groups/host_groups.cpp — the groups of a host, and the failures that its threads received
#include "groups/host_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/usage_error.hpp"
#include "groups/host_group.hpp"

namespace groups {

HostGroups& HostGroups::of(paths::Host& host) {
  const auto make = []() -> std::unique_ptr<paths::ThreadWatcher> {
    return std::make_unique<HostGroups>();
  };
  // The cast is safe: HostGroups is the only class that derives from ThreadWatcher.
  return static_cast<HostGroups&>(host.thread_watcher(make));
}

std::shared_ptr<HostGroup> HostGroups::join(paths::Deployment& deployment, const std::string& name,
                                            const std::vector<std::uint32_t>* threads,
                                            std::uint32_t rank, const Origin& origin) {
  for (;;) {
    auto group = find(deployment, name, threads, origin);
    if (group->operations().join(group->view().layout().place(rank))) {
      group->operations().look_for_ended();
      return group;
    }
    group->operations().wait_until_over();
  }
}

/// Fails the groups that an ended thread should have joined but has not. A group that the thread
/// has joined needs no action, because the thread leaves it itself.
void HostGroups::thread_ended(paths::Deployment& deployment, std::uint32_t thread) {
  std::vector<std::shared_ptr<HostGroup>> groups;
  {
    runtime::Lock lock(mutex_);
    for (const auto& [name, group] : groups_)
      if (&group->view().deployment() == &deployment) groups.push_back(group);
  }
  for (const auto& group : groups) group->operations().see_ended(thread);
}

std::shared_ptr<HostGroup> HostGroups::find(paths::Deployment& deployment, const std::string& name,
                                            const std::vector<std::uint32_t>* threads,
                                            const Origin& origin) {
  runtime::Lock lock(mutex_);
  std::shared_ptr<HostGroup>& group = groups_[name];
  if (group == nullptr) {
    try {
      group = std::make_shared<HostGroup>(deployment, name, threads, Failing::all_behind, origin);
    } catch (...) {
      groups_.erase(name);
      throw;
    }
  }
  if (!group->view().layout().has(threads))
    throw base::UsageError(fmt::format("group {}: a group of that name has other members", name));
  return group;
}

std::int64_t HostGroups::next_split(std::uint32_t thread, std::int64_t least) {
  runtime::Lock lock(mutex_);
  std::int64_t& next = next_splits_[thread];
  return next = std::max(next, least);
}

void HostGroups::note(std::uint32_t thread, const paths::TravelError& failure) {
  std::string_view reason = failure.reason();
  constexpr std::string_view told = "it received the error: ";
  // In a chain of failures, the text after the last `told` is the original cause. Only that text is
  // kept.
  const std::size_t behind = reason.rfind(told);
  if (behind != std::string_view::npos) reason.remove_prefix(behind + told.size());
  runtime::Lock lock(mutex_);
  noted_[thread] = {std::string(reason), failure.cause()};
}

HostGroups::Noted HostGroups::noted(std::uint32_t thread) const {
  runtime::Lock lock(mutex_);
  const auto found = noted_.find(thread);
  return found == noted_.end() ? Noted() : found->second;
}

void HostGroups::forget(const HostGroup& group) {
  std::shared_ptr<HostGroup> forgotten;  // destroyed after the lock is released
  runtime::Lock lock(mutex_);
  const auto found = groups_.find(group.view().name());
  if (found == groups_.end() || found->second.get() != &group) return;
  forgotten = std::move(found->second);
  groups_.erase(found);
}

}  // namespace groups
