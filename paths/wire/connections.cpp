// SPDX-License-Identifier: Apache-2.0
// paths/wire/connections.cpp — what comes in on connections, and where it goes.
#include "paths/wire/connections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "paths/wire/connection.hpp"

namespace paths {

Connections::Connections(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers,
                         std::uint32_t host, Opening opening, std::unique_ptr<Transport> transport,
                         Complaints& complaints, Serve serve, ServeShort serve_short, Gone gone)
    : runtime_(runtime),
      peers_(std::move(peers)),
      host_(host),
      call_(std::move(opening.id)),
      needs_all_(opening.needs_all),
      transport_(std::move(transport)),
      complaints_(complaints),
      serve_(std::move(serve)),
      serve_short_(std::move(serve_short)),
      gone_(std::move(gone)),
      is_wired_(!needs_all_) {
  count_planned_connections();
}

Connections::~Connections() = default;

Frame Connections::frame_of(FrameKind kind) const {
  Frame frame;
  frame.kind = kind;
  frame.run_high = peers_->run.high;
  frame.run_low = peers_->run.low;
  frame.from_host = host_;
  if (kind == FrameKind::hello || kind == FrameKind::welcome || kind == FrameKind::refuse)
    frame.wiring = call_;
  return frame;
}

void Connections::note_failure(const std::string& failure) {
  runtime::Lock lock(mutex_);
  if (failure_.empty()) failure_ = failure;
}

/// Called with the mutex held. A peer that lost this host, which was stopped for long, says so:
/// here that is the peer's view.
void Connections::hear_failure(const Connection& connection, const std::string& text) {
  if (!failure_.empty()) return;
  const std::string& here = peers_->hosts[host_].name;
  const std::string loss = fmt::format("host {} is gone: ", here);
  failure_ = text.starts_with(loss)
                 ? fmt::format("host {} counts host {} as gone: {}",
                               peers_->hosts[connection.peer].name, here, text.substr(loss.size()))
                 : text;
}

std::string Connections::failure() const {
  runtime::Lock lock(mutex_);
  return failure_;
}

void Connections::meet(std::uint32_t host, StageId stage) {
  {
    runtime::Lock lock(mutex_);
    connection_to(host, stage);
  }
  send_posted();
}

/// One per way out of a host, as a path has its own connection in Bongo et al. 2004, §III-A.
StageId Connections::key_of(StageId stage) const {
  return peers_->shares_connections ? no_stage : stage;
}

Connections::Connection& Connections::connection_to(std::uint32_t host, StageId stage) {
  const StageId key = key_of(stage);
  Connection*& known = by_destination_[std::uint64_t{host} << 32 | key];
  if (known == nullptr) {
    auto connection = std::make_unique<Connection>();
    connection->id = transport_->connect(host, key);
    connection->peer = host;
    connection->known = true;
    connection->is_ours = true;
    connection->short_way = transport_->short_way(connection->id);
    connection->key = key;
    known = connection.get();
    connections_[connection->id] = std::move(connection);
    Frame hello = frame_of(FrameKind::hello);
    hello.stage = key;
    hello.text = peers_->hosts[host_].name;
    post(*known, std::move(hello));
  }
  return *known;
}

Connections::Connection* Connections::find(ConnectionId id) {
  if (recent_ != nullptr && recent_->id == id) return recent_;
  const auto known = connections_.find(id);
  return known == connections_.end() ? nullptr : known->second.get();
}

/// Whoever still answers on it does so in vain.
void Connections::erase(ConnectionId id) {
  if (recent_ != nullptr && recent_->id == id) recent_ = nullptr;
  connections_.erase(id);
}

Connections::Connection& Connections::found_or_new(ConnectionId id) {
  if (recent_ != nullptr && recent_->id == id) return *recent_;
  auto& connection = connections_[id];
  if (!connection) {
    connection = std::make_unique<Connection>();
    connection->id = id;
  }
  recent_ = connection.get();
  return *recent_;
}

TravelError Connections::gone(const Connection& connection, std::uint32_t path) const {
  return TravelError(
      peers_->hosts[host_].name, peers_->graph_of(path), "forward",
      fmt::format("host {} is gone: {}", peers_->hosts[connection.peer].name, connection.lost));
}

void Connections::lose(Connection& connection, const std::string& reason, runtime::Wakes& wakes) {
  if (!connection.lost.empty()) return;
  connection.lost = reason.empty() ? "connection lost" : reason;
  connection.each_call([&](Call& call) {
    call.lost = connection.lost;
    tell(call, wakes);
  });
  connection.held.clear();
  dropped_.push_back(connection.id);
  parting_.wake_all(wakes);
}

void Connections::deliver(ConnectionId id, Frame&& frame) {
  bool serves = false, has_parted = false, is_refused = false, has_posted = false;
  std::uint32_t peer = 0;
  std::string reason;
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    Connection& connection = found_or_new(id);
    if (!connection.lost.empty()) return;  // what comes behind it is not believed either
    const std::string wrong = this->wrong(connection, frame);
    if (!wrong.empty() && !connection.known) {
      turn_away(connection, wrong, wakes);
    } else if (!wrong.empty()) {
      is_refused = refuse(connection, wrong, wakes);
      reason = connection.lost;
    } else {
      connection.is_heard = true;
      take_credits(connection, frame.credits, wakes);
      switch (frame.kind) {
        case FrameKind::hello:
          is_refused = greet(connection, frame, wakes);
          reason = connection.lost;
          break;
        case FrameKind::refuse:
          if (frame.wiring != nullptr && frame.wiring->label == call_->label)
            number_heard_ = std::max(number_heard_, frame.wiring->number);
          lose(connection, frame.text, wakes);
          reason = connection.lost;
          is_refused = connection.known && forsake(connection.peer, Which::all, reason, wakes);
          break;
        case FrameKind::reply:
        case FrameKind::error: answer(connection, std::move(frame), wakes); break;
        case FrameKind::request: ++connection.to_give_back; [[fallthrough]];
        case FrameKind::one_way:
          serves = true;
          hear_failure(connection, frame.text);
          // Replies may be long in coming, and others need those credits to be answered.
          if (connection.to_give_back >= window / 2) post(connection, frame_of(FrameKind::credits));
          break;
        case FrameKind::goodbye:
          hear_failure(connection, frame.text);
          has_parted = part(connection, wakes);
          break;
        case FrameKind::welcome:
          met_[connection.peer].incarnation = frame.wiring->incarnation;
          connection.is_welcome = true;
          if (connection.short_way && !transport_->short_way(id)) connection.forget_standing();
          post_what_waited_for_the_welcome(connection, wakes);
          meeting_.wake_all(wakes);
          break;
        case FrameKind::heartbeat:  // answered by any frame
          post(connection, frame_of(FrameKind::credits));
          break;
        case FrameKind::credits:
        case FrameKind::lane: break;
      }
    }
    peer = connection.peer;
    has_posted = this->has_posted();
  }
  if (has_posted) send_posted();
  if (serves) serve_(id, std::move(frame));
  if (is_refused) tell_gone(peer, reason, false);
  if (has_parted) tell_gone(peer, has_ended, true);
}

/// As deliver() of the frame that it stands for.
void Connections::deliver_short(ConnectionId id, ShortFrame&& frame) {
  runtime::Lock lock(mutex_);
  Connection& connection = found_or_new(id);
  take(connection, std::move(frame), std::move(lock));
}

std::shared_ptr<ShortEnd> Connections::short_end(ConnectionId id) {
  const runtime::Lock lock(mutex_);
  Connection* const connection = find(id);
  if (connection == nullptr) return nullptr;
  if (!connection->short_end) connection->short_end = std::make_shared<End>(*this, *connection);
  return connection->short_end;
}

bool Connections::End::deliver(ShortFrame&& frame) {
  runtime::Lock lock(connections_.mutex_);
  if (connection_ == nullptr) return false;
  connections_.take(*connection_, std::move(frame), std::move(lock));
  return true;
}

/// Called with the mutex held, which goes before who is woken.
void Connections::take(Connection& connection, ShortFrame&& frame, runtime::Lock held) {
  if (!connection.lost.empty()) return;
  connection.is_heard = true;
  const ConnectionId id = connection.id;
  if (!frame.is_reply && connection.may_bring_operations()) {
    held.unlock();
    return serve_short_(id, std::move(frame));
  }
  std::string wrong;
  {
    runtime::Wakes wakes;
    const runtime::Lock lock(std::move(held));
    wrong = this->wrong(connection, frame);
    if (wrong.empty()) return answer(connection, std::move(frame), wakes);
    if (!connection.known) turn_away(connection, wrong, wakes);
  }
  refuse(id, wrong);
  send_posted();
}

void Connections::connection_lost(ConnectionId id, const std::string& reason) {
  bool is_gone = false;
  std::uint32_t peer = 0;
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    Connection* connection = find(id);
    if (connection == nullptr) return;
    lose(*connection, reason, wakes);
    peer = connection->peer;
    const bool is_expected = connection->is_ours && connection->has_parted;
    is_gone = connection->known && !is_expected && forsake(peer, Which::not_met, reason, wakes);
  }
  send_posted();
  if (is_gone) tell_gone(peer, reason, false);
}

/// Requires: mutex_ held.
Connections::Counted Connections::counted_of(std::uint32_t graph) const {
  const auto known = counted_.find(graph);
  return known == counted_.end() ? Counted{} : known->second;
}

Traffic Connections::wan_traffic(std::uint32_t graph) const {
  runtime::Lock lock(mutex_);
  return counted_of(graph).wan;
}

Traffic Connections::traffic(std::uint32_t graph) const {
  runtime::Lock lock(mutex_);
  return counted_of(graph).all;
}

Traffic Connections::traffic() const {
  runtime::Lock lock(mutex_);
  Traffic sum;
  for (const auto& [graph, counted] : counted_) sum += counted.all;
  return sum;
}

}  // namespace paths
