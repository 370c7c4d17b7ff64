// SPDX-License-Identifier: Apache-2.0
// paths/messages/lanes_failures.cpp — channels that fail, hosts that are lost, frames that are
// refused.
#include <fmt/format.h>

#include <algorithm>

#include "paths/messages/lanes.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/exits.hpp"

namespace paths {

const std::string* Lanes::Group::why_failed(std::uint64_t channel) const {
  const auto after = failed.upper_bound(channel);
  if (after == failed.begin()) return nullptr;
  const auto& [first, entry] = *std::prev(after);
  return channel <= entry.last ? &entry.why : nullptr;
}

bool Lanes::Group::fail(const Channels& which, const std::string& why) {
  bool is_new = false;
  for (std::uint64_t at = which.first;; ++at) {
    const auto after = failed.upper_bound(at);
    std::uint64_t last =
        after == failed.end() ? which.last : std::min(which.last, after->first - 1);
    if (why_failed(at) != nullptr) {
      last = std::prev(after)->second.last;
    } else {
      failed[at] = {last, why, {}, false};
      is_new = true;
    }
    if (last >= which.last) return is_new;
    at = last;
  }
}

void Lanes::Group::mark_mismatch(std::uint64_t channel) {
  if (const auto entry = failed.find(channel); entry != failed.end())
    entry->second.is_mismatch = true;
}

/// Those that have failed are done with, too, unless nothing comes behind them.
void Lanes::Group::close(std::uint64_t channel) {
  if (channel == closed_before)
    ++closed_before;
  else
    closed.insert(channel);
  meanings.erase(channel);
  forget_closed();
}

void Lanes::Group::forget_closed() {
  for (;;) {
    const auto entry = failed.upper_bound(closed_before);
    if (closed.erase(closed_before) > 0)
      ++closed_before;
    else if (why_failed(closed_before) != nullptr &&
             std::prev(entry)->second.last != Channels().last)
      closed_before = std::prev(entry)->second.last + 1;
    else
      break;
  }
  meanings.erase(meanings.begin(), meanings.lower_bound(closed_before));
}

/// What was heard of them is passed on: who said so first may not have come to say it to all.
void Lanes::fail_channels(std::uint64_t id, const Channels& which, const std::string& why) {
  runtime::Lock lock(mutex_);
  Group* const group = find(id);
  if (group == nullptr) return;
  end_channels(*group, which, why);
  for (auto& [first, failed] : group->failed) {
    const bool is_meant = first <= which.last && which.first <= failed.last;
    if (!is_meant || std::exchange(failed.is_told, true)) continue;
    for (const std::uint32_t peer : *group->hosts) {
      const bool has_lane = group->out.contains(peer) || group->in.contains(peer);
      if (has_lane && !group->over.contains(peer) && !failed.knowing.contains(peer))
        tell_failed(*group, peer, first);
    }
  }
  settle(lock);
}

void Lanes::fail(const Group& group, std::uint32_t peer, const Waits& waits,
                 const std::string& reason) {
  if (waits.empty()) return;
  is_failure_delivered_ = true;
  // What the other host said when it left is said already.
  const bool is_said = group.said.contains(peer);
  const auto failure = std::make_shared<TravelError>(
      name_, "", "",
      is_said
          ? reason
          : fmt::format("group {}, lane with host {}: {}", group.name, host_text(peer), reason));
  for (const auto& wait : waits) {
    wait->failure = failure;
    ended_.push_back(wait);
  }
}

/// Nothing more comes from that host, nor goes there.
void Lanes::end_lanes(Group& group, std::uint32_t peer, const std::string& reason) {
  group.over[peer] = reason;
  fail(group, peer, outgoing_.drop(lane_to(group, peer)), reason);
  fail(group, peer, lane_from(group, peer).drop(), reason);
  issue_to_short();
}

/// The same for all whose way leads to or through a host that is gone.
void Lanes::end_lanes_over(Group& group, std::uint32_t host, const std::string& reason) {
  for (const std::uint32_t peer : *group.hosts)
    if (peer != host_ && !group.over.contains(peer) &&
        (peer == host || way_leads_through(*plan_, host_, peer, host) ||
         way_leads_through(*plan_, peer, host_, host)))
      end_lanes(group, peer, fmt::format("{} is gone: {}", place_text(*plan_, host), reason));
}

/// False when that was known, or is nothing any more.
bool Lanes::count_out(std::uint32_t host, const std::string& reason) {
  if (host == host_ || end_.is_everywhere || !lost_.emplace(host, reason).second) return false;
  for (auto& [id, group] : groups_) end_lanes_over(*group, host, reason);
  if (is_switch()) {
    see_whether_hosts_are_over();
  } else {
    gather(begin_);
    gather(end_);
  }
  return true;
}

/// Without the key `lanes` a host of the only cluster that deals with a lost one sees that itself.
bool Lanes::tells_of_losses() const {
  return plan_->clusters.size() > 1 || plan_->lanes.is_written;
}

/// The same, and other hosts receive it.
void Lanes::lose(std::uint32_t host, const std::string& reason) {
  if (host != host_) carrier_.forget(host);
  if (!count_out(host, reason)) return;
  if (first_loss_.empty())
    first_loss_ = fmt::format("{} is gone: {}", place_text(*plan_, host), reason);
  if (!tells_of_losses()) return;
  for (const std::uint32_t neighbour : neighbours_) {
    if (lost_.contains(neighbour) || (is_switch() && end_.hosts.contains(neighbour))) continue;
    tell_neighbour(neighbour, lost_frame(neighbour, host, reason));
  }
}

/// Who waits for all threads of a cluster may have nothing to do with a host that is lost. Not of
/// one that has ended: others have, too, then, and are told no more.
void Lanes::tell_exit(std::uint32_t host, const std::string& reason) {
  if (is_switch() || runtime_.is_virtual() || !plan_->lanes.is_written || end_.is_everywhere)
    return;
  const std::uint32_t exit = exit_of(*plan_, plan_->hosts[host_].cluster);
  if (exit != host_ && !lost_.contains(exit)) tell_neighbour(exit, lost_frame(exit, host, reason));
}

/// That what comes for it from `from` by this host will not get there.
void Lanes::tell_of_loss(std::uint32_t from, const LaneFrame& frame) {
  const auto on_way = std::find_if(lost_.begin(), lost_.end(), [&](const auto& lost) {
    const std::uint32_t place = lost.first;
    return place == frame.target ||
           (!is_switch() && way_leads_through(*plan_, host_, frame.target, place));
  });
  if (on_way == lost_.end() || ended_hosts_.contains(on_way->first)) return;
  const auto& [place, why] = *on_way;
  if (is_switch())
    tell_neighbour(from, lost_frame(from, place, why));
  else if (missing_way(*plan_, host_, frame.source).empty())
    post(lost_frame(frame.source, place, why));
}

LaneFrame Lanes::lost_frame(std::uint32_t target, std::uint32_t host,
                            const std::string& reason) const {
  LaneFrame lost = control(LaneKind::lost, target, 0);
  lost.bytes = host;
  lost.text = reason;
  return lost;
}

/// What a switch says itself takes no link.
void Lanes::tell_neighbour(std::uint32_t place, LaneFrame frame) {
  if (is_switch())
    departures_.leaving().emplace_back(place, std::move(frame));
  else
    post(std::move(frame));
}

void Lanes::fail_as_said(const Waits& waits, const std::string& reason) {
  if (waits.empty()) return;
  is_failure_delivered_ = true;
  const auto failure = std::make_shared<TravelError>(name_, "", "", reason);
  for (const auto& wait : waits) {
    wait->failure = failure;
    ended_.push_back(wait);
  }
}

void Lanes::refuse(const LaneFrame& frame, const std::string& wrong) {
  const std::string text = fmt::format("host {} was sent {}", name_, wrong);
  complaints_.tell(fmt::format("host {}", host_text(frame.source)),
                   fmt::format("lanes: refused: {}", wrong));
  LaneFrame refused = control(LaneKind::refused, frame.source, frame.group);
  refused.text = text;
  post(std::move(refused));
  Group* group = find(frame.group);
  if (group != nullptr && group->has(frame.source))
    end_lanes(*group, frame.source, fmt::format("it sent {}", wrong));
}

std::string Lanes::Group::text_of_closed(std::uint64_t channel) const {
  const auto& [last, what] = last_closed;
  return fmt::format("a message on channel {} of group {}, which is closed{}", channel, name,
                     last == channel && what != nullptr ? fmt::format(" after '{}'", *what) : "");
}

/// Where two differ the group's hosts have parted ways: what comes behind it is not the same to
/// them, either.
void Lanes::see_meaning(Group& group, std::uint64_t channel, const Group::Meaning& said) {
  if (group.is_closed(channel) || group.why_failed(channel) != nullptr) return;
  const Group::Meaning& known = group.meanings.emplace(channel, said).first->second;
  if (known.meaning == said.meaning) return;
  std::string what = group.options.describe ? group.options.describe(channel) : "";
  if (!what.empty()) what.insert(0, "; ");
  end_channels(group, {.first = channel},
               fmt::format("hosts {} and {} take a message on channel {} for different ones{}",
                           host_text(known.host), host_text(said.host), channel, what));
  group.mark_mismatch(channel);
  if (known.host != host_) tell_failed(group, known.host, channel);
}

void Lanes::end_channels(Group& group, const Channels& which, const std::string& why) {
  if (!group.fail(which, why)) return;
  for (auto& [peer, lane] : group.out) fail_as_said(outgoing_.drop(lane, which), why);
  for (auto& [peer, lane] : group.in) fail_as_said(lane->close(which), why);
  for (auto& [peer, lane] : group.in) issue_returned(group, peer);
}

void Lanes::tell_failed(Group& group, std::uint32_t peer, std::uint64_t channel) {
  const auto& [first, entry] = *std::prev(group.failed.upper_bound(channel));
  LaneFrame failed = control(LaneKind::failed, peer, group.id);
  failed.channel = first;
  failed.bytes = entry.last;
  failed.meaning = entry.is_mismatch ? 1 : 0;
  failed.text = entry.why;
  post(std::move(failed));
}

void Lanes::take_failed(Group& group, const LaneFrame& frame) {
  if (frame.bytes < frame.channel) return;
  end_channels(group, {frame.channel, frame.bytes}, frame.text);
  if (frame.meaning != 0) group.mark_mismatch(frame.channel);
  for (auto entry = group.failed.lower_bound(frame.channel);
       entry != group.failed.end() && entry->first <= frame.bytes; ++entry)
    entry->second.knowing.insert(frame.source);
}

}  // namespace paths
