// SPDX-License-Identifier: Apache-2.0
// paths/connections.cpp — the protocol between two hosts.
#include "paths/connections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "paths/socket_folder.hpp"

namespace paths {

namespace {

constexpr base::Nanos first_word_after = std::chrono::seconds(5);
constexpr std::uint32_t looks_per_deadline = 4;
constexpr const char* has_ended = "it has ended";

}  // namespace

struct Connections::Call {
  Connection* connection = nullptr;
  std::uint64_t number = 0;
  bool is_held = true;  // behind pushes that wait for credits
  std::optional<Frame> reply;
  std::string lost;
  runtime::WaitList waiting;
};

struct Connections::Connection {
  ConnectionId id = 0;
  std::uint32_t peer = 0;
  bool is_ours = false;           // we connected
  bool is_welcome = false;        // and were welcomed
  bool is_heard = false;          // since the last look
  bool is_parting = false;        // our goodbye is still to be sent, behind what is held
  bool has_parted = false;        // and our goodbye was answered
  bool known = false;             // we connected, or the peer said hello
  std::string lost;               // why, when it is
  std::int64_t credits = window;  // less than none: requests do not wait for them
  std::uint32_t to_give_back = 0;
  std::uint64_t next_call = 0;
  std::unordered_map<std::uint64_t, Call*> calls;
  std::deque<Frame> held;  // pushes that wait for credits, and what must not overtake them

  /// The last one of the same thread's same path, or the end.
  auto last_held_like(const Frame& frame) {
    return std::find_if(held.rbegin(), held.rend(), [&frame](const Frame& other) {
      return other.stage == frame.stage && other.operation.path == frame.operation.path &&
             other.operation.thread == frame.operation.thread;
    });
  }
};

Traffic& Traffic::operator+=(const Traffic& other) {
  messages += other.messages;
  bytes += other.bytes;
  control += other.control;
  return *this;
}

Connections::Connections(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan,
                         std::uint32_t host, std::unique_ptr<Transport> transport, Serve serve,
                         Gone gone)
    : runtime_(runtime),
      plan_(std::move(plan)),
      host_(host),
      transport_(std::move(transport)),
      serve_(std::move(serve)),
      gone_(std::move(gone)),
      counted_(plan_->graphs.size() + 1) {
  count_planned_connections();
}

Connections::~Connections() = default;

Frame Connections::frame_of(FrameKind kind) const {
  Frame frame;
  frame.kind = kind;
  frame.plan_high = plan_->digest.high;
  frame.plan_low = plan_->digest.low;
  frame.from_host = host_;
  return frame;
}

void Connections::meet(std::uint32_t host, StageId stage) {
  {
    runtime::Lock lock(mutex_);
    connection_to(host, stage);
  }
  send_posted();
}

// ---- meeting, and whether those who were met still live ----------------------------------------

/// Called with the mutex held.
std::set<std::uint32_t> Connections::absent() const {
  std::set<std::uint32_t> absent;
  for (const auto& [host, peer] : peers_)
    if (!peer.departed && peer.greeted_on < peer.comes_on) absent.insert(host);
  for (const auto& [destination, connection] : by_destination_)
    if (!connection->is_welcome && connection->lost.empty()) absent.insert(destination.first);
  return absent;
}

/// Where a peer should be, and who was there instead.
std::string Connections::place_of(std::uint32_t peer) const {
  runtime::Lock lock(mutex_);
  const auto found = peers_.find(peer);
  const bool was_refused = found != peers_.end() && !found->second.refused.empty();
  return located(plan_->hosts[peer].address) +
         (was_refused ? "; refused: " + found->second.refused : "");
}

void Connections::await_peers(runtime::Deadline limit) {
  const base::Nanos begun = runtime_.now();
  base::Nanos pause = first_word_after;
  base::Nanos next_word = begun + pause;
  const std::string limit_text = base::format_time(plan_->deadline);
  runtime::Lock lock(mutex_);
  while (!absent().empty()) {
    const bool is_last = runtime_.is_virtual() || limit.at <= next_word;
    const runtime::Deadline until = is_last ? limit : runtime::Deadline::written_at(next_word);
    const runtime::Reason reason{"the peers of host", plan_->hosts[host_].name};
    if (meeting_.wait(lock, until, reason) == runtime::Woken::notified) continue;
    const auto missing = absent();
    lock.unlock();
    for (const std::uint32_t peer : missing) {
      const std::string place = place_of(peer);
      if (is_last) {
        give_up(peer, fmt::format("it did not come within {} ({})", limit_text, place));
      } else {
        spdlog::warn("host {} has waited {} for host {} to come, and gives up after {} ({})",
                     plan_->hosts[host_].name, base::format_time(next_word - begun),
                     plan_->hosts[peer].name, limit_text, place);
      }
    }
    lock.lock();
    pause *= 2;
    next_word += pause;
  }
}

base::Nanos Connections::look_pause() const { return plan_->deadline / looks_per_deadline; }

void Connections::look_after_peers() {
  std::vector<std::uint32_t> silent;
  {
    runtime::Lock lock(mutex_);
    std::map<std::uint32_t, Connection*> asked;
    std::set<std::uint32_t> heard;
    for (auto& [id, connection] : connections_) {
      if (!connection->known || !connection->lost.empty()) continue;
      if (std::exchange(connection->is_heard, false)) heard.insert(connection->peer);
      if (!connection->is_ours && !connection->has_parted) asked[connection->peer] = &*connection;
    }
    for (const auto& [host, connection] : asked) {
      Peer& peer = peers_[host];
      peer.silent_looks = heard.contains(host) ? 1 : peer.silent_looks + 1;
      if (peer.silent_looks < looks_per_deadline) {
        post(*connection, frame_of(FrameKind::heartbeat));
      } else {
        silent.push_back(host);
      }
    }
  }
  send_posted();
  for (const std::uint32_t peer : silent)
    give_up(peer, fmt::format("it gave no sign of life for {} ({})",
                              base::format_time(plan_->deadline), place_of(peer)));
}

/// Called with the mutex held. True when the peer was not gone before.
bool Connections::forsake(std::uint32_t peer, Which which, const std::string& why,
                          runtime::Wakes& wakes) {
  for (auto& [id, connection] : connections_)
    if (connection->known && connection->peer == peer &&
        (which == Which::all || (connection->is_ours && !connection->is_welcome)))
      lose(*connection, why, wakes);
  meeting_.wake_all(wakes);
  return depart(peer, why);
}

void Connections::give_up(std::uint32_t peer, const std::string& why) {
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    if (!forsake(peer, Which::all, why, wakes)) return;
    given_up_.push_back(fmt::format("host {} is gone: {}", plan_->hosts[peer].name, why));
  }
  send_posted();
  gone_(peer, why);
}

std::string Connections::given_up() const {
  runtime::Lock lock(mutex_);
  if (given_up_.empty()) return "";
  return fmt::format("host {}: {}", plan_->hosts[host_].name, fmt::join(given_up_, "; "));
}

// ---- the end --------------------------------------------------------------------------------

void Connections::stop(runtime::Deadline deadline) {
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    for (auto& [id, connection] : connections_) {
      if (!connection->is_ours || !connection->lost.empty()) continue;
      connection->is_parting = true;
      post_held(*connection, wakes);
    }
  }
  send_posted();
  {
    const base::Nanos patience = deadline.at - runtime_.now();
    runtime::Lock lock(mutex_);
    while (!not_parted().empty() || sending_) {
      const runtime::Woken woken = parting_.wait(
          lock, deadline, {"answers to the goodbyes of host", plan_->hosts[host_].name});
      if (woken == runtime::Woken::expired) {
        for (const std::uint32_t peer : not_parted())
          given_up_.push_back(fmt::format("host {} gave no sign of life at the end for {}",
                                          plan_->hosts[peer].name, base::format_time(patience)));
        break;
      }
      deadline.at = runtime_.now() + patience;  // the peers are at it
    }
  }
  transport_->stop();
}

/// Called with the mutex held.
std::set<std::uint32_t> Connections::not_parted() const {
  std::set<std::uint32_t> peers;
  for (const auto& [id, connection] : connections_)
    if (connection->is_ours && !connection->has_parted && connection->lost.empty())
      peers.insert(connection->peer);
  return peers;
}

/// One per way out of a host, as a path has its own connection in Bongo et al. 2004, §III-A.
StageId Connections::key_of(StageId stage) const {
  return plan_->connection == Plan::Connection::shared ? no_stage : stage;
}

Connections::Connection& Connections::connection_to(std::uint32_t host, StageId stage) {
  const StageId key = key_of(stage);
  Connection*& known = by_destination_[{host, key}];
  if (known == nullptr) {
    auto connection = std::make_unique<Connection>();
    connection->id = transport_->connect(host, key);
    connection->peer = host;
    connection->known = true;
    connection->is_ours = true;
    known = connection.get();
    connections_[connection->id] = std::move(connection);
    Frame hello = frame_of(FrameKind::hello);
    hello.text = plan_->hosts[host_].name;
    post(*known, std::move(hello));
  }
  return *known;
}

Connections::Connection& Connections::inbound(ConnectionId id) {
  auto& connection = connections_[id];
  if (!connection) {
    connection = std::make_unique<Connection>();
    connection->id = id;
  }
  return *connection;
}

void Connections::post(Connection& connection, Frame frame) {
  frame.credits = std::exchange(connection.to_give_back, 0);
  const bool is_wan = plan_->hosts[connection.peer].cluster != plan_->hosts[host_].cluster;
  Traffic one;
  const OperationKind kind = frame.operation.kind;
  if (is_control(frame.kind) || is_housekeeping(kind)) {
    one.control = 1;
  } else {
    one.messages = 1;
    one.bytes = frame.kind == FrameKind::reply ? frame.result.payload.size()
                                               : frame.operation.payload.size();
  }
  Counted& counted = is_control(frame.kind)
                         ? counted_.back()
                         : counted_[plan_->paths[frame.operation.path].graph_number];
  counted.all += one;
  if (is_wan) counted.wan += one;
  posted_.emplace_back(connection.id, std::move(frame));
}

/// What cannot be handed over loses its connection; the frames behind it go on.
void Connections::hand_to_transport(ConnectionId connection, Frame frame) {
  try {
    transport_->send(connection, std::move(frame));
  } catch (const std::exception& error) {
    connection_lost(connection, fmt::format("a frame could not be sent: {}", error.what()));
  }
}

void Connections::send_posted() {
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  if (std::exchange(sending_, true)) return;
  while (!posted_.empty() || !dropped_.empty()) {
    auto frames = std::exchange(posted_, {});
    const auto dropped = std::exchange(dropped_, {});
    lock.unlock();
    for (auto& [connection, frame] : frames) hand_to_transport(connection, std::move(frame));
    for (const ConnectionId connection : dropped) transport_->drop(connection);
    lock.lock();
  }
  sending_ = false;
  parting_.wake_all(wakes);
}

TravelError Connections::gone(const Connection& connection, const Operation& operation) const {
  return TravelError(
      plan_->hosts[host_].name, plan_->paths[operation.path].graph, "forward",
      fmt::format("host {} is gone: {}", plan_->hosts[connection.peer].name, connection.lost));
}

Result Connections::call(std::uint32_t to_host, StageId stage, Operation operation,
                         runtime::Deadline deadline) {
  const std::string& peer = plan_->hosts[to_host].name;
  const std::uint32_t path = operation.path;
  auto late = [&](std::string_view what) {
    return TravelError(plan_->hosts[host_].name, plan_->paths[path].graph, "forward",
                       fmt::format("no {} from host {} in time (deadline {})", what, peer,
                                   base::format_time(plan_->deadline)));
  };
  const std::uint64_t sequence = operation.sequence;
  const base::Payload moved = operation.payload;
  Call call;
  struct Forget {
    Connections& connections;
    Call& call;
    ~Forget() { connections.forget(call); }
  } forget{*this, call};
  request(call, to_host, stage, std::move(operation));
  runtime::Lock lock(mutex_);
  // The far host answers a wait there that its own deadline ended, and names who was missing; ours
  // is for a host that answers nothing at all. Its death is noticed before either.
  const runtime::Deadline patience{deadline.at + plan_->deadline, deadline.written};
  while (!call.reply && call.lost.empty()) {
    const bool was_held = call.is_held;
    const runtime::Woken woken =
        call.waiting.wait(lock, was_held ? deadline : patience,
                          {was_held ? "credits from host" : "a reply from host", peer, sequence});
    if (woken == runtime::Woken::expired && was_held == call.is_held)
      throw late(was_held ? "credits" : "reply");
  }
  if (!call.reply) {
    Operation lost;
    lost.path = path;
    throw gone(*call.connection, lost);
  }
  if (call.reply->kind == FrameKind::error) throw TravelError(*call.reply->operation.failure);
  if (call.reply->returns_moved) call.reply->result.payload = moved;
  return std::move(call.reply->result);
}

void Connections::request(Call& call, std::uint32_t to_host, StageId stage, Operation operation) {
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    Connection& connection = connection_to(to_host, stage);
    if (!connection.lost.empty()) throw gone(connection, operation);
    call.connection = &connection;
    call.number = connection.next_call++;
    connection.calls[call.number] = &call;
    Frame frame = frame_of(FrameKind::request);
    frame.call = call.number;
    frame.stage = stage;
    frame.operation = std::move(operation);
    const bool follows_held = connection.last_held_like(frame) != connection.held.rend();
    if (follows_held) {
      connection.held.push_back(std::move(frame));
    } else {
      leave(connection, std::move(frame), wakes);
    }
  }
  send_posted();
}

/// Its caller has the answer, or has given up: then it need not leave any more.
void Connections::forget(const Call& call) {
  if (call.connection == nullptr) return;
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    Connection& connection = *call.connection;
    connection.calls.erase(call.number);
    if (!call.is_held) return;
    std::erase_if(connection.held, [&call](const Frame& frame) {
      return frame.kind == FrameKind::request && frame.call == call.number;
    });
    post_held(connection, wakes);
  }
  send_posted();
}

namespace {

/// A request does not: it is bounded by the one who waits for its reply, and that may be what
/// those pushes need that have the credits.
bool waits_for_credits(const Frame& frame) {
  return frame.kind == FrameKind::one_way && !is_farewell(frame.operation.kind);
}

/// A push that has not left for want of credits, by a newer one.
bool may_replace(const Frame& held, const Frame& newer) {
  const Operation &old = held.operation, &fresh = newer.operation;
  return held.kind == newer.kind && !is_farewell(fresh.kind) && old.kind == fresh.kind &&
         !old.failure && !fresh.failure && !old.kept && !fresh.kept;
}

}  // namespace

void Connections::push(std::uint32_t to_host, StageId stage, Operation operation) {
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    Connection& connection = connection_to(to_host, stage);
    if (!connection.lost.empty()) throw gone(connection, operation);
    Frame frame = frame_of(FrameKind::one_way);
    frame.stage = stage;
    frame.operation = std::move(operation);
    const auto last = connection.last_held_like(frame);
    // Only the last one of the path may be replaced, so that all that stays is in order.
    if (frame.operation.kind == OperationKind::withdraw) {
      leave(connection, std::move(frame), wakes);
    } else if (last != connection.held.rend() && may_replace(*last, frame)) {
      *last = std::move(frame);
    } else {
      connection.held.push_back(std::move(frame));
      post_held(connection, wakes);
    }
  }
  send_posted();
}

void Connections::reply(ConnectionId id, Frame frame) {
  {
    runtime::Lock lock(mutex_);
    Connection& connection = inbound(id);
    if (!connection.lost.empty()) return;
    post(connection, std::move(frame));
  }
  send_posted();
}

void Connections::take_credits(Connection& connection, std::uint32_t credits,
                               runtime::Wakes& wakes) {
  if (credits == 0) return;
  connection.credits += credits;
  parting_.wake_all(wakes);  // what is held goes on
  post_held(connection, wakes);
}

void Connections::post_held(Connection& connection, runtime::Wakes& wakes) {
  auto& held = connection.held;
  while (!held.empty()) {
    if (waits_for_credits(held.front()) && connection.credits <= 0) return;
    leave(connection, std::move(held.front()), wakes);
    held.pop_front();
  }
  if (std::exchange(connection.is_parting, false)) post(connection, frame_of(FrameKind::goodbye));
}

void Connections::leave(Connection& connection, Frame frame, runtime::Wakes& wakes) {
  if (!is_farewell(frame.operation.kind)) --connection.credits;
  if (frame.kind == FrameKind::request) {
    Call& call = *connection.calls.at(frame.call);
    call.is_held = false;  // from now on it waits for the reply
    call.waiting.wake_all(wakes);
  }
  post(connection, std::move(frame));
}

std::string Connections::differs_from(const Frame& hello) const {
  const std::string& self = plan_->hosts[host_].name;
  const base::Digest theirs{hello.plan_high, hello.plan_low};
  if (hello.version != protocol_version)
    return fmt::format("host {} speaks protocol version {}, host {} version {}", hello.text,
                       hello.version, self, protocol_version);
  if (!(theirs == plan_->digest))
    return fmt::format("host {} runs config {}, host {} config {}", hello.text, theirs.text(), self,
                       plan_->digest.text());
  if (hello.from_host >= plan_->hosts.size())
    return fmt::format("host {} has no place in config {}", hello.text, theirs.text());
  const auto peer = peers_.find(hello.from_host);
  if (peer != peers_.end() && peer->second.departed)
    return fmt::format("host {} is back, but host {} goes on without it: {}", hello.text, self,
                       peer->second.why);
  return "";
}

// The two hosts compare what they speak and which plan they run before anything else counts.
void Connections::greet(Connection& connection, const Frame& frame, runtime::Wakes& wakes) {
  const std::string differs = differs_from(frame);
  if (differs.empty()) {
    connection.peer = frame.from_host;
    if (!std::exchange(connection.known, true)) ++peers_[frame.from_host].greeted_on;
    meeting_.wake_all(wakes);
  } else if (refused_.insert(differs).second) {
    spdlog::warn("refused: {}", differs);
    if (const auto named = plan_->host_named(frame.text)) peers_[*named].refused = differs;
  }
  Frame reply = frame_of(differs.empty() ? FrameKind::welcome : FrameKind::refuse);
  reply.text = differs;
  post(connection, std::move(reply));
}

void Connections::answer(Connection& connection, Frame frame, runtime::Wakes& wakes) {
  const auto call = connection.calls.find(frame.call);
  if (call == connection.calls.end()) return;  // its caller has given up
  call->second->reply = std::move(frame);
  call->second->waiting.wake_all(wakes);
}

void Connections::lose(Connection& connection, const std::string& reason, runtime::Wakes& wakes) {
  if (!connection.lost.empty()) return;
  connection.lost = reason.empty() ? "connection lost" : reason;
  for (auto& [number, call] : connection.calls) {
    call->lost = connection.lost;
    call->waiting.wake_all(wakes);
  }
  connection.held.clear();
  dropped_.push_back(connection.id);
  parting_.wake_all(wakes);
}

/// Each is a connection of its own, so that a goodbye on one may overtake the hello of another.
void Connections::count_planned_connections() {
  if (plan_->shares.empty()) return;
  std::set<std::pair<std::uint32_t, StageId>> planned;
  for (const Plan::Entrance& entrance : plan_->shares[host_].entrances)
    planned.emplace(entrance.from_host, key_of(entrance.stage));
  for (const auto& [peer, key] : planned) ++peers_[peer].comes_on;
}

/// True once for each peer.
bool Connections::depart(std::uint32_t host, const std::string& why) {
  Peer& peer = peers_[host];
  if (std::exchange(peer.departed, true)) return false;
  peer.why = why;
  return true;
}

/// True when the peer has parted on every connection: its releases came before its goodbyes, and
/// those that did not come never will.
bool Connections::part(Connection& connection, runtime::Wakes& wakes) {
  if (connection.is_ours) {
    connection.has_parted = true;
    parting_.wake_all(wakes);
    return false;
  }
  if (!connection.known || std::exchange(connection.has_parted, true)) return false;
  post(connection, frame_of(FrameKind::goodbye));
  Peer& peer = peers_[connection.peer];
  return ++peer.parted_from == peer.comes_on && depart(connection.peer, has_ended);
}

void Connections::pushed_in(ConnectionId id) {
  {
    runtime::Lock lock(mutex_);
    Connection& connection = inbound(id);
    if (!connection.lost.empty()) return;
    if (++connection.to_give_back >= window / 2) post(connection, frame_of(FrameKind::credits));
  }
  send_posted();
}

void Connections::deliver(ConnectionId id, Frame frame) {
  bool serves = false, is_gone = false;
  std::uint32_t peer = 0;
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    Connection& connection = inbound(id);
    connection.is_heard = true;
    take_credits(connection, frame.credits, wakes);
    switch (frame.kind) {
      case FrameKind::hello: greet(connection, frame, wakes); break;
      case FrameKind::refuse:
        lose(connection, frame.text, wakes);
        is_gone = connection.known && forsake(connection.peer, Which::all, frame.text, wakes);
        break;
      case FrameKind::reply:
      case FrameKind::error: answer(connection, std::move(frame), wakes); break;
      case FrameKind::request:
      case FrameKind::one_way:
        // Anything from a peer that was not welcomed is dropped; it was told.
        serves = connection.known;
        if (serves && frame.kind == FrameKind::request) ++connection.to_give_back;
        // Replies may be long in coming, and others need those credits to be answered.
        if (connection.to_give_back >= window / 2) post(connection, frame_of(FrameKind::credits));
        break;
      case FrameKind::goodbye: is_gone = part(connection, wakes); break;
      case FrameKind::welcome:
        connection.is_welcome = true;
        meeting_.wake_all(wakes);
        break;
      case FrameKind::heartbeat:  // answered by any frame
        if (connection.known) post(connection, frame_of(FrameKind::credits));
        break;
      case FrameKind::credits: break;
    }
    peer = connection.peer;
  }
  send_posted();
  if (serves) serve_(id, std::move(frame));
  if (is_gone) gone_(peer, frame.kind == FrameKind::refuse ? frame.text : has_ended);
}

void Connections::connection_lost(ConnectionId id, const std::string& reason) {
  bool is_gone = false;
  std::uint32_t peer = 0;
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    Connection& connection = inbound(id);
    lose(connection, reason, wakes);
    peer = connection.peer;
    is_gone = connection.known && forsake(peer, Which::not_met, reason, wakes);
  }
  send_posted();
  if (is_gone) gone_(peer, reason);
}

Traffic Connections::wan_traffic(std::uint32_t graph) const {
  runtime::Lock lock(mutex_);
  return counted_[graph].wan;
}

Traffic Connections::traffic(std::uint32_t graph) const {
  runtime::Lock lock(mutex_);
  return counted_[graph].all;
}

Traffic Connections::traffic() const {
  runtime::Lock lock(mutex_);
  Traffic sum;
  for (const Counted& counted : counted_) sum += counted.all;
  return sum;
}

}  // namespace paths
