// SPDX-License-Identifier: Apache-2.0
// paths/lanes/lanes_end.cpp — how hosts and switches come to know that the threads of all have
// ended.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "paths/lanes/lanes.hpp"
#include "paths/plan/emulated_switches.hpp"

namespace paths {

void Lanes::drain(runtime::Lock& lock) {
  const runtime::Deadline limit = deadline();
  while (!agenda_.empty() || is_sending_)
    if (quiet_.wait(lock, limit, {"what is on its way from", name_, host_}) ==
        runtime::Woken::expired)
      return;
}

void Lanes::finish() {
  std::vector<std::uint64_t> groups;
  {
    runtime::Lock lock(mutex_);
    for (const auto& [id, group] : groups_) groups.push_back(id);
  }
  for (const std::uint64_t id : groups) leave(id);
  runtime::Lock lock(mutex_);
  if (is_switch()) finish_switch(lock);
  drain(lock);
  if (is_switch()) return;
  if (!plan_->lanes.is_written || plan_->hosts.size() == 1) return;
  end_.is_here = true;
  end_.hosts.insert(host_);
  see_who_is_done();
  if (host_ == exit_of(plan_->hosts[host_].cluster) && !runtime_.is_virtual()) look_at_undone();
  settle(lock);
  if (!lock.owns_lock()) lock.lock();
  for (runtime::Deadline limit = deadline(); !end_.is_everywhere;) {
    if (ending_.wait(lock, limit, {"the end of all threads at", name_, host_}) ==
        runtime::Woken::notified)
      continue;
    lock.unlock();
    for (const std::uint32_t host : carrier_.silent())
      host_lost(host,
                fmt::format("it gave no sign of life for {}", base::format_time(plan_->deadline)));
    lock.lock();
    limit = deadline();
  }
  drain(lock);
}

/// With the mutex held. Hosts wait for whom they reach by a switch, which alone sees who is silent.
void Lanes::finish_switch(runtime::Lock& lock) {
  std::set<std::uint32_t> silent;  // since the last look
  for (runtime::Deadline limit = deadline(); !end_.is_everywhere;) {
    if (ending_.wait(lock, limit, {"the end of all hosts at", name_, host_}) ==
        runtime::Woken::notified)
      continue;
    limit = deadline();
    lock.unlock();
    std::set<std::uint32_t> silent_now = carrier_.silent();
    for (const std::uint32_t place : silent_now)
      if (silent.contains(place))
        host_lost(place, fmt::format("it gave no sign of life for {}",
                                     base::format_time(plan_->deadline)));
    silent = std::move(silent_now);
    lock.lock();
    for (std::uint32_t host = 0; host < plan_->hosts.size(); ++host) {
      if (switch_number(*plan_, plan_->hosts[host].cluster) != host_) continue;
      if (neighbours_.contains(host) || end_.hosts.contains(host)) continue;
      spdlog::warn("{}: host {} has not come for {}", name_, plan_->hosts[host].name,
                   base::format_time(plan_->deadline));
      end_.hosts.insert(host);
    }
    see_whether_hosts_are_over();
  }
}

/// Of a switch, with the mutex held.
void Lanes::see_whether_hosts_are_over() {
  for (std::uint32_t host = 0; host < plan_->hosts.size(); ++host)
    if (switch_number(*plan_, plan_->hosts[host].cluster) == host_ && !end_.hosts.contains(host) &&
        !lost_.contains(host))
      return;
  end_.is_everywhere = true;
}

std::uint32_t Lanes::exit_of(std::uint32_t cluster) const {
  if (plan_->ways) return plan_->ways->clusters[cluster].exit;
  const auto first =
      std::find_if(plan_->hosts.begin(), plan_->hosts.end(),
                   [&](const Plan::PlanHost& host) { return host.cluster == cluster; });
  return static_cast<std::uint32_t>(first - plan_->hosts.begin());
}

bool Lanes::is_cluster_done(std::uint32_t cluster) const {
  if (end_.clusters.contains(cluster)) return true;
  const std::uint32_t exit = exit_of(cluster);
  return lost_.contains(exit) || !missing_way(*plan_, host_, exit).empty() ||
         !missing_way(*plan_, exit, host_).empty() || is_behind_lost_switch(exit);
}

bool Lanes::is_behind_lost_switch(std::uint32_t host) const {
  return std::any_of(lost_.begin(), lost_.end(), [&](const auto& lost) {
    const std::uint32_t place = lost.first;
    return place >= plan_->hosts.size() && (way_leads_through(*plan_, host_, host, place) ||
                                            way_leads_through(*plan_, host, host_, place));
  });
}

/// With the mutex held; after everything that may change it.
void Lanes::see_who_is_done() {
  if (!end_.is_here || end_.is_everywhere) return;
  const std::uint32_t here = plan_->hosts[host_].cluster, exit = exit_of(here);
  if (host_ != exit) {
    if (!std::exchange(end_.is_told, true)) post(control(LaneKind::done, exit, 0));
    if (lost_.contains(exit)) tell_all_are_done();
    return;
  }
  if (end_.mine.empty())
    for (std::uint32_t host = 0; host < plan_->hosts.size(); ++host)
      if (plan_->hosts[host].cluster == here) end_.mine.push_back(host);
  for (const std::uint32_t host : end_.mine)
    if (!end_.hosts.contains(host) && !lost_.contains(host)) return;
  end_.clusters.insert(here);
  if (!std::exchange(end_.is_told, true)) tell_cluster_is_done();
  for (std::uint32_t cluster = 0; cluster < plan_->clusters.size(); ++cluster)
    if (!is_cluster_done(cluster)) return;
  tell_all_are_done();
}

void Lanes::tell_cluster_is_done() {
  const std::uint32_t here = plan_->hosts[host_].cluster;
  for (std::uint32_t cluster = 0; cluster < plan_->clusters.size(); ++cluster) {
    const std::uint32_t exit = exit_of(cluster);
    if (cluster == here || lost_.contains(exit) || !missing_way(*plan_, host_, exit).empty())
      continue;
    LaneFrame done = control(LaneKind::done, exit, 0);
    done.bytes = 1;
    post(std::move(done));
  }
}

void Lanes::tell_all_are_done() {
  end_.is_everywhere = true;
  for (const std::uint32_t host : end_.mine) {
    if (host == host_ || lost_.contains(host)) continue;
    LaneFrame done = control(LaneKind::done, host, 0);
    done.bytes = 2;
    post(std::move(done));
  }
}

/// Of a host with which nothing was exchanged nobody would hear that it is gone.
void Lanes::look_at_undone() {
  const std::uint32_t here = plan_->hosts[host_].cluster;
  for (std::uint32_t host = 0; host < plan_->hosts.size(); ++host) {
    const bool is_mine = plan_->hosts[host].cluster == here && host != host_;
    const bool is_exit = plan_->hosts[host].cluster != here &&
                         host == exit_of(plan_->hosts[host].cluster) &&
                         missing_way(*plan_, host_, host).empty();
    if (is_mine || is_exit) post(control(LaneKind::look, host, 0));
  }
}

void Lanes::take_done(const LaneFrame& frame) {
  if (frame.bytes == 2)
    end_.is_everywhere = true;
  else if (frame.bytes == 1)
    end_.clusters.insert(plan_->hosts[frame.source].cluster);
  else
    end_.hosts.insert(frame.source);
  see_who_is_done();
}

}  // namespace paths
