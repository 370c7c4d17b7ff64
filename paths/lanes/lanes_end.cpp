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
namespace {

constexpr std::size_t exits_in_a_round_most = 32;

}  // namespace

void Lanes::drain(runtime::Lock& lock) {
  const runtime::Deadline limit = deadline();
  while (!agenda_.empty() || is_sending_)
    if (quiet_.wait(lock, limit, {"what is on its way from", name_, host_}) ==
        runtime::Woken::expired)
      return;
}

std::string Lanes::finish(bool has_failed) {
  std::vector<std::uint64_t> groups;
  {
    runtime::Lock lock(mutex_);
    for (const auto& [id, group] : groups_) groups.push_back(id);
  }
  for (const std::uint64_t id : groups) leave(id);
  runtime::Lock lock(mutex_);
  if (is_switch()) finish_switch(lock);
  drain(lock);
  if (is_switch() || !plan_->lanes.is_written || plan_->hosts.size() == 1) return parted_;
  end_.is_here = true;
  end_.hosts.insert(host_);
  answer_early();
  see_who_is_done();
  if (host_ == exit_of(plan_->hosts[host_].cluster) && !runtime_.is_virtual()) look_at_undone();
  settle(lock);
  if (!lock.owns_lock()) lock.lock();
  for (runtime::Deadline look = next_look(has_failed); !end_.is_everywhere;) {
    if (ending_.wait(lock, look, {"the end of all threads at", name_, host_}) ==
        runtime::Woken::notified)
      continue;
    look = next_look(has_failed);
    if (runtime_.is_virtual()) continue;
    lock.unlock();
    const std::set<std::uint32_t> silent = carrier_.look_after();
    for (const std::uint32_t host : silent) host_lost(host, "it gave no sign of life at the end");
    lock.lock();
    if (!silent.empty() && parted_.empty())
      parted_ = fmt::format("host {}: {} gave no sign of life at the end", name_,
                            place_text(*plan_, *silent.begin()));
  }
  drain(lock);
  return parted_;
}

/// Twice in a deadline: who is silent for the second half of one is gone with it.
runtime::Deadline Lanes::next_look(bool has_failed) const {
  if (runtime_.is_virtual()) return deadline();
  const base::Nanos half = plan_->deadline / 2;
  return runtime::Deadline::written_at(
      runtime_.now() + (has_failed ? std::min(half, base::Nanos(std::chrono::seconds(1))) : half));
}

/// With the mutex held. Hosts wait for whom they reach by a switch, which alone sees who is silent.
void Lanes::finish_switch(runtime::Lock& lock) {
  for (runtime::Deadline limit = deadline(); !end_.is_everywhere;) {
    if (ending_.wait(lock, limit, {"the end of all hosts at", name_, host_}) ==
        runtime::Woken::notified)
      continue;
    limit = deadline();
    lock.unlock();
    for (const std::uint32_t place : carrier_.look_after())
      host_lost(place,
                fmt::format("it gave no sign of life for {}", base::format_time(plan_->deadline)));
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

/// Nothing will be heard from there, or nothing can be.
bool Lanes::is_cluster_gone(std::uint32_t cluster) const {
  const std::uint32_t exit = exit_of(cluster);
  return lost_.contains(exit) || !missing_way(*plan_, host_, exit).empty() ||
         !missing_way(*plan_, exit, host_).empty() || is_behind_lost_switch(exit);
}

/// With how many others exits exchange in a round, each with its own: enough for all in one round
/// unless there are very many. Where some clusters have no way to each other, word does not get to
/// all by others, so that each tells all.
std::uint32_t Lanes::exits_in_a_round() const {
  const std::size_t clusters = plan_->clusters.size();
  const bool have_all = plan_->ways && plan_->ways->links.size() == clusters * (clusters - 1);
  return static_cast<std::uint32_t>(have_all ? std::min(clusters, exits_in_a_round_most)
                                             : clusters);
}

/// The clusters that this one's exit tells in a round, or hears from.
std::vector<std::uint32_t> Lanes::clusters_in(std::size_t round, bool are_told) const {
  const std::uint64_t clusters = plan_->clusters.size(), base = exits_in_a_round();
  const std::uint64_t here = plan_->hosts[host_].cluster;
  std::uint64_t stride = 1;
  for (std::size_t before = 0; before < round; ++before) stride *= base;
  std::vector<std::uint32_t> found;
  for (std::uint64_t times = 1; times < base && times * stride < clusters; ++times)
    found.push_back(static_cast<std::uint32_t>(
        (here + (are_told ? times * stride : clusters - times * stride)) % clusters));
  return found;
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
    if (lost_.contains(exit)) return tell_all_are_done();
    if (!std::exchange(end_.is_told, true)) post(control(LaneKind::done, exit, 0));
    return;
  }
  if (end_.mine.empty())
    for (std::uint32_t host = 0; host < plan_->hosts.size(); ++host)
      if (plan_->hosts[host].cluster == here) end_.mine.push_back(host);
  for (const std::uint32_t host : end_.mine)
    if (!end_.hosts.contains(host) && !lost_.contains(host)) return;
  for (;; ++end_.round, end_.is_told = false) {
    const auto sources = clusters_in(end_.round, false);
    if (sources.empty()) return tell_all_are_done();
    if (!std::exchange(end_.is_told, true)) tell_clusters_are_done();
    for (const std::uint32_t cluster : sources)
      if (!end_.heard.contains({end_.round, cluster}) && !is_cluster_gone(cluster)) return;
  }
}

/// Those of this cluster, and of those that this one has heard of in earlier rounds.
void Lanes::tell_clusters_are_done() {
  for (const std::uint32_t cluster : clusters_in(end_.round, true)) {
    const std::uint32_t exit = exit_of(cluster);
    if (lost_.contains(exit) || !missing_way(*plan_, host_, exit).empty()) continue;
    LaneFrame done = control(LaneKind::done, exit, 0);
    done.bytes = end_.round == 0 ? 1 : 2 + end_.round;
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
  for (std::uint32_t host = 0; host < plan_->hosts.size(); ++host)
    if (plan_->hosts[host].cluster == here && host != host_ && !lost_.contains(host))
      post(control(LaneKind::look, host, 0));
  for (std::size_t round = 0;; ++round) {
    const auto sources = clusters_in(round, false);
    if (sources.empty()) return;
    for (const std::uint32_t cluster : sources)
      if (const std::uint32_t exit = exit_of(cluster);
          missing_way(*plan_, host_, exit).empty() && !lost_.contains(exit))
        post(control(LaneKind::look, exit, 0));
  }
}

void Lanes::take_done(const LaneFrame& frame) {
  if (frame.bytes == 2)
    end_.is_everywhere = true;
  else if (frame.bytes == 0)
    end_.hosts.insert(frame.source);
  else if (const std::uint64_t round = frame.bytes == 1 ? 0 : frame.bytes - 2;
           round < plan_->clusters.size())  // none has more: what is kept is bounded
    end_.heard.emplace(round, plan_->hosts[frame.source].cluster);
  see_who_is_done();
}

}  // namespace paths
