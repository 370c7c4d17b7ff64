// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/lane_connections.cpp — handshakes, frames and goodbyes of lanes
#include "paths/messages/carriers/lane_connections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace paths {
namespace {

/// Returns the error in the first frame on a connection; "" if the frame is valid.
std::string wrong_hello(const Frame& frame, const Peers& peers, std::uint32_t here) {
  if (frame.kind != FrameKind::lane || frame.version != protocol_version ||
      frame.lane->kind != LaneKind::hello)
    return "a message that is not a hello";
  if (frame.run_high != peers.run.high || frame.run_low != peers.run.low)
    return fmt::format("a hello of another run by {}", frame.text);
  const bool is_host = frame.from_host < peers.hosts.size() && frame.from_host != here &&
                       peers.hosts[frame.from_host].name == frame.text;
  return is_host ? "" : fmt::format("a hello of host {}, which does not exist", frame.text);
}

}  // namespace

LaneConnections::LaneConnections(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers,
                                 std::uint32_t host, std::unique_ptr<Transport> transport,
                                 std::size_t connections_most)
    : peers_(std::move(peers)),
      host_(host),
      transport_(std::move(transport)),
      connections_most_(connections_most),
      rejections_(peers_->hosts[host_].name),
      clocks_(runtime, *peers_, host) {}

LaneConnections::~LaneConnections() { transport_->stop(); }

void LaneConnections::start(MessageEndpoint& lanes) {
  lanes_ = &lanes;
  transport_->start(*this);
}

Frame LaneConnections::frame_of(LaneFrame lane) const {
  Frame frame = new_frame(peers_->run, host_, FrameKind::lane);
  frame.text = std::exchange(lane.text, {});
  frame.lane = std::make_shared<LaneFrame>(std::move(lane));
  return frame;
}

Frame LaneConnections::frame_of(LaneKind kind) const {
  LaneFrame lane;
  lane.kind = kind;
  lane.source = host_;
  if (kind == LaneKind::hello) {
    lane.text = peers_->hosts[host_].name;
    lane.signature_digest = clocks_.identity();
  }
  if (kind == LaneKind::welcome) lane.bytes = lanes_->end_progress();
  return frame_of(std::move(lane));
}

Frame LaneConnections::goodbye(bool is_of_host) const {
  Frame frame = frame_of(LaneKind::goodbye);
  frame.lane->bytes = is_of_host ? 0 : 1;
  return frame;
}

void LaneConnections::send(std::uint32_t host, LaneFrame frame) {
  if (switches_ != nullptr && switches_->has(host))
    return switches_->deliver(host_, host, std::move(frame));
  transport_->send(connection_to(host), frame_of(std::move(frame)));
}

bool LaneConnections::reports_room(std::uint32_t host) const {
  const bool is_here = switches_ != nullptr && switches_->has(host);
  return !is_here && transport_->reports_room(host);
}

bool LaneConnections::has_room(std::uint32_t host) {
  runtime::Lock lock(mutex_);
  const auto found = outward_.find(host);
  if (found == outward_.end()) return true;
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

ConnectionId LaneConnections::connection_to(std::uint32_t host) {
  {
    runtime::Lock lock(mutex_);
    if (const auto found = outward_.find(host); found != outward_.end()) {
      found->second.used = ++frames_;
      return found->second.id;
    }
  }
  close_idle();
  const ConnectionId connection = transport_->connect(host);
  {
    runtime::Lock lock(mutex_);
    Outward& outward = outward_[host];
    outward.id = connection;
    outward.used = ++frames_;
    outward.has_closed = gone_.contains(host);
    to_[connection] = host;
  }
  transport_->send(connection, frame_of(LaneKind::hello));
  return connection;
}

/// If there are too many connections, closes the one that was idle for longest. Does not close
/// connections to switches, because a switch notices the end of a host by the loss of its
/// connection. Also keeps connections for which the transport has reported no room, because
/// messages wait for that room.
void LaneConnections::close_idle() {
  ConnectionId idle = 0;
  {
    runtime::Lock lock(mutex_);
    if (outward_.size() < connections_most_) return;
    const auto must_stay = [&](const auto& entry) {
      return peers_->hosts[entry.first].is_switch || entry.second.has_no_room;
    };
    const auto rank = [&](const auto& entry) {
      return std::pair(must_stay(entry), entry.second.used);
    };
    const auto longest =
        std::min_element(outward_.begin(), outward_.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    if (must_stay(*longest)) return;
    idle = longest->second.id;
    closing_.insert(idle);
    outward_.erase(longest);
  }
  transport_->send(idle, goodbye(false));
}

void LaneConnections::greet(ConnectionId connection, const Frame& hello) {
  if (const std::string wrong = wrong_hello(hello, *peers_, host_); !wrong.empty()) {
    rejections_.tell(transport_->source(connection), "lanes: refused: " + wrong);
    return transport_->drop(connection);
  }
  {
    runtime::Lock lock(mutex_);
    from_[connection] = hello.from_host;
    clocks_.compare(hello.from_host, hello.lane->signature_digest);
  }
  transport_->send(connection, frame_of(LaneKind::welcome));
}

void LaneConnections::answered(ConnectionId connection, const LaneFrame& frame) {
  bool is_closed = false;
  const bool is_goodbye = frame.kind == LaneKind::goodbye;
  std::uint32_t ended = host_;
  {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    is_closed = is_goodbye && closing_.erase(connection) > 0;
    // True if the goodbye is not a reply to a goodbye of this host. The other host has then ended.
    if (is_goodbye && !is_closed && !is_parting_) {
      ended = to_[connection];
      ended_.insert(ended);
    }
    if (const auto outward = outward_.find(to_[connection]);
        outward != outward_.end() && outward->second.id == connection) {
      outward->second.is_welcome = true;
      outward->second.silence.end();
      if (is_goodbye) outward->second.has_closed = true;
      if (frame.kind == LaneKind::welcome) outward->second.end_progress = frame.bytes;
    }
    if (is_closed) to_.erase(connection);
    parting_.wake_all(wakes);
  }
  if (is_closed) transport_->drop(connection);
  if (ended != host_) lanes_->host_ended(ended);
}

void LaneConnections::deliver(ConnectionId connection, Frame&& frame) {
  std::uint32_t from = host_;
  bool is_ours = false, is_of_our_clock = false;
  {
    runtime::Lock lock(mutex_);
    is_ours = to_.contains(connection);
    if (const auto known = from_.find(connection); known != from_.end()) from = known->second;
    is_of_our_clock = clocks_.has(from);
  }
  const bool is_lane = frame.kind == FrameKind::lane && frame.lane != nullptr;
  if (is_ours) {
    if (is_lane) answered(connection, *frame.lane);
    return;
  }
  if (from == host_) return greet(connection, frame);
  if (!is_lane) return;
  if (frame.lane->kind == LaneKind::hello)  // a repeated hello asks for a sign of life
    return transport_->send(connection, frame_of(LaneKind::welcome));
  if (frame.lane->kind != LaneKind::goodbye) {
    frame.lane->text = std::move(frame.text);
    if (is_of_our_clock) clocks_.add_lateness(*frame.lane);
    return lanes_->deliver(from, std::move(*frame.lane));
  }
  const bool is_of_host = frame.lane->bytes == 0;
  {
    runtime::Lock lock(mutex_);
    if (is_of_host)
      ended_.insert(from);
    else
      from_.erase(connection);
  }
  transport_->send(connection, goodbye(is_of_host));
  if (is_of_host) lanes_->host_ended(from);
}

void LaneConnections::connection_lost(ConnectionId connection, const std::string& reason) {
  std::uint32_t host = host_;
  {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    if (closing_.erase(connection) > 0) {
      to_.erase(connection);
      return;
    }
    if (const auto known = from_.find(connection); known != from_.end()) host = known->second;
    if (const auto known = to_.find(connection); known != to_.end()) {
      host = known->second;
      outward_[host].has_closed = true;
      parting_.wake_all(wakes);
    }
    // If one of the two hosts has ended, the loss of their connection is expected.
    if (ended_.contains(host) || is_parting_) return;
  }
  if (host != host_) lanes_->host_lost(host, reason);
}

void LaneConnections::part(runtime::Deadline deadline) {
  std::map<std::uint32_t, Outward> all;
  {
    runtime::Lock lock(mutex_);
    is_parting_ = true;
    all = outward_;
  }
  for (const auto& [host, outward] : all)
    if (!outward.has_closed) transport_->send(outward.id, goodbye(true));
  wait_for_goodbyes(deadline);
  std::vector<ConnectionId> of_others;
  {
    runtime::Lock lock(mutex_);
    for (const auto& [connection, from] : from_) of_others.push_back(connection);
  }
  for (const ConnectionId connection : of_others) transport_->send(connection, goodbye(true));
}

void LaneConnections::wait_for_goodbyes(runtime::Deadline deadline) {
  // A switch does not wait for hosts that never replied, because those hosts need none of its
  // frames.
  const auto has_closed = [&](const auto& entry) {
    return entry.second.has_closed || (peers_->hosts[host_].is_switch && !entry.second.is_welcome);
  };
  runtime::Lock lock(mutex_);
  while (!std::all_of(outward_.begin(), outward_.end(), has_closed))
    if (parting_.wait(lock, deadline, {"goodbyes to lanes of", peers_->hosts[host_].name, host_}) ==
        runtime::Woken::expired)
      return;
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

std::set<std::uint32_t> LaneConnections::look_after(std::uint32_t silent_looks_max) {
  std::set<std::uint32_t> silent;
  std::vector<ConnectionId> asked;
  {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    for (auto& [host, outward] : outward_) {
      if (outward.has_closed) continue;
      if (outward.silence.look() < silent_looks_max) {
        if (outward.is_welcome) asked.push_back(outward.id);
      } else {
        outward.has_closed = true;
        silent.insert(host);
      }
    }
    if (!silent.empty()) parting_.wake_all(wakes);
  }
  for (const ConnectionId connection : asked)
    transport_->send(connection, frame_of(LaneKind::hello));
  return silent;
}

void LaneConnections::forget(std::uint32_t host) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  gone_.insert(host);
  if (const auto outward = outward_.find(host); outward != outward_.end())
    outward->second.has_closed = true;
  parting_.wake_all(wakes);
}

std::size_t LaneConnections::connections() const {
  runtime::Lock lock(mutex_);
  return outward_.size();
}

}  // namespace paths
