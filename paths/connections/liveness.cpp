// SPDX-License-Identifier: Apache-2.0
// paths/connections/liveness.cpp — losses of connections and peers, and their reports
#include "paths/connections/liveness.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace paths {
namespace {

constexpr std::uint32_t looks_per_deadline = 4;

}  // namespace

base::Nanos Liveness::look_pause() const {
  return parts_.table.peers().deadline / looks_per_deadline;
}

void Liveness::look_after_peers() {
  std::vector<std::pair<std::uint32_t, std::string>> silent;  // silent hosts and their addresses
  {
    const runtime::Lock lock(parts_.table.mutex());
    std::map<std::uint32_t, Connection*> asked;
    std::set<std::uint32_t> heard;
    for (const auto& [id, connection] : parts_.table.all()) {
      if (!connection->known || !connection->lost.empty()) continue;
      if (std::exchange(connection->is_received, false)) heard.insert(connection->peer);
      if (!connection->is_ours && !connection->has_closed) asked[connection->peer] = &*connection;
    }
    for (const auto& [host, connection] : asked) {
      Silence& silence = parts_.peers[host].silence;
      if (heard.contains(host)) silence.end();
      if (silence.look() < looks_per_deadline) {
        parts_.sender.post(*connection, FrameKind::heartbeat);
      } else {
        silent.emplace_back(host, parts_.peers.place_of(host));
      }
    }
  }
  parts_.queue.send_posted();
  for (const auto& [peer, place] : silent)
    give_up(peer, fmt::format("it gave no sign of life for {} ({})",
                              base::format_time(parts_.table.peers().deadline), place));
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
  {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(parts_.table.mutex());
    Connection* const connection = parts_.table.find(id);
    if (connection == nullptr) return;
    lose(*connection, reason, wakes);
    peer = connection->peer;
    const bool is_expected = connection->is_ours && connection->has_closed;
    is_gone = connection->known && !is_expected && lose_peer(peer, Which::not_met, reason, wakes);
  }
  parts_.queue.send_posted();
  if (is_gone) notify_gone(peer, reason, false);
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
