// SPDX-License-Identifier: Apache-2.0
// paths/messages/group_state.cpp — closed and failed channels of a group
#include "paths/messages/group_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace paths {

bool GroupState::has(std::uint32_t host) const {
  return std::binary_search(hosts->begin(), hosts->end(), host);
}

OutboundChannel& GroupState::lane_to(std::uint32_t target) {
  const auto [lane, is_new] = out.try_emplace(target);
  lane->second.group = id;
  lane->second.target = target;
  return lane->second;
}

const GroupState::Failed* GroupState::failure_of(std::uint64_t channel) const {
  const auto after = failed.upper_bound(channel);
  if (after == failed.begin()) return nullptr;
  const auto& [first, entry] = *std::prev(after);
  return channel <= entry.last ? &entry : nullptr;
}

bool GroupState::fail(const Channels& which, const std::string& why, FailureCause cause) {
  bool is_new = false;
  for (std::uint64_t at = which.first;; ++at) {
    const auto after = failed.upper_bound(at);
    std::uint64_t last =
        after == failed.end() ? which.last : std::min(which.last, after->first - 1);
    if (failure_of(at) != nullptr) {
      last = std::prev(after)->second.last;
    } else {
      failed[at] = {last, why, cause, {}, false};
      is_new = true;
    }
    if (last >= which.last) return is_new;
    at = last;
  }
}

void GroupState::mark_mismatch(std::uint64_t channel) {
  if (const auto entry = failed.find(channel); entry != failed.end())
    entry->second.is_mismatch = true;
}

/// Closes channels. A failed channel then also counts as closed if all channels with lower numbers
/// are closed or failed. Exception: a failed range without an upper end does not count as closed.
void GroupState::close(const Channels& which, std::shared_ptr<const std::string> what) {
  if (which.first == closed_before)
    closed_before = which.last + 1;
  else
    for (std::uint64_t channel = which.first; channel <= which.last; ++channel)
      closed.insert(closed.end(), channel);
  meanings.erase(meanings.lower_bound(which.first), meanings.upper_bound(which.last));
  forget_closed();
  last_closed = {which.last, std::move(what)};
  for (auto& [peer, lane] : out) lane.window.forget_channels(which.first, which.last);
  for (auto& [peer, lane] : in) lane->close(which);
}

void GroupState::note_purpose(std::uint64_t channel, std::uint64_t signature_digest) {
  closed_purposes[channel] = signature_digest;
  if (closed_purposes.size() > EndedChannels::purposes_max)
    closed_purposes.erase(closed_purposes.begin());
}

void GroupState::close_ended() {
  ended->take([this](const Channels& which, const auto& digest_of,
                     const std::shared_ptr<const std::string>& what) {
    const std::uint64_t others = which.last - which.first;
    const std::uint64_t known = std::min<std::uint64_t>(others, EndedChannels::purposes_max - 1);
    for (std::uint64_t channel = which.last - known; channel <= which.last; ++channel)
      note_purpose(channel, digest_of(channel));
    close(which, what);
  });
}

void GroupState::forget_closed() {
  for (;;) {
    const auto entry = failed.upper_bound(closed_before);
    if (closed.erase(closed_before) > 0)
      ++closed_before;
    else if (failure_of(closed_before) != nullptr &&
             std::prev(entry)->second.last != Channels().last)
      closed_before = std::prev(entry)->second.last + 1;
    else
      break;
  }
  meanings.erase(meanings.begin(), meanings.lower_bound(closed_before));
}

std::string GroupState::text_of_closed(std::uint64_t channel) const {
  const auto& [last, what] = last_closed;
  return fmt::format("a message on channel {} of group {}, which is closed{}", channel, name,
                     last == channel && what != nullptr ? fmt::format(" after '{}'", *what) : "");
}

}  // namespace paths
