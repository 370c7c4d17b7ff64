// SPDX-License-Identifier: Apache-2.0
// paths/connections/liveness.cpp — losses of connections and peers, and their reports
#include "paths/connections/liveness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace paths {

LivenessTimes Liveness::times() const {
  const Peers& peers = parts_.table.peers();
  if (!is_ending_) return peers.liveness;
  const bool has_failed = !parts_.sender.failure().empty();
  return peers.liveness.at_most(has_failed ? std::min(parting_time, peers.deadline)
                                           : peers.deadline);
}

void Liveness::look_after_peers() {
  const LivenessTimes now = times();
  const std::vector<SilentPeer> silent = look(now);
  parts_.queue.send_posted();
  for (const SilentPeer& one : silent) judge(one, now);
}

/// Notes the frames of a connection since the previous call.
void Liveness::note_frames(Connection& connection) {
  PeerTable::Peer& peer = parts_.peers[connection.peer];
  if (std::exchange(connection.is_received, false)) {
    peer.signs.note_arrival();
    peer.has_restarted = false;
  }
  if (std::exchange(connection.is_sent, false)) peer.signs.note_departure();
}

/// Checks all peers. Posts heartbeats to the peers that need one, and returns the peers that have
/// been silent for too long.
std::vector<Liveness::SilentPeer> Liveness::look(const LivenessTimes& times) {
  struct Open {
    Connection* one = nullptr;
    std::vector<ConnectionId> all;
  };
  std::vector<SilentPeer> silent;
  const base::Nanos now = parts_.table.runtime().now();
  const runtime::Lock lock(parts_.table.mutex());
  const bool was_stopped = stops_.was_stopped(now, times);
  std::map<std::uint32_t, Open> open;
  for (const auto& [id, connection] : parts_.table.all()) {
    if (!connection->known || !connection->lost.empty()) continue;
    note_frames(*connection);
    if (connection->has_closed || (connection->is_ours && !connection->is_welcome)) continue;
    Open& peer = open[connection->peer];
    peer.one = &*connection;
    peer.all.push_back(id);
  }
  for (auto& [host, peer] : open) {
    SignsOfLife& signs = parts_.peers[host].signs;
    if (was_stopped) signs.note_arrival();
    if (const base::Nanos silence = signs.look(now); silence >= times.silent)
      silent.push_back({host, silence, std::move(peer.all)});
    else if (signs.needs_beat(now, times.beat))
      parts_.sender.post(*peer.one, FrameKind::heartbeat);
  }
  return silent;
}

/// Declares a silent peer lost, unless bytes of an unfinished frame have arrived from it lately.
void Liveness::judge(const SilentPeer& silent, const LivenessTimes& times) {
  PeerContact contact;
  for (const ConnectionId connection : silent.connections) {
    contact = parts_.table.transport().contact(connection);
    if (!contact.since_bytes || *contact.since_bytes >= times.silent) continue;
    const runtime::Lock lock(parts_.table.mutex());
    return parts_.peers[silent.host].signs.note_arrival();
  }
  std::string place;
  bool has_restarted = false;
  {
    const runtime::Lock lock(parts_.table.mutex());
    place = parts_.peers.place_of(silent.host);
    has_restarted = parts_.peers[silent.host].has_restarted;
  }
  const std::string state =
      has_restarted ? with_age(restarted, silent.silence) : silence_text(contact, silent.silence);
  give_up(silent.host, fmt::format("{} ({})", state, place));
}

/// Returns the age of the last frame of a peer; nullopt if it is unknown.
std::optional<base::Nanos> Liveness::age_of(std::uint32_t peer) {
  for (const auto& [id, connection] : parts_.table.all())
    if (connection->known && connection->peer == peer) note_frames(*connection);
  return parts_.peers[peer].signs.age(parts_.table.runtime().now());
}

void Liveness::note_restart(std::uint32_t peer) {
  age_of(peer);  // notes the frames that arrived before the restart
  parts_.peers[peer].has_restarted = true;
}

bool Liveness::lose_restarted(std::uint32_t peer, runtime::DeferredWakes& wakes) {
  return lose_peer(peer, Which::all, with_age(restarted, age_of(peer)), wakes);
}

void Liveness::give_up(std::uint32_t peer, const std::string& why) {
  {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(parts_.table.mutex());
    if (!lose_peer(peer, Which::all, why, wakes)) return;
    parts_.peers.note_given_up(fmt::format("host {} is gone: {}", parts_.table.name_of(peer), why));
  }
  parts_.queue.send_posted();
  notify_gone(peer, why, false);
}

void Liveness::notify_gone(std::uint32_t peer, const std::string& why, bool has_closed) {
  {
    const runtime::Lock lock(parts_.table.mutex());
    if (parts_.meeting.has_failed()) return;
  }
  gone_(peer, why, has_closed);
}

void Liveness::abandon(const std::string& why) {
  {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(parts_.table.mutex());
    parts_.meeting.note_abandoned(why);
    for (const auto& [id, connection] : parts_.table.all()) {
      if (!connection->known || !connection->lost.empty()) continue;
      parts_.sender.post(*connection, parts_.table.refusal(why));
      lose(*connection, why, wakes);
    }
  }
  parts_.queue.send_posted();
}

void Liveness::take_loss(ConnectionId id, const std::string& reason) {
  bool is_gone = false;
  std::uint32_t peer = 0;
  std::string why = reason;
  {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(parts_.table.mutex());
    Connection* const connection = parts_.table.find(id);
    if (connection == nullptr) return;
    peer = connection->peer;
    if (connection->known) {
      const std::optional<base::Nanos> age = age_of(peer);
      why = with_age(parts_.peers[peer].has_restarted ? restarted : reason, age);
    }
    lose(*connection, why, wakes);
    const bool is_expected = connection->is_ours && connection->has_closed;
    is_gone = connection->known && !is_expected && lose_peer(peer, Which::not_met, why, wakes);
  }
  parts_.queue.send_posted();
  if (is_gone) notify_gone(peer, why, false);
}

void Liveness::lose(Connection& connection, const std::string& reason,
                    runtime::DeferredWakes& wakes) {
  if (!connection.lost.empty()) return;
  connection.lost = reason.empty() ? "connection lost" : reason;
  connection.each_call([&](PendingCall& call) {
    call.lost = connection.lost;
    call.tell(wakes);
  });
  connection.held.clear();
  parts_.queue.drop(connection);
  parts_.queue.parting().wake_all(wakes);
}

bool Liveness::lose_peer(std::uint32_t peer, Which which, const std::string& why,
                         runtime::DeferredWakes& wakes) {
  for (const auto& [id, connection] : parts_.table.all())
    if (connection->known && connection->peer == peer &&
        (which == Which::all || (connection->is_ours && !connection->is_welcome)))
      lose(*connection, why, wakes);
  parts_.meeting.fail(fmt::format("host {}: {}", parts_.table.name_of(peer), why), wakes);
  parts_.meeting.note_change(wakes);
  return parts_.peers.depart(peer, why);
}

void Liveness::reject(Connection& connection, const Rejection& rejection,
                      runtime::DeferredWakes& wakes) {
  parts_.rejections.tell(parts_.table.transport().source(connection.id),
                         "refused: " + rejection.reason);
  parts_.sender.post(connection, refusal_of_stranger(rejection.word));
  lose(connection, rejection.reason, wakes);
}

bool Liveness::refuse(Connection& connection, const std::string& wrong,
                      runtime::DeferredWakes& wakes) {
  const std::uint32_t peer = connection.peer;
  const std::string reason = fmt::format("host {} refuses host {}: it sent {}", parts_.table.name(),
                                         parts_.table.name_of(peer), wrong);
  for (const auto& [id, other] : parts_.table.all()) {
    if (!other->known || other->peer != peer || !other->lost.empty()) continue;
    parts_.sender.post(*other, parts_.table.refusal(reason));
  }
  return lose_peer(peer, Which::all, reason, wakes);
}

void Liveness::refuse(ConnectionId id, const std::string& wrong) {
  std::uint32_t peer = 0;
  std::string reason;
  {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(parts_.table.mutex());
    Connection* const connection = parts_.table.find(id);
    if (connection == nullptr || !connection->lost.empty()) return;
    peer = connection->peer;
    if (!refuse(*connection, wrong, wakes)) return;
    reason = connection->lost;
  }
  parts_.queue.send_posted();
  notify_gone(peer, reason, false);
}

TravelError Liveness::refuse_answer(std::uint32_t host, StageId stage, std::uint32_t path,
                                    const std::string& wrong) {
  Connection* connection = nullptr;
  {
    const runtime::Lock lock(parts_.table.mutex());
    // The pointer stays valid, because connections that this host made are never erased.
    connection = &parts_.sender.connection_to(host, stage);
  }
  refuse(connection->id, wrong);
  const runtime::Lock lock(parts_.table.mutex());
  return parts_.table.gone(*connection, path);
}

}  // namespace paths
