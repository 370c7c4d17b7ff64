// SPDX-License-Identifier: Apache-2.0
// paths/connections/goodbyes.cpp — exchange of goodbyes, with a deadline for each step
#include "paths/connections/goodbyes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace paths {

void Goodbyes::part(runtime::Deadline deadline) {
  {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(table_.mutex());
    for (const auto& [id, connection] : table_.all()) {
      if (!connection->is_ours || !connection->lost.empty()) continue;
      connection->is_parting = true;
      sender_.post_held(*connection, wakes);
    }
  }
  queue_.send_posted();
  await_answers(deadline);
  if (table_.watches_peers()) close_to_remaining_peers();
}

/// Sends goodbyes to peers that run longer than this host. The paths of these peers into this host
/// have been released. The goodbye tells a peer that the end of this host is not a loss.
void Goodbyes::close_to_remaining_peers() {
  {
    const runtime::Lock lock(table_.mutex());
    for (const auto& [id, connection] : table_.all()) {
      if (connection->is_ours || !connection->known || connection->has_closed ||
          !connection->lost.empty())
        continue;
      sender_.post_goodbye(*connection);
    }
  }
  queue_.send_posted();
}

/// Returns for each peer the number of steps that remain until its connections have ended. The
/// steps are the frames that this host still holds for the peer, and the peer's missing replies to
/// goodbyes of this host.
/// Requires: the mutex is held.
std::map<std::uint32_t, std::size_t> Goodbyes::unfinished() const {
  std::map<std::uint32_t, std::size_t> left;
  for (const auto& [id, connection] : table_.all())
    if (connection->is_ours && !connection->has_closed && connection->lost.empty())
      left[connection->peer] += 1 + connection->held.size();
  return left;
}

/// Waits until all peers have replied to the goodbyes of this host. The duration from now until
/// `deadline` limits each single step (unfinished()) of a peer. The limit of a step starts when the
/// peer has completed the step before. A slow peer does not use up the time of other peers.
void Goodbyes::await_answers(runtime::Deadline deadline) {
  runtime::Runtime& runtime = table_.runtime();
  const base::Nanos patience = deadline.at - runtime.now();
  // Maps each peer to its number of outstanding steps and the time limit of its next step.
  std::map<std::uint32_t, std::pair<std::size_t, base::Nanos>> last_step;
  bool is_late = false;
  runtime::Lock lock(table_.mutex());
  for (;;) {
    const auto left = unfinished();
    if (left.empty() && !queue_.is_sending()) return;
    deadline.at = base::Nanos::max();
    for (const auto& [peer, count] : left) {
      const auto step = std::pair(count, runtime.now() + patience);
      auto& last = last_step.try_emplace(peer, step).first->second;
      if (count < last.first) last = step;
      if (is_late && last.second <= runtime.now()) {
        forgo(peer, patience);
      } else {
        deadline.at = std::min(deadline.at, last.second);
      }
    }
    if (unfinished().empty() && !queue_.is_sending()) return;
    is_late =
        queue_.parting().wait(lock, deadline, {"replies to the goodbyes of host", table_.name()}) ==
        runtime::Woken::expired;
  }
}

/// Stops waiting for a peer's replies to the goodbyes of this host.
/// Requires: the mutex is held.
void Goodbyes::forgo(std::uint32_t peer, base::Nanos patience) {
  for (const auto& [id, connection] : table_.all())
    if (connection->is_ours && connection->peer == peer) connection->has_closed = true;
  peers_.note_given_up(fmt::format("host {} gave no sign of life at the end for {}",
                                   table_.name_of(peer), base::format_time(patience)));
}

bool Goodbyes::take(Connection& connection, runtime::DeferredWakes& wakes) {
  connection.has_closed = true;
  if (connection.is_ours) {
    queue_.parting().wake_all(wakes);
    return false;
  }
  if (!connection.has_said_goodbye) sender_.post_goodbye(connection);
  PeerTable::Peer& peer = peers_[connection.peer];
  return ++peer.parted_from == peer.comes_on.size() && peers_.depart(connection.peer, has_ended);
}

}  // namespace paths
