// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/link.cpp — connections of a link, and notification of the peer
#include "paths/wire/shared_memory/link.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/errors.hpp"
#include "runtime/polling/moment.hpp"

namespace paths {
namespace {

std::uint32_t own_number(ConnectionId connection) { return static_cast<std::uint32_t>(connection); }

}  // namespace

void Link::begin(RingArea rings, PollingFlag peer, int direction) {
  const int other = 1 - direction;
  runtime::Lock sending(sending_);
  area = std::move(rings);
  peer_ = std::move(peer);
  has_begun = true;
  reader = FrameReader(RingReader(area.control(other), area.bytes(other)));
  writer_.begin(RingWriter(area.control(direction), area.bytes(direction)),
                [this] { wake_peer(); });
  writer_.push();
}

void Link::divert(LinkDetour detour) {
  const runtime::Lock sending(sending_);
  detour_ = std::move(detour);
  is_diverted_ = true;
  for (auto& [connection, frame] : writer_.take_kept()) detour_->send(connection, std::move(frame));
}

std::vector<ConnectionId> Link::end() {
  std::vector<ConnectionId> open;
  runtime::Lock sending(sending_);
  socket.close();
  writer_.forget_all();
  detour_.reset();
  runtime::Lock lock(mutex_);
  has_ended_ = true;
  surely_open_ = none;
  for (const auto& [connection, is_open] : connections_)
    if (is_open) open.push_back(id_of(connection));
  connections_.clear();
  return open;
}

std::optional<ConnectionId> Link::connect() {
  runtime::Lock lock(mutex_);
  if (has_ended_) return std::nullopt;
  connections_[next_connection_] = true;
  return id_of(next_connection_++);
}

bool Link::is_open(std::uint32_t connection) {
  if (is_surely_open(connection)) return true;
  runtime::Lock lock(mutex_);
  const auto found = connections_.find(connection);
  if (found == connections_.end() || !found->second) return false;
  surely_open_ = connection;
  return true;
}

template <class AnyFrame>
void Link::write(ConnectionId connection, const AnyFrame& frame) {
  runtime::Lock sending(sending_);
  if (!is_open(own_number(connection))) return;
  if constexpr (std::is_same_v<AnyFrame, Frame>)
    if (detour_) return detour_->send(own_number(connection), Frame(frame));
  ENSURE(!detour_);  // a diverted link sends no short frames
  writer_.write(own_number(connection), frame);
}
template void Link::write(ConnectionId, const Frame&);
template void Link::write(ConnectionId, const ShortFrame&);

bool Link::close(ConnectionId id) {
  const std::uint32_t connection = own_number(id);
  runtime::Lock sending(sending_);
  {
    runtime::Lock lock(mutex_);
    const auto found = connections_.find(connection);
    if (found == connections_.end() || !std::exchange(found->second, false)) return false;
    surely_open_ = none;
    if (!has_begun) connections_.erase(found);  // the peer does not know the connection yet
  }
  // Some frames may be kept, because the ring had no room for them. If this host made the link,
  // drops these frames, so that a later process at the same address does not get them. If the peer
  // made the link, they are sent later, because one of them may contain the reason of the close.
  if (is_ours()) writer_.forget(connection);
  if (detour_) detour_->drop(connection);
  if (has_begun) writer_.write_end(connection);
  return true;
}

/// Writes kept frames. The lock waits until no other thread or fiber writes, because the other
/// thread may be about to keep a frame for which the ring has no room.
void Link::push() {
  const runtime::Lock sending(sending_);
  writer_.push();
}

/// If the result is false, room_made() is certain to be called later. Either this function sees
/// that the kept frames have left, or the thread that sends these frames sees the waiting
/// connection.
bool Link::has_room(ConnectionId connection) {
  if (!has_kept()) return true;
  runtime::Lock lock(mutex_);
  waits_for_room_ = true;
  if (!has_kept() || has_ended_) return true;
  if (std::find(waiters_for_room_.begin(), waiters_for_room_.end(), connection) ==
      waiters_for_room_.end())
    waiters_for_room_.push_back(connection);
  return false;
}

std::vector<ConnectionId> Link::take_waiters_for_room() {
  runtime::Lock lock(mutex_);
  waits_for_room_ = false;
  return std::exchange(waiters_for_room_, {});
}

bool Link::is_unused() {
  runtime::Lock lock(mutex_);
  return connections_.empty();
}

bool Link::has_closed(std::uint32_t connection) {
  const runtime::Lock lock(mutex_);
  const auto found = connections_.find(connection);
  return has_ended_ || (found != connections_.end() && !found->second);
}

Link::Verdict Link::judge(const FrameReader::Arrived& arrived) {
  if (!arrived.is_last() && is_surely_open(arrived.connection)) return Verdict::deliver;
  if (arrived.is_last()) forget_short_end(arrived.connection);
  bool was_open = true;
  {
    runtime::Lock lock(mutex_);
    const auto found = connections_.find(arrived.connection);
    const bool is_known = found != connections_.end();
    if (has_ended_) return Verdict::ignore;
    if (!is_known && is_ours()) throw LinkError("a frame on a connection that does not exist");
    if (!arrived.is_last()) {
      if (!is_known) connections_[arrived.connection] = true;
      if (is_known && !found->second) return Verdict::ignore;
      surely_open_ = arrived.connection;
      return Verdict::deliver;
    }
    if (is_known) {
      was_open = found->second;
      surely_open_ = none;
      connections_.erase(found);
    }
    // If this host had already closed the connection, the record is the peer's confirmation.
    if (!was_open) return Verdict::ignore;
    if (!is_known) was_open = false;
  }
  runtime::Lock sending(sending_);
  writer_.write_end(arrived.connection);
  return was_open ? Verdict::lost : Verdict::ignore;
}

/// Notifies the peer at most once in each of the peer's sleeps, because the peer checks the rings
/// before it sleeps again. First waits up to two microseconds. In this time a thread of the peer
/// may start to poll again, after it has just received a frame; the peer then needs no
/// notification.
void Link::wake_peer() {
  const std::uint64_t sleep = peer_.sleep();
  if (sleep == 0 || rung_.exchange(sleep) == sleep) return;
  if (runtime::for_a_moment([&] { return peer_.sleep() == sleep; })) ring_bell(socket);
}

}  // namespace paths
