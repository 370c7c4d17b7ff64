// SPDX-License-Identifier: Apache-2.0
// paths/messages/gathering.cpp — reports from hosts to exits, between exits, and back to hosts
#include "paths/messages/gathering.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "paths/plan/exits.hpp"
#include "paths/plan/ways.hpp"

namespace paths {
namespace {

/// Kinds of reports, which are stored in LaneFrame::bytes: of one host, of a cluster in round 0, of
/// all hosts. The report of a cluster in round n > 0 has the kind 2 + n.
constexpr std::uint64_t of_host = 0, of_cluster = 1, of_all = 2;
/// Value of progress() on a host that knows that the fact holds for all hosts.
constexpr std::uint64_t knows_all = std::numeric_limits<std::uint64_t>::max();

}  // namespace

bool Gathering::is_exit() const { return state_.host == exit_of(*state_.plan, state_.cluster()); }

void Gathering::begin() {
  is_here_ = true;
  hosts_.insert(state_.host);
}

void Gathering::take(const LaneFrame& frame) {
  if (!may_report(frame)) return state_.reject(frame.source, "a report about hosts of others");
  if (frame.bytes == of_all)
    is_everywhere_ = true;
  else if (frame.bytes == of_host)
    hosts_.insert(frame.source);
  else if (const std::uint64_t round = frame.bytes == of_cluster ? 0 : frame.bytes - 2;
           // This check limits the size of heard_. No run has more rounds than clusters.
           round < state_.plan->clusters.size())
    heard_.emplace(round, state_.plan->hosts[frame.source].cluster);
  resume();
}

/// Returns whether the source of a report may send this kind of report. Each host may report its
/// own state. Only exits may report for clusters. Only the exit of this cluster may report for all
/// hosts.
bool Gathering::may_report(const LaneFrame& frame) const {
  const Plan& plan = *state_.plan;
  const std::uint32_t cluster = plan.hosts[frame.source].cluster;
  if (frame.bytes == of_host) return true;
  const bool is_near = state_.is_switch() || cluster == state_.cluster();
  return frame.source == exit_of(plan, cluster) && (frame.bytes != of_all || is_near);
}

void Gathering::resume() {
  if (!is_here_ || is_everywhere_) return;
  const Plan& plan = *state_.plan;
  const std::uint32_t here = state_.cluster(), exit = exit_of(plan, here);
  if (state_.host != exit) {
    if (lost_.has(exit)) return notify_all();
    if (!std::exchange(is_notified_, true)) state_.post(news(exit, of_host));
    return;
  }
  if (mine_.empty())
    for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
      if (plan.hosts[host].cluster == here) mine_.push_back(host);
  for (const std::uint32_t host : mine_)
    if (!hosts_.contains(host) && !lost_.has(host)) return;
  for (;; ++round_, is_notified_ = false) {
    const auto sources = clusters_in_round(plan, here, round_, false);
    if (sources.empty()) return notify_all();
    if (!std::exchange(is_notified_, true)) tell_clusters();
    for (const std::uint32_t cluster : sources)
      if (!heard_.contains({round_, cluster}) && !lost_.has_cluster(cluster)) return;
  }
}

std::uint64_t Gathering::progress() const {
  if (is_everywhere_) return knows_all;
  return is_here_ ? 1 + round_ + (is_notified_ ? 1 : 0) : 0;
}

std::uint64_t Gathering::progress_needed(std::uint32_t of) const {
  if (!is_exit()) return knows_all;
  return state_.plan->hosts[of].cluster == state_.cluster() ? 1 : 2 + round_;
}

std::vector<std::uint32_t> Gathering::awaited() const {
  const std::uint32_t here = state_.cluster(), exit = exit_of(*state_.plan, here);
  if (state_.host != exit) return {exit};
  std::vector<std::uint32_t> hosts;
  for (const std::uint32_t host : mine_)
    if (!hosts_.contains(host) && !lost_.has(host)) hosts.push_back(host);
  if (!hosts.empty()) return hosts;
  for (const std::uint32_t cluster : clusters_in_round(*state_.plan, here, round_, false))
    if (!heard_.contains({round_, cluster}) && !lost_.has_cluster(cluster))
      hosts.push_back(exit_of(*state_.plan, cluster));
  return hosts;
}

/// The text names no host that has given no sign of life, because the connections of paths report
/// such hosts.
std::string Gathering::awaited_text() const {
  const Plan& plan = *state_.plan;
  const std::set<std::uint32_t> silent = state_.carrier.silent();
  for (const std::uint32_t host : awaited()) {
    if (silent.contains(host)) continue;
    if (!is_exit())
      return fmt::format("all hosts of the run to connect; host {} reports when they have",
                         plan.hosts[host].name);
    if (plan.hosts[host].cluster != state_.cluster())
      return fmt::format("the hosts of cluster {} to connect; host {} reports when they have",
                         plan.cluster_of(host), plan.hosts[host].name);
  }
  return {};
}

LaneFrame Gathering::news(std::uint32_t target, std::uint64_t bytes) const {
  LaneFrame frame = state_.control(kind_, target, 0);
  frame.bytes = bytes;
  frame.is_at_once = kind_ == LaneKind::here;  // prevents a delay of the start by emulated links
  return frame;
}

/// Sends the reports of the current round to the exits of other clusters. The fact then holds for
/// this cluster, and for all clusters that reported to it in earlier rounds.
void Gathering::tell_clusters() {
  const Plan& plan = *state_.plan;
  for (const std::uint32_t cluster : clusters_in_round(plan, state_.cluster(), round_, true)) {
    const std::uint32_t exit = exit_of(plan, cluster);
    if (lost_.has(exit) || !missing_way(plan, state_.host, exit).empty()) continue;
    state_.post(news(exit, round_ == 0 ? of_cluster : 2 + round_));
  }
}

void Gathering::notify_all() {
  is_everywhere_ = true;
  for (const std::uint32_t host : mine_)
    if (host != state_.host && !lost_.has(host)) state_.post(news(host, of_all));
}

// ---- switches ---------------------------------------------------------------------------------

void Gathering::note_host(std::uint32_t host) { hosts_.insert(host); }

void Gathering::look_at_hosts() {
  const Plan& plan = *state_.plan;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (switch_number(plan, plan.hosts[host].cluster) == state_.host && !hosts_.contains(host) &&
        !lost_.has(host))
      return;
  is_everywhere_ = true;
}

}  // namespace paths
