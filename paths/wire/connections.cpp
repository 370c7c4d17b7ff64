// SPDX-License-Identifier: Apache-2.0
// paths/wire/connections.cpp — the protocol between two hosts.
#include "paths/wire/connections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "paths/wire/socket_folder.hpp"

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
  bool has_said_goodbye = false;  // we have, on a connection of ours
  bool has_parted = false;        // and our goodbye was answered; or the peer said it
  bool known = false;             // we connected, or the peer said hello and was welcomed
  StageId key = no_stage;         // key_of() the stages it leads to
  std::string lost;               // why, when it is
  std::int64_t credits = window;  // less than none: requests do not wait for them
  std::uint32_t to_give_back = 0;
  std::uint64_t next_call = 0;
  std::unordered_map<std::uint64_t, Call*> calls;
  std::set<std::uint64_t> given_up;  // calls that left and may still be answered
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

Frame Connections::goodbye() const {
  Frame frame = frame_of(FrameKind::goodbye);
  frame.text = failure_;
  return frame;
}

void Connections::note_failure(const std::string& failure) {
  runtime::Lock lock(mutex_);
  if (failure_.empty()) failure_ = failure;
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

// ---- meeting, and whether those who were met still live ----------------------------------------

/// Called with the mutex held.
std::set<std::uint32_t> Connections::absent() const {
  std::set<std::uint32_t> absent;
  for (const auto& [host, peer] : peers_)
    if (!peer.departed && peer.greeted_on < peer.comes_on.size()) absent.insert(host);
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
  gone_(peer, why, false);
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
  await_goodbyes(deadline);
  transport_->stop();
}

/// By peer, how many of our frames it has still to make room for or to answer. Called with the
/// mutex held.
std::map<std::uint32_t, std::size_t> Connections::unfinished() const {
  std::map<std::uint32_t, std::size_t> left;
  for (const auto& [id, connection] : connections_)
    if (connection->is_ours && !connection->has_parted && connection->lost.empty())
      left[connection->peer] += 1 + connection->held.size();
  return left;
}

/// Each peer has the time that is left until `deadline` for each of its steps, whatever others do.
void Connections::await_goodbyes(runtime::Deadline deadline) {
  const base::Nanos patience = deadline.at - runtime_.now();
  std::map<std::uint32_t, std::pair<std::size_t, base::Nanos>> last_step;  // what was left, until
  bool is_late = false;
  runtime::Lock lock(mutex_);
  for (;;) {
    const auto left = unfinished();
    if (left.empty() && !sending_) return;
    deadline.at = base::Nanos::max();
    for (const auto& [peer, count] : left) {
      const auto step = std::pair(count, runtime_.now() + patience);
      auto& last = last_step.try_emplace(peer, step).first->second;
      if (count < last.first) last = step;
      if (is_late && last.second <= runtime_.now()) {
        forgo_goodbyes(peer, patience);
      } else {
        deadline.at = std::min(deadline.at, last.second);
      }
    }
    if (unfinished().empty() && !sending_) return;
    is_late = parting_.wait(lock, deadline,
                            {"answers to the goodbyes of host", plan_->hosts[host_].name}) ==
              runtime::Woken::expired;
  }
}

void Connections::forgo_goodbyes(std::uint32_t peer, base::Nanos patience) {
  for (const auto& [id, connection] : connections_)
    if (connection->is_ours && connection->peer == peer) connection->has_parted = true;
  given_up_.push_back(fmt::format("host {} gave no sign of life at the end for {}",
                                  plan_->hosts[peer].name, base::format_time(patience)));
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
    connection->key = key;
    known = connection.get();
    connections_[connection->id] = std::move(connection);
    Frame hello = frame_of(FrameKind::hello);
    hello.stage = key;
    hello.text = plan_->hosts[host_].name;
    post(*known, std::move(hello));
  }
  return *known;
}

Connections::Connection* Connections::find(ConnectionId id) {
  const auto known = connections_.find(id);
  return known == connections_.end() ? nullptr : known->second.get();
}

Connections::Connection& Connections::found_or_new(ConnectionId id) {
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
    for (const ConnectionId id : dropped)
      if (const Connection* connection = find(id); connection != nullptr && !connection->is_ours)
        connections_.erase(id);  // whoever still answers on it, in vain
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
    if (!call.is_held && !call.reply) connection.given_up.insert(call.number);
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
    Connection* connection = find(id);
    if (connection == nullptr || !connection->lost.empty()) return;
    post(*connection, std::move(frame));
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
  if (!std::exchange(connection.is_parting, false)) return;
  connection.has_said_goodbye = true;
  post(connection, goodbye());
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

// ---- what comes in, held to the protocol -----------------------------------------------------

/// What is wrong with a frame on a connection; empty when nothing is. What its operation may do is
/// for whoever serves it.
std::string Connections::wrong(const Connection& connection, const Frame& frame) const {
  if (frame.kind == FrameKind::refuse) return {};
  if (!connection.known)
    return frame.kind == FrameKind::hello ? std::string() : "a frame before its hello";
  const std::string& peer = plan_->hosts[connection.peer].name;
  if (frame.version != protocol_version)
    return fmt::format("protocol version {} on a connection of version {}", frame.version,
                       protocol_version);
  const base::Digest theirs{frame.plan_high, frame.plan_low};
  if (!(theirs == plan_->digest))
    return fmt::format("config {}, not config {}", theirs.text(), plan_->digest.text());
  if (frame.from_host != connection.peer)
    return fmt::format("a frame of host number {} in place of host {}", frame.from_host, peer);
  return connection.is_ours ? wrong_from_us(connection, frame) : wrong_to_us(connection, frame);
}

/// On a connection we made: answers, and only to what was asked.
std::string Connections::wrong_from_us(const Connection& connection, const Frame& frame) const {
  const std::int64_t used = window - connection.credits;
  if (frame.credits > used) return fmt::format("{} credits of {}", frame.credits, used);
  switch (frame.kind) {
    case FrameKind::reply:
    case FrameKind::error: break;
    case FrameKind::goodbye: return connection.has_said_goodbye ? "" : "a goodbye unasked";
    case FrameKind::hello:
    case FrameKind::request:
    case FrameKind::one_way: return "an operation in place of an answer";
    default: return {};
  }
  if (frame.result.origin.cluster >= plan_->clusters.size())
    return fmt::format("cluster {} of {}", frame.result.origin.cluster, plan_->clusters.size());
  const auto call = connection.calls.find(frame.call);
  const bool is_awaited = call != connection.calls.end()
                              ? !call->second->is_held && !call->second->reply
                              : connection.given_up.contains(frame.call);
  return is_awaited ? std::string()
                    : fmt::format("a reply to call {}, which does not wait for one", frame.call);
}

/// On a connection the peer made: a hello, operations, a goodbye.
std::string Connections::wrong_to_us(const Connection& connection, const Frame& frame) const {
  if (frame.credits != 0) return fmt::format("{} credits of 0", frame.credits);
  if (frame.kind == FrameKind::heartbeat || frame.kind == FrameKind::credits) return {};  // of life
  if (connection.has_parted) return "a frame after its goodbye";
  switch (frame.kind) {
    case FrameKind::request:
    case FrameKind::one_way: break;
    case FrameKind::goodbye: return {};
    case FrameKind::hello: return "a second hello";
    default: return "an answer in place of an operation";
  }
  if (key_of(frame.stage) == connection.key) return {};
  return fmt::format("stage {} on the connection to stage {}", frame.stage, connection.key);
}

/// The two hosts compare what they speak and which plan they run before anything else counts.
std::string Connections::wrong_greeting(const Frame& hello) const {
  const std::string& here = plan_->hosts[host_].name;
  const base::Digest theirs{hello.plan_high, hello.plan_low};
  if (hello.version != protocol_version)
    return fmt::format("host {} speaks protocol version {}, host {} version {}", hello.text,
                       hello.version, here, protocol_version);
  if (!(theirs == plan_->digest))
    return fmt::format("host {} runs config {}, host {} config {}", hello.text, theirs.text(), here,
                       plan_->digest.text());
  if (hello.from_host >= plan_->hosts.size())
    return fmt::format("host {} has no place in config {}", hello.text, theirs.text());
  if (hello.text != plan_->hosts[hello.from_host].name)
    return fmt::format("host {} says that it is host {}", hello.text,
                       plan_->hosts[hello.from_host].name);
  const auto peer = peers_.find(hello.from_host);
  if (peer == peers_.end() || !peer->second.comes_on.contains(hello.stage))
    return fmt::format("host {} has no path into host {} at stage {}", hello.text, here,
                       hello.stage);
  if (peer->second.departed)
    return fmt::format("host {} is back, but host {} goes on without it: {}", hello.text, here,
                       peer->second.why);
  if (peer->second.comes_on.at(hello.stage))
    return fmt::format("host {} is connected to host {} already: was it started twice?", hello.text,
                       here);
  return {};
}

void Connections::greet(Connection& connection, const Frame& hello, runtime::Wakes& wakes) {
  if (const std::string wrong = wrong_greeting(hello); !wrong.empty()) {
    if (const auto named = plan_->host_named(hello.text)) peers_[*named].refused = wrong;
    return turn_away(connection, wrong, wakes);
  }
  connection.peer = hello.from_host;
  connection.key = hello.stage;
  connection.known = true;
  Peer& peer = peers_[hello.from_host];
  peer.comes_on[hello.stage] = true;
  ++peer.greeted_on;
  meeting_.wake_all(wakes);
  post(connection, frame_of(FrameKind::welcome));
}

/// A stranger, or one that differs: nothing it did counts.
void Connections::turn_away(Connection& connection, const std::string& wrong,
                            runtime::Wakes& wakes) {
  complain(transport_->source(connection.id), "refused: " + wrong);
  Frame refusal = frame_of(FrameKind::refuse);
  refusal.text = wrong;
  post(connection, std::move(refusal));
  lose(connection, wrong, wakes);
}

/// Called with the mutex held. A host of the plan, of which nothing is believed any more, on none
/// of its connections; true once for each.
bool Connections::refuse(Connection& connection, const std::string& wrong, runtime::Wakes& wakes) {
  const std::uint32_t peer = connection.peer;
  const std::string reason = fmt::format("host {} refuses host {}: it sent {}",
                                         plan_->hosts[host_].name, plan_->hosts[peer].name, wrong);
  for (auto& [id, other] : connections_) {
    if (!other->known || other->peer != peer || !other->lost.empty()) continue;
    Frame refusal = frame_of(FrameKind::refuse);
    refusal.text = reason;
    post(*other, std::move(refusal));
  }
  return forsake(peer, Which::all, reason, wakes);
}

void Connections::refuse(ConnectionId id, const std::string& wrong) {
  std::uint32_t peer = 0;
  std::string reason;
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    Connection* connection = find(id);
    if (connection == nullptr || !connection->lost.empty()) return;
    peer = connection->peer;
    if (!refuse(*connection, wrong, wakes)) return;
    reason = connection->lost;
  }
  send_posted();
  gone_(peer, reason, false);
}

TravelError Connections::refuse_answer(std::uint32_t host, StageId stage, std::uint32_t path,
                                       const std::string& wrong) {
  Connection* connection = nullptr;
  {
    runtime::Lock lock(mutex_);
    connection = &connection_to(host, stage);  // ours stay
  }
  refuse(connection->id, wrong);
  Operation asked;
  asked.path = path;
  runtime::Lock lock(mutex_);
  return gone(*connection, asked);
}

/// Called with the mutex held. Whoever makes many connections, or sends many frames, is told of
/// once, and nobody fills the log under many names.
void Connections::complain(const std::string& source, const std::string& what) {
  constexpr std::size_t sources_max = 32;
  if (complained_of_.size() > sources_max || !complained_of_.insert(source).second) return;
  const std::string& here = plan_->hosts[host_].name;
  if (complained_of_.size() > sources_max) {
    spdlog::warn("host {}: others that are turned away are not told of any more", here);
  } else if (source.empty()) {
    spdlog::warn("host {}: {}", here, what);
  } else {
    spdlog::warn("host {}: from {}: {}", here, source, what);
  }
}

void Connections::turned_away(const std::string& source, const std::string& reason) {
  runtime::Lock lock(mutex_);
  complain(source, reason);
}

void Connections::answer(Connection& connection, Frame frame, runtime::Wakes& wakes) {
  if (connection.given_up.erase(frame.call) > 0) return;
  const auto call = connection.calls.find(frame.call);
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
  for (const Plan::Entrance& entrance : plan_->shares[host_].entrances)
    peers_[entrance.from_host].comes_on[key_of(entrance.stage)] = false;
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
  connection.has_parted = true;
  post(connection, goodbye());
  Peer& peer = peers_[connection.peer];
  return ++peer.parted_from == peer.comes_on.size() && depart(connection.peer, has_ended);
}

void Connections::pushed_in(ConnectionId id) {
  {
    runtime::Lock lock(mutex_);
    Connection* connection = find(id);
    if (connection == nullptr || !connection->lost.empty()) return;
    if (++connection->to_give_back >= window / 2) post(*connection, frame_of(FrameKind::credits));
  }
  send_posted();
}

void Connections::deliver(ConnectionId id, Frame frame) {
  bool serves = false, has_parted = false, is_refused = false;
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
        case FrameKind::hello: greet(connection, frame, wakes); break;
        case FrameKind::refuse:
          lose(connection, frame.text, wakes);
          reason = connection.lost;
          is_refused = connection.known && forsake(connection.peer, Which::all, reason, wakes);
          break;
        case FrameKind::reply:
        case FrameKind::error: answer(connection, std::move(frame), wakes); break;
        case FrameKind::request: ++connection.to_give_back; [[fallthrough]];
        case FrameKind::one_way:
          serves = true;
          // Replies may be long in coming, and others need those credits to be answered.
          if (connection.to_give_back >= window / 2) post(connection, frame_of(FrameKind::credits));
          break;
        case FrameKind::goodbye:
          if (failure_.empty()) failure_ = frame.text;
          has_parted = part(connection, wakes);
          break;
        case FrameKind::welcome:
          connection.is_welcome = true;
          meeting_.wake_all(wakes);
          break;
        case FrameKind::heartbeat:  // answered by any frame
          post(connection, frame_of(FrameKind::credits));
          break;
        case FrameKind::credits: break;
      }
    }
    peer = connection.peer;
  }
  send_posted();
  if (serves) serve_(id, std::move(frame));
  if (is_refused) gone_(peer, reason, false);
  if (has_parted) gone_(peer, has_ended, true);
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
    is_gone = connection->known && forsake(peer, Which::not_met, reason, wakes);
  }
  send_posted();
  if (is_gone) gone_(peer, reason, false);
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
