// SPDX-License-Identifier: Apache-2.0
// bench/lane_traffic/lane_rounds.cpp — synchronized rounds of messages, and their times
#include "bench/lane_traffic/lane_rounds.hpp"

#include <algorithm>
#include <stdexcept>

#include "groups/clocked_run.hpp"
#include "paths/host/host.hpp"

namespace bench {
namespace {

/// Channel on which the first host and the other hosts synchronize. Measured messages use different
/// channels.
constexpr std::uint64_t words = 0;

}  // namespace

void LaneRounds::prepare(const paths::Plan& plan) {
  std::vector<std::vector<std::uint32_t>> clusters(plan.clusters.size());
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    if (plan.hosts[host].threads == 0) continue;
    hosts_.push_back(host);
    clusters[plan.hosts[host].cluster].push_back(host);
  }
  if (options_.pattern == "incast") {
    for (std::size_t i = 1; i < hosts_.size(); ++i) pairs_.emplace_back(hosts_[i], hosts_[0]);
  } else if (clusters.size() > 1) {
    for (std::size_t i = 0; i < std::min(clusters[0].size(), clusters[1].size()); ++i)
      pairs_.emplace_back(clusters[0][i], clusters[1][i]);
  }
  if (pairs_.empty())
    throw std::invalid_argument("pattern " + options_.pattern + ": the config has no hosts for it");
  message_ = base::Payload::filled(options_.bytes, [](std::span<std::byte> place) {
    for (std::size_t i = 0; i < place.size(); ++i) place[i] = static_cast<std::byte>(i * i / 7);
  });
}

void LaneRounds::run(paths::Thread& thread) {
  if (thread.index() != 0) return;
  const auto group = thread.host().lanes().group("rounds", hosts_);
  for (std::uint64_t round = 0; round < options_.rounds; ++round) send_and_receive(thread, *group);
  group->leave();
  std::sort(took_.begin(), took_.end());
}

void LaneRounds::send_and_receive(paths::Thread& thread, paths::MessageGroup& group) {
  const std::uint32_t self = thread.host().index(), first = hosts_.front();
  const auto now = [&] { return groups::common_clock(thread); };
  base::Nanos begin{0};
  if (self == first) {
    begin = now() + std::chrono::milliseconds(100);
    for (const std::uint32_t host : hosts_)
      if (host != first) group.send(host, words, base::Payload::of(begin));
  } else {
    begin = group.receive(first, words).wait().payload.read<base::Nanos>();
  }
  std::vector<std::pair<std::uint32_t, runtime::Handle<paths::Received>>> coming;
  for (const auto& [from, to] : pairs_)
    if (to == self) coming.emplace_back(from, group.receive(from, 1));
  groups::sleep_until_common(thread, begin);
  std::vector<runtime::Handle<void>> leaving;
  for (const auto& [from, to] : pairs_)
    if (from == self) leaving.push_back(group.send(to, 1, message_));
  bool is_whole = true;
  for (auto& [from, receiving] : coming)
    is_whole = receiving.wait().payload == message_ && is_whole;
  base::Nanos took = coming.empty() ? base::Nanos(0) : now() - begin;
  if (!is_whole) throw std::runtime_error("received bytes differ from those that were sent");
  for (auto& one : leaving) one.wait();
  if (self != first) {
    group.send(first, words, base::Payload::of(took)).wait();
    return;
  }
  for (const std::uint32_t host : hosts_)
    if (host != first)
      took = std::max(took, group.receive(host, words).wait().payload.read<base::Nanos>());
  took_.push_back(static_cast<double>(took.count()) / 1e6);
}

}  // namespace bench
