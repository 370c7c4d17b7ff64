// SPDX-License-Identifier: Apache-2.0
// groups/group_view.cpp — members and hosts of a group, and the texts that name them
#include "groups/group_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "paths/host/ended_threads.hpp"
#include "paths/host/host.hpp"
#include "paths/plan/host_view.hpp"

namespace groups {
namespace {

/// Returns the host number in the run for each participant of the layout.
std::vector<std::uint32_t> run_hosts(const paths::Deployment& deployment, const Layout& layout) {
  if (&deployment.plan() == &deployment.host().plan()) return layout.hosts();
  std::vector<std::uint32_t> hosts;
  for (const std::uint32_t host : layout.hosts())
    hosts.push_back(*deployment.host().plan().host_named(deployment.plan().hosts[host].name));
  return hosts;
}

std::uint32_t participant_at(const Layout& layout, std::uint32_t host) {
  const auto& hosts = layout.hosts();
  const auto found = std::lower_bound(hosts.begin(), hosts.end(), host);
  return static_cast<std::uint32_t>(found - hosts.begin());
}

}  // namespace

GroupView::GroupView(paths::Deployment& deployment, std::string name,
                     const std::vector<std::uint32_t>* threads)
    : deployment_(deployment),
      name_(std::move(name)),
      layout_(Layout::of(deployment.plan(), threads)),
      me_(participant_at(*layout_, deployment.index())),
      selector_(Selector::of(deployment.host().shared_plan(), run_hosts(deployment, *layout_))) {}

bool GroupView::is_in_other_cluster(std::uint32_t participant) const {
  const auto cluster = [this](std::uint32_t one) {
    return plan().hosts[layout_->hosts()[one]].cluster;
  };
  return cluster(participant) != cluster(me_);
}

runtime::Deadline GroupView::deadline() const { return paths::deadline_of(plan(), runtime()); }

std::string GroupView::thread_text(std::uint32_t place) const {
  const auto& host = plan().hosts[layout_->hosts()[layout_->participant_at(place)]];
  return fmt::format("thread {}/{}", host.name, layout_->thread_at(place) - host.first_thread);
}

std::string GroupView::threads_text(std::uint32_t host) const {
  const auto participant =
      static_cast<std::uint32_t>(std::find(hosts().begin(), hosts().end(), host) - hosts().begin());
  const std::uint32_t first = plan().hosts[layout_->hosts()[participant]].first_thread;
  std::vector<std::uint32_t> threads;
  for (std::uint32_t place = layout_->first_on(participant);
       place < layout_->first_on(participant + 1); ++place)
    threads.push_back(layout_->thread_at(place) - first);
  std::sort(threads.begin(), threads.end());
  return fmt::format("{}:{}", deployment_.label(), paths::EndedThreads::list_text(threads));
}

paths::Failure GroupView::failure_of(const std::string& reason, paths::FailureCause cause) const {
  return std::make_shared<paths::TravelError>(deployment_.name(), "group " + name_, "", reason,
                                              cause);
}

}  // namespace groups
