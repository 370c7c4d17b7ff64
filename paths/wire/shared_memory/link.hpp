// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/link.hpp — rings and connections of one shared-memory link
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/wire/detour.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/shared_memory/codec.hpp"
#include "paths/wire/shared_memory/socket.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Sends the frames of a link's connections by another transport. A link needs this object if there
/// is no shared memory for it.
class LinkDetour {
 public:
  LinkDetour(std::shared_ptr<Detour> detour, std::uint32_t link, std::uint32_t host)
      : detour_(std::move(detour)), link_(link), host_(host) {}
  void send(std::uint32_t connection, Frame&& frame) {
    const auto [known, is_new] = carried_.try_emplace(connection);
    if (is_new) known->second = detour_->connect(std::uint64_t{link_} << 32 | connection, host_);
    detour_->send(known->second, std::move(frame));
  }
  void drop(std::uint32_t connection) {
    const auto known = carried_.extract(connection);
    if (known) detour_->drop(known.mapped());
  }

 private:
  std::shared_ptr<Detour> detour_;
  std::uint32_t link_, host_;
  std::unordered_map<std::uint32_t, ConnectionId> carried_;
};

/// A link between two processes of one machine over shared memory (not a link between clusters).
/// One of the two hosts makes the link, and then opens connections to the other host over the link.
/// Each of these connections carries frames in both directions. A host that closes its end of a
/// connection announces this once to the other host.
///
/// Thread-safe: any OS thread or fiber may write; one thread at a time reads. A thread may close
///              the socket only while no other thread reads or writes.
class Link {
 public:
  /// `to_host` is the peer, if this host makes the link; nullopt if the peer makes the link.
  Link(std::uint32_t its_number, std::optional<std::uint32_t> to_host)
      : number(its_number), host(to_host) {}

  const std::uint32_t number;
  const std::optional<std::uint32_t> host;
  bool is_ours() const { return host.has_value(); }

  // ---- for the services' thread only (the OS thread whose fibers work for other hosts) ----
  Descriptor socket;
  RingArea area;
  /// Whether greetings were exchanged. Any thread may read this member.
  std::atomic<bool> has_begun = false;

  /// Begins to use the rings: sends the kept frames, and allows reading. `direction` (0 or 1, as in
  /// RingArea::control()) is the direction in which this host writes.
  void begin(RingArea rings, PollingFlag peer, int direction);
  /// Sends kept frames and all later frames by `detour`. This function is called instead of begin()
  /// if there is no shared memory.
  void divert(LinkDetour detour);
  /// Ends the link, so that no more frames leave. Returns the connections that were open.
  std::vector<ConnectionId> end();

  // ---- thread-safe functions ----
  bool is_diverted() const { return is_diverted_; }
  /// Opens a connection. Returns nullopt if the link has ended.
  std::optional<ConnectionId> connect();
  /// Writes a frame. Discards the frame if the connection is closed. `AnyFrame` is Frame or
  /// ShortFrame.
  /// Throws: LinkError, and any exception of the encoding.
  template <class AnyFrame>
  void write(ConnectionId connection, const AnyFrame& frame);
  /// Closes a connection and notifies the peer. Returns false if the connection was closed already.
  bool close(ConnectionId connection);
  /// Returns whether frames are kept because there was no room for them, or no ring yet.
  bool has_kept() const { return writer_.has_kept(); }
  /// Returns true if no frame of the link is kept. If the result is false, Receiver::room_made() is
  /// called for the connection later.
  bool has_room(ConnectionId connection);
  bool has_room_for_waiters() const { return waits_for_room_.load() && !has_kept(); }
  std::vector<ConnectionId> take_waiters_for_room();
  /// Writes kept frames while there is room.
  /// Throws: LinkError.
  void push();
  /// Returns whether the link has no connections.
  /// Requires: this host made the link.
  bool is_unused();

  // ---- for the reading thread only ----
  FrameReader reader;
  /// Whether incoming bytes are ignored because the peer broke the protocol.
  bool is_wrong = false;
  /// Returns whether the reading thread has work on this link. The call is fast if there is no
  /// work.
  bool has_something() { return reader.has_more() || has_kept() || has_room_for_waiters(); }
  /// Returns whether this host has closed the connection and the peer has not confirmed the close,
  /// or whether the link has ended.
  bool has_closed(std::uint32_t connection);
  enum class Verdict : std::uint8_t { deliver, ignore, lost };
  /// Decides what to do with a record.
  /// Throws: LinkError if the connection of the record does not exist.
  Verdict judge(const FrameReader::Arrived& arrived);
  ConnectionId id_of(std::uint32_t connection) const {
    return std::uint64_t{number} << 32 | connection;
  }
  /// Returns the receiver of a connection's short frames; nullptr if the connection has no such
  /// receiver. Calls `find` only if no earlier result of `find` is stored for the connection.
  template <class Find>
  ShortEnd* short_end_of(std::uint32_t connection, Find find) {
    for (const auto& [known, end] : short_ends_)
      if (known == connection) return end.get();
    auto found = find();
    if (!found) return nullptr;
    return short_ends_.emplace_back(connection, std::move(found)).second.get();
  }
  void forget_short_end(std::uint32_t connection) {
    std::erase_if(short_ends_, [connection](const auto& one) { return one.first == connection; });
  }
  /// Notifies a peer that sleeps, or that waits for room in the ring that this host reads.
  void wake_peer();

 private:
  bool is_open(std::uint32_t connection);
  bool is_surely_open(std::uint32_t connection) const {
    return surely_open_.load(std::memory_order_acquire) == connection;
  }

  runtime::Mutex sending_;
  FrameWriter writer_;
  std::optional<LinkDetour> detour_;
  PollingFlag peer_;
  std::atomic<bool> is_diverted_{false};
  // Whether a connection waits until kept frames have left.
  std::atomic<bool> waits_for_room_{false};
  // Number of the peer's last sleep (PollingFlag::sleep()) that this host interrupted.
  std::atomic<std::uint64_t> rung_{0};

  runtime::Mutex mutex_;
  bool has_ended_ = false;
  std::uint32_t next_connection_ = 0;
  // Connections, keyed by number. The value is true if the connection is open. The value is false
  // if this host has closed the connection and the peer has not confirmed the close.
  std::unordered_map<std::uint32_t, bool> connections_;
  std::vector<ConnectionId> waiters_for_room_;
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  // Results of `find` in short_end_of(), keyed by connection. Only the reading thread uses this
  // list.
  std::vector<std::pair<std::uint32_t, std::shared_ptr<ShortEnd>>> short_ends_;
  // Number of a connection that is known to be open; `none` if no connection is known to be open.
  // With this number, the check of a frame usually needs no lock.
  std::atomic<std::uint64_t> surely_open_{none};
};

/// Returns the name of the link's peer.
/// Requires: this host made the link.
inline const std::string& peer_name(const Peers& peers, const Link& link) {
  return peers.hosts[*link.host].name;
}

}  // namespace paths
