// SPDX-License-Identifier: Apache-2.0
// paths/messages/lanes_end.cpp — how hosts and switches come to know that the threads of all have
// ended.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "paths/messages/lanes.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/exits.hpp"

namespace paths {
namespace {

/// A host that is silent, or whose word is overdue, is given up after this many looks: a deadline.
constexpr std::uint32_t looks_in_a_deadline = 4;
/// Looks of a switch are a deadline apart.
constexpr std::uint32_t looks_of_switch = 2;
constexpr base::Nanos first_notice_after = std::chrono::seconds(5);
/// Lanes::end_progress() of a host that knows of all threads that they have ended.
constexpr std::uint64_t knows_all = UINT64_MAX;

}  // namespace

void Lanes::drain(runtime::Lock& lock, runtime::Deadline limit) {
  while (!agenda_.empty() || is_sending_)
    if (quiet_.wait(lock, limit, {"what is on its way from", name_, host_}) ==
        runtime::Woken::expired)
      return note_at_end(
          fmt::format("what is on its way from here was not through before the "
                      "deadline of {}",
                      base::format_time(plan_->deadline)));
}

void Lanes::note_at_end(const std::string& wrong) {
  if (wrong_at_end_.empty()) wrong_at_end_ = fmt::format("host {}: {}", name_, wrong);
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
  drain(lock, deadline());
  if (!is_switch() && plan_->lanes.is_written && plan_->hosts.size() > 1) {
    end_.is_here = true;
    end_.hosts.insert(host_);
    answer_early();
    gather(end_);
    if (host_ == exit_of(*plan_, plan_->hosts[host_].cluster) && !runtime_.is_virtual())
      look_at_undone();
    settle(lock);
    if (!lock.owns_lock()) lock.lock();
    await_end(lock, has_failed);
    drain(lock, deadline());
    // A program that got an error and went on has decided for itself.
    if (!first_loss_.empty() && !is_failure_delivered_) note_at_end(first_loss_);
  }
  return parted_.empty() ? wrong_at_end_ : parted_;
}

void Lanes::await_end(runtime::Lock& lock, bool has_failed) {
  for (runtime::Deadline look = next_look(has_failed); !end_.is_everywhere;) {
    if (ending_.wait(lock, look, {"the end of all threads at", name_, host_}) ==
        runtime::Woken::notified)
      continue;
    look = next_look(has_failed);
    if (runtime_.is_virtual()) continue;
    give_up_silent(lock);
    give_up_overdue();
    settle(lock);
    if (!lock.owns_lock()) lock.lock();
  }
}

runtime::Deadline Lanes::next_look(bool has_failed) const {
  if (runtime_.is_virtual()) return deadline();
  const base::Nanos most = has_failed ? std::chrono::milliseconds(500) : base::Nanos::max();
  return runtime::Deadline::written_at(runtime_.now() +
                                       std::min(plan_->deadline / looks_in_a_deadline, most));
}

/// Called with the mutex held; releases it meanwhile.
void Lanes::give_up_silent(runtime::Lock& lock) {
  lock.unlock();
  const std::set<std::uint32_t> silent = carrier_.look_after(looks_in_a_deadline);
  for (const std::uint32_t host : silent) host_lost(host, "it gave no sign of life at the end");
  lock.lock();
}

/// With the mutex held. A host that has told another one so, and says so when it is asked, has lost
/// what it sent then: neither of the two would ever end.
void Lanes::give_up_overdue() {
  const base::Nanos now = runtime_.now();
  const bool is_exit = host_ == exit_of(*plan_, plan_->hosts[host_].cluster);
  std::map<std::uint32_t, base::Nanos> overdue;
  for (const std::uint32_t host : awaited(end_)) {
    const bool is_of_cluster = plan_->hosts[host].cluster == plan_->hosts[host_].cluster;
    const std::uint64_t needed = !is_exit ? knows_all : is_of_cluster ? 1 : 2 + end_.round;
    if (carrier_.end_progress(host) < needed) continue;
    const auto known = overdue_.find(host);
    overdue[host] = known == overdue_.end() ? now : known->second;
  }
  overdue_ = std::move(overdue);
  for (const auto& [host, since] : std::map(overdue_))
    if (now - since >= plan_->deadline / 2)
      lose(host, fmt::format("it says that threads have ended, but its word of that has not come "
                             "for {}",
                             base::format_time(plan_->deadline)));
}

std::uint64_t Lanes::end_progress() const {
  runtime::Lock lock(mutex_);
  if (end_.is_everywhere) return knows_all;
  return end_.is_here ? 1 + end_.round + (end_.is_told ? 1 : 0) : 0;
}

// ---- the beginning -------------------------------------------------------------------------

void Lanes::begin() {
  runtime::Lock lock(mutex_);
  begins_by_ = runtime::Deadline::written_at(runtime_.now() + 2 * plan_->deadline);
  begin_.is_here = true;
  begin_.hosts.insert(host_);
  gather(begin_);
  settle(lock);
}

void Lanes::await_all() {
  const base::Nanos begun = runtime_.now();
  base::Nanos pause = first_notice_after, next_word = begun + pause;
  runtime::Lock lock(mutex_);
  while (begin_.is_here && !begin_.is_everywhere && runtime_.now() < begins_by_.at) {
    const auto until = runtime::Deadline::written_at(std::min(next_word, begins_by_.at));
    if (beginning_.wait(lock, until, {"all hosts of the run at", name_, host_}) ==
            runtime::Woken::notified ||
        runtime_.now() < next_word)
      continue;
    const std::string text = awaited_text(begin_);
    lock.unlock();
    if (!text.empty())
      spdlog::warn("host {} has waited {} for {}", name_, base::format_time(next_word - begun),
                   text);
    lock.lock();
    pause *= 2;
    next_word += pause;
  }
}

/// With the mutex held. Connections of paths name hosts that are not there at all.
std::string Lanes::awaited_text(const Gathering& of) const {
  const std::set<std::uint32_t> silent = carrier_.silent();
  const bool is_exit = host_ == exit_of(*plan_, plan_->hosts[host_].cluster);
  for (const std::uint32_t host : awaited(of)) {
    if (silent.contains(host)) continue;
    if (!is_exit)
      return fmt::format("all hosts of the run to come; host {} says when they have",
                         plan_->hosts[host].name);
    if (plan_->hosts[host].cluster != plan_->hosts[host_].cluster)
      return fmt::format("the hosts of cluster {} to come; host {} says when they have",
                         plan_->cluster_of(host), plan_->hosts[host].name);
  }
  return {};
}

// ---- the end -------------------------------------------------------------------------------

/// With the mutex held. Hosts wait for whom they reach by a switch, which alone sees who is silent.
void Lanes::finish_switch(runtime::Lock& lock) {
  for (runtime::Deadline limit = deadline(); !end_.is_everywhere;) {
    if (ending_.wait(lock, limit, {"the end of all hosts at", name_, host_}) ==
        runtime::Woken::notified)
      continue;
    limit = deadline();
    lock.unlock();
    for (const std::uint32_t place : carrier_.look_after(looks_of_switch))
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

/// Nothing will be heard from there, or nothing can be.
bool Lanes::is_cluster_gone(std::uint32_t cluster) const {
  const std::uint32_t exit = exit_of(*plan_, cluster);
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
void Lanes::gather(Gathering& of) {
  if (!of.is_here || of.is_everywhere) return;
  const std::uint32_t here = plan_->hosts[host_].cluster, exit = exit_of(*plan_, here);
  if (host_ != exit) {
    if (lost_.contains(exit)) return tell_all(of);
    if (!std::exchange(of.is_told, true)) post(news(of, exit, 0));
    return;
  }
  if (of.mine.empty())
    for (std::uint32_t host = 0; host < plan_->hosts.size(); ++host)
      if (plan_->hosts[host].cluster == here) of.mine.push_back(host);
  for (const std::uint32_t host : of.mine)
    if (!of.hosts.contains(host) && !lost_.contains(host)) return;
  for (;; ++of.round, of.is_told = false) {
    const auto sources = clusters_in_round(*plan_, here, of.round, false);
    if (sources.empty()) return tell_all(of);
    if (!std::exchange(of.is_told, true)) tell_clusters(of);
    for (const std::uint32_t cluster : sources)
      if (!of.heard.contains({of.round, cluster}) && !is_cluster_gone(cluster)) return;
  }
}

/// The hosts whose word this one waits for.
std::vector<std::uint32_t> Lanes::awaited(const Gathering& of) const {
  const std::uint32_t here = plan_->hosts[host_].cluster, exit = exit_of(*plan_, here);
  if (host_ != exit) return {exit};
  std::vector<std::uint32_t> hosts;
  for (const std::uint32_t host : of.mine)
    if (!of.hosts.contains(host) && !lost_.contains(host)) hosts.push_back(host);
  if (!hosts.empty()) return hosts;
  for (const std::uint32_t cluster : clusters_in_round(*plan_, here, of.round, false))
    if (!of.heard.contains({of.round, cluster}) && !is_cluster_gone(cluster))
      hosts.push_back(exit_of(*plan_, cluster));
  return hosts;
}

LaneFrame Lanes::news(const Gathering& of, std::uint32_t target, std::uint64_t bytes) const {
  LaneFrame frame = control(of.kind, target, 0);
  frame.bytes = bytes;
  frame.is_at_once = of.kind == LaneKind::here;  // a run begins no later for links it emulates
  return frame;
}

/// Those of this cluster, and of those that this one has heard of in earlier rounds.
void Lanes::tell_clusters(Gathering& of) {
  for (const std::uint32_t cluster :
       clusters_in_round(*plan_, plan_->hosts[host_].cluster, of.round, true)) {
    const std::uint32_t exit = exit_of(*plan_, cluster);
    if (lost_.contains(exit) || !missing_way(*plan_, host_, exit).empty()) continue;
    post(news(of, exit, of.round == 0 ? 1 : 2 + of.round));
  }
}

void Lanes::tell_all(Gathering& of) {
  of.is_everywhere = true;
  for (const std::uint32_t host : of.mine)
    if (host != host_ && !lost_.contains(host)) post(news(of, host, 2));
}

/// Of a host with which nothing was exchanged nobody would hear that it is gone.
void Lanes::look_at_undone() {
  const std::uint32_t here = plan_->hosts[host_].cluster;
  for (std::uint32_t host = 0; host < plan_->hosts.size(); ++host)
    if (plan_->hosts[host].cluster == here && host != host_ && !lost_.contains(host))
      post(control(LaneKind::look, host, 0));
  for (std::size_t round = 0;; ++round) {
    const auto sources = clusters_in_round(*plan_, here, round, false);
    if (sources.empty()) return;
    for (const std::uint32_t cluster : sources)
      if (const std::uint32_t exit = exit_of(*plan_, cluster);
          missing_way(*plan_, host_, exit).empty() && !lost_.contains(exit))
        post(control(LaneKind::look, exit, 0));
  }
}

void Lanes::take_news(Gathering& of, const LaneFrame& frame) {
  if (frame.bytes == 2)
    of.is_everywhere = true;
  else if (frame.bytes == 0)
    of.hosts.insert(frame.source);
  else if (const std::uint64_t round = frame.bytes == 1 ? 0 : frame.bytes - 2;
           round < plan_->clusters.size())  // none has more: what is kept is bounded
    of.heard.emplace(round, plan_->hosts[frame.source].cluster);
  gather(of);
}

}  // namespace paths
