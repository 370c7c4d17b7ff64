// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/lane_connections.cpp — handshakes, frames and goodbyes of lanes
#include "paths/messages/carriers/lane_connections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/processes/machine.hpp"

namespace paths {
namespace {

bool is_of_run(const Frame& frame, const base::Digest& run) {
  return frame.run_high == run.high && frame.run_low == run.low;
}

/// Checks the first frame on a connection. In the result, the reason is "" if the frame is valid.
Rejection wrong_hello(const Frame& frame, const Peers& peers, std::uint32_t here) {
  if (frame.version != protocol_version)
    return {RefusalWord::version, fmt::format("host {} speaks protocol version {}, not {}",
                                              frame.text, frame.version, protocol_version)};
  if (!is_of_run(frame, peers.run))
    return {RefusalWord::run, fmt::format("host {} is of another run", frame.text)};
  if (frame.kind != FrameKind::lane || frame.lane->kind != LaneKind::hello)
    return {RefusalWord::place, "a message that is not a hello"};
  const bool is_host = frame.from_host < peers.hosts.size() && frame.from_host != here &&
                       peers.hosts[frame.from_host].name == frame.text;
  if (is_host) return {};
  return {RefusalWord::place, fmt::format("a hello of host {}, which does not exist", frame.text)};
}

/// Checks a later frame on a connection with `host`. Returns an error text; "" if the frame is
/// valid.
std::string wrong_frame(const Frame& frame, std::uint32_t host, const base::Digest& run) {
  if (frame.version != protocol_version)
    return fmt::format("protocol version {} on a connection of version {}", frame.version,
                       protocol_version);
  if (!is_of_run(frame, run)) return "a frame of another run";
  if (frame.from_host != host) return fmt::format("a frame of host number {}", frame.from_host);
  return frame.kind == FrameKind::lane ? "" : "a frame that is not of lanes";
}

/// Returns the number of connections, except those that have closed or that close_idle() is
/// closing.
template <class Connections>
std::size_t open_in(const Connections& outward) {
  const auto is_open = [](const auto& entry) {
    return !entry.second.is_closing() && !entry.second.has_closed;
  };
  return static_cast<std::size_t>(std::count_if(outward.begin(), outward.end(), is_open));
}

}  // namespace

LaneConnections::LaneConnections(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers,
                                 std::uint32_t host, std::unique_ptr<Transport> transport,
                                 RejectionLog& log, std::size_t connections_most)
    : runtime_(runtime),
      peers_(std::move(peers)),
      host_(host),
      transport_(std::move(transport)),
      connections_most_(connections_most),
      liveness_(runtime, *peers_, *transport_),
      clocks_(runtime, *peers_, host),
      frames_(*peers_, host, clocks_.identity()) {
  rejections = &log;
  if (!peers_->are_processes) return;
  // The host has not opened any connection yet.
  check_connections = [this, open = runtime::open_descriptors()](const auto& neighbours) {
    check_descriptors(*peers_, host_, open, neighbours);
  };
}

LaneConnections::~LaneConnections() { stop(); }

void LaneConnections::stop() {
  beats_ = {};  // cancels the task and waits for its end
  transport_->stop();
}

void LaneConnections::start(MessageEndpoint& lanes) {
  lanes_ = &lanes;
  transport_->start(*this);
  if (peers_->are_processes)
    beats_ = runtime_.spawn(runtime::ContextRole::service,
                            {"beats of lanes of", peers_->hosts[host_].name, host_}, [this] {
                              for (;;) {
                                runtime_.sleep_for(peers_->liveness.look_pause());
                                for (const auto& [host, why] : look_after(peers_->liveness.silent))
                                  lanes_->host_lost(host, why);
                              }
                            });
}

void LaneConnections::send(std::uint32_t host, LaneFrame frame) {
  if (switches_ != nullptr && switches_->has(host))
    return switches_->deliver(host_, host, std::move(frame));
  Frame whole = frames_.of(std::move(frame));
  std::optional<ConnectionId> connection;
  {
    runtime::Lock lock(mutex_);
    if (const auto found = outward_.find(host); found != outward_.end()) {
      Outward& outward = found->second;
      outward.used = ++frames_sent_;
      liveness_.note_departure(host);
      if (outward.is_closing()) return outward.waiting.push_back(std::move(whole));
      connection = outward.id;
    }
  }
  if (!connection) {
    close_idle();
    connection = connect(host);
  }
  transport_->send(*connection, std::move(whole));
}

bool LaneConnections::reports_room(std::uint32_t host) const {
  const bool is_here = switches_ != nullptr && switches_->has(host);
  return !is_here && transport_->reports_room(host);
}

bool LaneConnections::has_room(std::uint32_t host) {
  runtime::Lock lock(mutex_);
  const auto found = outward_.find(host);
  if (found == outward_.end() || found->second.is_closing()) return true;
  found->second.has_no_room = !transport_->has_room(found->second.id);
  return !found->second.has_no_room;
}

void LaneConnections::room_made(ConnectionId connection) {
  std::uint32_t host = host_;
  {
    runtime::Lock lock(mutex_);
    const auto known = to_.find(connection);
    if (known == to_.end()) return;
    host = known->second;
    if (const auto outward = outward_.find(host); outward != outward_.end())
      outward->second.has_no_room = false;
  }
  lanes_->room_made(host);
}

ConnectionId LaneConnections::connect(std::uint32_t host) {
  const ConnectionId connection = transport_->connect(host);
  {
    runtime::Lock lock(mutex_);
    Outward& outward = outward_[host];
    outward.id = connection;
    outward.used = ++frames_sent_;
    outward.is_welcome = false;
    liveness_.note_arrival(host);
    outward.has_closed = gone_.contains(host);
    to_[connection] = host;
  }
  transport_->send(connection, frames_.of(LaneKind::hello));
  return connection;
}

/// Handles the end of a connection to `host` that close_idle() has closed. If frames for the host
/// wait, opens a new connection and sends the waiting frames. Frames for which send() is called
/// during this time are sent after them, in the order of the calls.
void LaneConnections::finish_closing(std::uint32_t host) {
  std::optional<ConnectionId> next;
  for (;;) {
    std::vector<Frame> frames;
    {
      runtime::DeferredWakes wakes;
      runtime::Lock lock(mutex_);
      Outward& outward = outward_[host];
      frames.swap(outward.waiting);
      if (frames.empty()) {
        parting_.wake_all(wakes);
        outward.closing.reset();
        if (!next) outward_.erase(host);
        return;
      }
    }
    if (!next) next = connect(host);
    for (Frame& frame : frames) transport_->send(*next, std::move(frame));
  }
}

/// If there are too many connections, closes the connection that was idle for longest. Keeps
/// connections to switches, because a switch notices the end of a host by the loss of its
/// connection. Also keeps connections on which the transport has no room, because messages wait
/// until there is room.
void LaneConnections::close_idle() {
  ConnectionId idle = 0;
  {
    runtime::Lock lock(mutex_);
    if (open_in(outward_) < connections_most_) return;
    const auto must_stay = [&](const auto& entry) {
      return peers_->hosts[entry.first].is_switch || entry.second.has_no_room ||
             entry.second.is_closing() || entry.second.has_closed;
    };
    const auto rank = [&](const auto& entry) {
      return std::pair(must_stay(entry), entry.second.used);
    };
    const auto longest =
        std::min_element(outward_.begin(), outward_.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    if (must_stay(*longest)) return;
    idle = longest->second.id;
    longest->second.closing = idle;
  }
  transport_->send(idle, frames_.of(LaneKind::goodbye, 1));
}

/// Accepts the first connection of a host. Refuses any further connection of the same host, even if
/// the first connection is lost.
void LaneConnections::greet(ConnectionId connection, const Frame& hello) {
  Rejection wrong = wrong_hello(hello, *peers_, host_);
  if (wrong.reason.empty()) {
    runtime::Lock lock(mutex_);
    if (connected_.insert(hello.from_host).second) {
      from_[connection] = hello.from_host;
      clocks_.compare(hello.from_host, hello.lane->signature_digest);
    } else {
      wrong.reason = fmt::format("host {} is connected to host {} already: was it started twice?",
                                 hello.text, peers_->hosts[host_].name);
    }
  }
  if (wrong.reason.empty())
    return transport_->send(connection, frames_.of(LaneKind::welcome, lanes_->end_progress()));
  rejections->tell(transport_->source(connection), "lanes: refused: " + wrong.reason);
  transport_->send(connection, refusal_of_stranger(wrong.word));
  transport_->drop(connection);
}

/// Ends a connection on which `host` sent an invalid frame. `why` describes the frame.
void LaneConnections::break_off(ConnectionId connection, std::uint32_t host,
                                const std::string& why) {
  {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    from_.erase(connection);
    to_.erase(connection);
    if (const auto outward = outward_.find(host);
        outward != outward_.end() && outward->second.id == connection)
      outward->second.end();
    parting_.wake_all(wakes);
  }
  transport_->drop(connection);
  lanes_->host_lost(host, why);
}

void LaneConnections::answered(ConnectionId connection, const LaneFrame& frame) {
  bool is_closed = false;
  const bool is_goodbye = frame.kind == LaneKind::goodbye;
  std::uint32_t host = host_, ended = host_;
  {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    host = to_[connection];
    const auto outward = outward_.find(host);
    const bool is_current = outward != outward_.end() && outward->second.id == connection;
    is_closed = is_goodbye && outward != outward_.end() && outward->second.closing == connection;
    // A goodbye that does not reply to a goodbye of this host shows that the other host has ended.
    if (is_goodbye && !is_closed && !is_parting_) {
      ended = host;
      ended_.insert(ended);
    }
    if (is_current) {
      outward->second.is_welcome = true;
      if (is_goodbye && !is_closed) outward->second.has_closed = true;
      if (frame.kind == LaneKind::welcome) outward->second.end_progress = frame.bytes;
    }
    if (is_closed) to_.erase(connection);
    parting_.wake_all(wakes);
  }
  if (is_closed) {
    transport_->drop(connection);
    finish_closing(host);
  }
  if (ended != host_) lanes_->host_ended(ended);
}

void LaneConnections::deliver(ConnectionId connection, Frame&& frame) {
  std::uint32_t from = host_;
  bool is_ours = false, is_welcome = false, is_of_our_clock = false;
  {
    runtime::Lock lock(mutex_);
    if (const auto known = to_.find(connection); known != to_.end()) {
      is_ours = true;
      from = known->second;
      const auto outward = outward_.find(from);
      is_welcome = outward != outward_.end() && outward->second.is_welcome;
    } else if (const auto peer = from_.find(connection); peer != from_.end()) {
      from = peer->second;
    }
    is_of_our_clock = clocks_.has(from);
    if (from != host_) liveness_.note_arrival(from);
  }
  if (from == host_) return greet(connection, frame);
  if (is_ours && !is_welcome && frame.kind == FrameKind::refuse)
    return break_off(connection, from, text_of_refusal(peers_->hosts[from].name, "", frame));
  if (const std::string wrong = wrong_frame(frame, from, peers_->run); !wrong.empty()) {
    rejections->tell(transport_->source(connection), "lanes: refused: it sent " + wrong);
    return break_off(connection, from, "it sent " + wrong);
  }
  if (is_ours) return answered(connection, *frame.lane);
  if (frame.lane->kind == LaneKind::hello)  // a repeated hello, which asks for a sign of life
    return transport_->send(connection, frames_.of(LaneKind::welcome, lanes_->end_progress()));
  if (frame.lane->kind != LaneKind::goodbye) {
    frame.lane->text = std::move(frame.text);
    if (is_of_our_clock) clocks_.add_lateness(*frame.lane);
    return lanes_->deliver(from, std::move(*frame.lane));
  }
  const bool is_of_host = frame.lane->bytes == 0;
  {
    runtime::Lock lock(mutex_);
    if (is_of_host) {
      ended_.insert(from);
    } else {
      from_.erase(connection);
      connected_.erase(from);
    }
  }
  transport_->send(connection, frames_.of(LaneKind::goodbye, is_of_host ? 0 : 1));
  if (is_of_host) lanes_->host_ended(from);
}

std::uint64_t LaneConnections::body_bytes_max(ConnectionId connection, const Frame& head) {
  {
    const runtime::Lock lock(mutex_);
    if (!from_.contains(connection)) return 0;
  }
  const bool is_data = head.kind == FrameKind::lane && head.lane->kind == LaneKind::data;
  return is_data ? lanes_->frame_bytes_max() : 0;
}

void LaneConnections::connection_lost(ConnectionId connection, const std::string& reason) {
  std::uint32_t host = host_;
  bool was_closing = false;
  std::string why;
  {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    if (const auto known = from_.find(connection); known != from_.end()) {
      host = known->second;
      from_.erase(known);
    }
    if (const auto known = to_.find(connection); known != to_.end()) {
      host = known->second;
      Outward& outward = outward_[host];
      was_closing = outward.closing == connection;
      if (was_closing) to_.erase(known);
      if (!was_closing && outward.id == connection) outward.has_closed = true;
      parting_.wake_all(wakes);
    }
    // Returns if one of the two hosts has ended, because the loss is then expected.
    if (!was_closing && (ended_.contains(host) || is_parting_)) return;
    why = with_age(reason, liveness_.age_of(host));
  }
  if (was_closing) return finish_closing(host);
  if (host != host_) lanes_->host_lost(host, why);
}

void LaneConnections::part(runtime::Deadline deadline) {
  std::vector<ConnectionId> ours;
  {
    runtime::Lock lock(mutex_);
    const auto is_closing = [](const auto& entry) { return entry.second.is_closing(); };
    const runtime::Reason reason{"goodbyes to idle lanes of", peers_->hosts[host_].name, host_};
    while (std::any_of(outward_.begin(), outward_.end(), is_closing))
      if (parting_.wait(lock, deadline, reason) == runtime::Woken::expired) break;
    is_parting_ = true;
    for (const auto& [host, outward] : outward_)
      if (!outward.has_closed && !outward.is_closing()) ours.push_back(outward.id);
  }
  for (const ConnectionId connection : ours)
    transport_->send(connection, frames_.of(LaneKind::goodbye));
  // A switch does not wait for a host that never replied on its connection, because this host needs
  // no frame of the switch.
  const auto has_closed = [&](const auto& entry) {
    return entry.second.has_closed || entry.second.is_closing() ||
           (peers_->hosts[host_].is_switch && !entry.second.is_welcome);
  };
  std::vector<ConnectionId> of_others;
  {
    runtime::Lock lock(mutex_);
    const runtime::Reason reason{"goodbyes to lanes of", peers_->hosts[host_].name, host_};
    while (!std::all_of(outward_.begin(), outward_.end(), has_closed))
      if (parting_.wait(lock, deadline, reason) == runtime::Woken::expired) break;
    for (const auto& [connection, from] : from_) of_others.push_back(connection);
  }
  for (const ConnectionId connection : of_others)
    transport_->send(connection, frames_.of(LaneKind::goodbye));
  beats_ = {};
}

std::set<std::uint32_t> LaneConnections::silent() const {
  runtime::Lock lock(mutex_);
  std::set<std::uint32_t> hosts;
  for (const auto& [host, outward] : outward_)
    if (!outward.is_welcome && !outward.has_closed) hosts.insert(host);
  return hosts;
}

std::uint64_t LaneConnections::end_progress(std::uint32_t host) const {
  runtime::Lock lock(mutex_);
  const auto outward = outward_.find(host);
  return outward == outward_.end() ? 0 : outward->second.end_progress;
}

std::map<std::uint32_t, std::string> LaneConnections::look_after(base::Nanos silent_max) {
  const std::uint64_t progress = lanes_->end_progress();
  LaneLiveness::Look look;
  {
    runtime::DeferredWakes wakes;
    const runtime::Lock lock(mutex_);
    std::map<std::uint32_t, LaneLiveness::Watched> watched;
    for (const auto& [connection, host] : from_) {
      if (ended_.contains(host) || gone_.contains(host)) continue;
      watched[host].connections.push_back(connection);
      watched[host].beat = {connection, LaneKind::welcome};
    }
    for (const auto& [host, outward] : outward_) {
      if (outward.has_closed || gone_.contains(host)) continue;
      watched[host].connections.push_back(outward.id);
      watched[host].is_met = outward.is_welcome;
      watched[host].beat.reset();
      if (outward.is_welcome && !outward.is_closing())
        watched[host].beat = {outward.id, LaneKind::hello};
    }
    look = liveness_.look(watched, silent_max);
    for (const auto& [host, why] : look.silent) {
      if (const auto outward = outward_.find(host); outward != outward_.end())
        outward->second.end();
      gone_.insert(host);
    }
    if (!look.silent.empty()) parting_.wake_all(wakes);
  }
  for (const auto& [connection, kind] : look.beats)
    transport_->send(connection,
                     kind == LaneKind::hello ? frames_.of(kind) : frames_.of(kind, progress));
  return std::move(look.silent);
}

void LaneConnections::forget(std::uint32_t host) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  gone_.insert(host);
  if (const auto outward = outward_.find(host); outward != outward_.end()) outward->second.end();
  parting_.wake_all(wakes);
}

std::size_t LaneConnections::connections() const {
  runtime::Lock lock(mutex_);
  return open_in(outward_);
}

bool LaneConnections::has_heard(std::uint32_t host) const {
  runtime::Lock lock(mutex_);
  if (gone_.contains(host)) return false;
  const auto outward = outward_.find(host);
  if (outward != outward_.end() && outward->second.is_welcome) return !outward->second.has_closed;
  return std::any_of(from_.begin(), from_.end(),
                     [host](const auto& entry) { return entry.second == host; });
}

}  // namespace paths
