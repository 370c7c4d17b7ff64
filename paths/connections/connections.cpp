// SPDX-License-Identifier: Apache-2.0
// paths/connections/connections.cpp — processing of incoming frames
#include "paths/connections/connections.hpp"

#include <fmt/format.h>

#include <utility>

namespace paths {

Connections::Connections(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers,
                         std::uint32_t host, Opening opening, std::unique_ptr<Transport> transport,
                         RejectionLog& rejections, Serve serve, ServeShort serve_short,
                         Liveness::Gone gone)
    : table_(runtime, std::move(peers), host, std::move(opening.id), std::move(transport)),
      traffic_(table_.mutex()),
      peers_(table_.peers(), host),
      queue_(table_, *this),
      sender_(table_, queue_, traffic_),
      rules_(table_, peers_),
      requests_(table_, sender_, queue_),
      meeting_(
          table_, peers_, opening.needs_all,
          [this](std::uint32_t peer, const std::string& why) { liveness_.give_up(peer, why); },
          [this](std::uint32_t peer, const std::string& state) {
            if (state.empty())
              losses_.report_arrival(peer);
            else
              losses_.report_absence(peer, state);
          }),
      losses_(table_, sender_, queue_, meeting_),
      liveness_({table_, peers_, sender_, queue_, meeting_, rejections}, std::move(gone)),
      goodbyes_(table_, peers_, sender_, queue_),
      tuple_bytes_max_(std::move(opening.tuple_bytes_max)),
      serve_(std::move(serve)),
      serve_short_(std::move(serve_short)) {}

void Connections::meet(std::uint32_t host, StageId stage) {
  {
    const runtime::Lock lock(table_.mutex());
    sender_.connection_to(host, stage);
  }
  queue_.send_posted();
}

void Connections::meet_others() {
  for (const std::uint32_t host : table_.peers().hosts[table_.host()].meets) meet(host, no_stage);
}

std::vector<ConnectionId> Connections::open_arrivals() const {
  const runtime::Lock lock(table_.mutex());
  std::vector<ConnectionId> open;
  for (const auto& [id, connection] : table_.all())
    if (connection->may_bring_operations() && connection->lost.empty()) open.push_back(id);
  return open;
}

std::string Connections::given_up() const {
  const runtime::Lock lock(table_.mutex());
  return peers_.given_up();
}

void Connections::deliver(ConnectionId id, Frame&& frame) {
  Verdict verdict;
  bool has_posted = false;
  std::uint32_t peer = 0;
  std::string reason;
  {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(table_.mutex());
    Connection& connection = table_.find_or_add(id);
    if (!connection.lost.empty()) return;  // frames that arrive after a loss are ignored
    const std::string wrong = rules_.wrong(connection, frame);
    if (wrong.empty()) {
      verdict = take(connection, frame, wakes);
    } else if (connection.known) {
      verdict.is_peer_gone = liveness_.refuse(connection, wrong, wakes);
    } else {
      liveness_.reject(connection, {RefusalWord::place, wrong}, wakes);
    }
    peer = connection.peer;
    if (verdict.is_peer_gone) reason = peers_[peer].why;
    has_posted = queue_.has_posted();
  }
  if (has_posted) queue_.send_posted();
  if (verdict.is_to_be_served) serve_(id, std::move(frame));
  if (verdict.is_peer_gone) liveness_.notify_gone(peer, reason, false);
  if (verdict.has_peer_parted) liveness_.notify_gone(peer, Goodbyes::has_ended, true);
}

std::uint64_t Connections::body_bytes_max(ConnectionId id, const Frame& head) {
  const runtime::Lock lock(table_.mutex());
  Connection* const connection = table_.find(id);
  if (connection == nullptr || !connection->known || !connection->lost.empty()) return 0;
  std::uint32_t path = head.operation.path;
  if (connection->is_ours) {
    const bool is_reply = head.kind == FrameKind::reply;
    const PendingCall* const call = is_reply ? connection->call_of(head.call) : nullptr;
    if (call == nullptr)
      return is_reply && connection->may_answer_given_up(head.call) ? body_bytes_limit : 0;
    path = call->path;
  } else if (head.kind != FrameKind::request && head.kind != FrameKind::one_way) {
    return 0;
  }
  if (path >= table_.peers().graph_of_path.size()) return 0;
  if (!tuple_bytes_max_) return body_bytes_limit;
  const auto [known, is_new] = tuple_bytes_.try_emplace(path);
  if (is_new) known->second = tuple_bytes_max_(path).value_or(body_bytes_limit);
  return known->second;
}

/// Processes a frame that FrameRules has found valid.
/// Requires: the mutex is held.
Connections::Verdict Connections::take(Connection& connection, Frame& frame,
                                       runtime::DeferredWakes& wakes) {
  Verdict verdict;
  connection.is_received = true;
  sender_.take_credits(connection, frame.credits, wakes);
  switch (frame.kind) {
    case FrameKind::hello: verdict.is_peer_gone = greet(connection, frame, wakes); break;
    case FrameKind::refuse:
      if (frame.deployment != nullptr) meeting_.receive_number(*frame.deployment);
      liveness_.lose(connection, rules_.refusal_text(connection, frame), wakes);
      verdict.is_peer_gone =
          connection.known &&
          liveness_.lose_peer(connection.peer, Liveness::Which::all, connection.lost, wakes);
      break;
    case FrameKind::reply:
    case FrameKind::error: Requests::answer(connection, std::move(frame), wakes); break;
    case FrameKind::request: connection.credits.owe(); [[fallthrough]];
    case FrameKind::one_way:
      verdict.is_to_be_served = true;
      sender_.receive_failure(connection, frame.text);
      // Returns the credits now if this host owes half of them. The reply, which would return them
      // otherwise, may take long.
      if (connection.credits.owes_half()) sender_.post(connection, FrameKind::credits);
      break;
    case FrameKind::goodbye:
      sender_.receive_failure(connection, frame.text);
      verdict.has_peer_parted = goodbyes_.take(connection, wakes);
      break;
    case FrameKind::welcome: verdict.is_peer_gone = welcome(connection, frame, wakes); break;
    case FrameKind::heartbeat:  // the reply is an empty frame of the kind `credits`
      losses_.receive(connection, frame.text, wakes);
      sender_.post(connection, FrameKind::credits);
      break;
    case FrameKind::credits:
    case FrameKind::lane: break;
  }
  return verdict;
}

/// Handles a hello. Returns whether the peer counts as gone because of this hello.
/// Requires: the mutex is held.
bool Connections::greet(Connection& connection, const Frame& hello, runtime::DeferredWakes& wakes) {
  if (const Rejection wrong = rules_.wrong_greeting(hello); !wrong.reason.empty()) {
    if (const auto named = table_.peers().named(hello.text)) {
      PeerTable::Peer& peer = peers_[*named];
      peer.refused = wrong.reason;
      if (hello.deployment != nullptr && peer.is_another(*hello.deployment))
        liveness_.note_restart(*named);
    }
    meeting_.fail(wrong.reason, wakes);
    liveness_.reject(connection, wrong, wakes);
    return false;
  }
  connection.peer = hello.from_host;
  PeerTable::Peer& peer = peers_[hello.from_host];
  if (peer.is_another(*hello.deployment)) {
    liveness_.reject(connection,
                     {RefusalWord::place,
                      fmt::format("host {}: {}", table_.name_of(connection.peer), restarted)},
                     wakes);
    return liveness_.lose_restarted(connection.peer, wakes);
  }
  peer.incarnation = hello.deployment->incarnation;
  connection.key = hello.stage;
  connection.known = true;
  peer.comes_on[hello.stage] = true;
  ++peer.greeted_on;
  meeting_.note_change(wakes);
  sender_.post(connection, FrameKind::welcome);
  losses_.tell(connection);
  return false;
}

/// Handles the welcome of a peer. Returns whether the peer counts as gone because of this welcome.
/// Requires: the mutex is held.
bool Connections::welcome(Connection& connection, const Frame& frame,
                          runtime::DeferredWakes& wakes) {
  PeerTable::Peer& peer = peers_[connection.peer];
  if (peer.is_another(*frame.deployment)) {
    sender_.post(connection, table_.refusal(restarted));
    return liveness_.lose_restarted(connection.peer, wakes);
  }
  peer.incarnation = frame.deployment->incarnation;
  connection.is_welcome = true;
  if (connection.short_way && !table_.transport().short_way(connection.id))
    connection.forget_standing();
  sender_.post_first(connection, wakes);
  losses_.tell(connection);
  meeting_.note_change(wakes);
  return false;
}

void Connections::connection_lost(ConnectionId id, const std::string& reason) {
  liveness_.take_loss(id, reason);
}

// ---- short frames -----------------------------------------------------------------------------

/// Handles a short frame. (deliver() handles normal frames.)
void Connections::deliver_short(ConnectionId id, ShortFrame&& frame) {
  runtime::Lock lock(table_.mutex());
  Connection& connection = table_.find_or_add(id);
  take(connection, std::move(frame), std::move(lock));
}

std::shared_ptr<ShortEnd> Connections::short_end(ConnectionId id) {
  const runtime::Lock lock(table_.mutex());
  Connection* const connection = table_.find(id);
  if (connection == nullptr) return nullptr;
  if (!connection->short_end)
    connection->short_end = std::make_shared<ConnectionEnd>(*this, *connection);
  return connection->short_end;
}

bool ConnectionEnd::deliver(ShortFrame&& frame) {
  runtime::Lock lock(connections_.table_.mutex());
  if (connection_ == nullptr) return false;
  connections_.take(*connection_, std::move(frame), std::move(lock));
  return true;
}

/// Processes a short frame. `held` is the lock of the mutex. The function unlocks the mutex before
/// it wakes waiters.
void Connections::take(Connection& connection, ShortFrame&& frame, runtime::Lock held) {
  if (!connection.lost.empty()) return;
  connection.is_received = true;
  const ConnectionId id = connection.id;
  if (!frame.is_reply && connection.may_bring_operations()) {
    held.unlock();
    return serve_short_(id, std::move(frame));
  }
  std::string wrong;
  {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(std::move(held));
    wrong = rules_.wrong(connection, frame);
    if (wrong.empty()) return Requests::answer(connection, std::move(frame), wakes);
    if (!connection.known) liveness_.reject(connection, {RefusalWord::place, wrong}, wakes);
  }
  liveness_.refuse(id, wrong);
  queue_.send_posted();
}

}  // namespace paths
