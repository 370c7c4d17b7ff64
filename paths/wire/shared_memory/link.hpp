// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/link.hpp — one link between two processes: its rings, its connections.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/wire/detour.hpp"
#include "paths/wire/shared_memory/codec.hpp"
#include "paths/wire/shared_memory/socket.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// The connections of one link that cannot be made.
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

/// A link leads from the host that made it to another and carries all connections that the one
/// makes to the other, both ways. Each end says once of a connection that it sends no more.
///
/// Sharing: any context may write; one at a time reads. The socket is closed by who holds both.
class Link {
 public:
  /// To `host` when this one makes it.
  Link(std::uint32_t its_number, std::optional<std::uint32_t> to_host)
      : number(its_number), host(to_host) {}

  const std::uint32_t number;
  const std::optional<std::uint32_t> host;
  bool is_ours() const { return host.has_value(); }

  // ---- on the services' thread ----
  Descriptor socket;
  RingArea area;
  bool has_begun = false;  ///< greetings were exchanged

  /// What was kept leaves, what comes can be read. `direction` is the one we write.
  void begin(RingArea rings, PollingFlag peer, int direction);
  /// In place of begin(): what was kept and all that is written takes the detour.
  void divert(LinkDetour detour);
  /// Nothing more leaves; answers the connections that were open.
  std::vector<ConnectionId> end();

  // ---- by any context ----
  bool is_diverted() const { return is_diverted_; }
  /// Nothing when the link has ended.
  std::optional<ConnectionId> connect();
  /// Swallowed when the connection is closed. Throws LinkError; and what the frame is encoded with.
  void write(ConnectionId connection, const Frame& frame) { write_any(connection, frame); }
  void write(ConnectionId connection, const ShortFrame& frame) { write_any(connection, frame); }
  /// False when it was closed before. The peer is told.
  bool close(ConnectionId connection);
  /// Has frames that could not leave yet.
  bool has_kept() const { return writer_.has_kept(); }
  /// Whether all have left; else who asks, for that connection, waits until they have.
  bool has_room(ConnectionId connection);
  bool has_room_for_who_waits() const { return waits_for_room_.load() && !has_kept(); }
  std::vector<ConnectionId> take_who_waits_for_room();
  /// Lets them, as far as there is room. Throws LinkError.
  void push();
  /// Made by us, of which nobody wants anything any more.
  bool is_unused();

  // ---- by the one that reads ----
  FrameReader reader;
  bool is_wrong = false;  ///< what comes is not read any more
  /// Whether anything is to be done; quick when not.
  bool has_something() { return reader.has_more() || has_kept() || has_room_for_who_waits(); }
  enum class Verdict : std::uint8_t { deliver, ignore, lost };
  /// What to do with what came on a connection. Throws LinkError when there is none of that number.
  Verdict judge(const FrameReader::Arrived& arrived);
  ConnectionId id_of(std::uint32_t connection) const {
    return std::uint64_t{number} << 32 | connection;
  }
  /// Of a connection, the one that `find` answered last, or does now; null when it has none.
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
  /// The peer waits for room in the ring that we read.
  void tell_of_room();

 private:
  static std::uint32_t own_number(ConnectionId connection) {
    return static_cast<std::uint32_t>(connection);
  }
  bool is_open(std::uint32_t connection);
  bool is_surely_open(std::uint32_t connection) const {
    return surely_open_.load(std::memory_order_acquire) == connection;
  }
  template <class AnyFrame>
  void write_any(ConnectionId connection, const AnyFrame& frame);
  void wake_peer();

  runtime::Mutex sending_;
  FrameWriter writer_;
  std::optional<LinkDetour> detour_;
  PollingFlag peer_;
  std::atomic<bool> is_diverted_{false};
  std::atomic<bool> waits_for_room_{false};  // somebody, for what is kept to leave
  std::atomic<std::uint64_t> rung_{0};       // the sleep out of which the peer was woken

  runtime::Mutex mutex_;
  bool has_ended_ = false;
  std::uint32_t next_connection_ = 0;
  std::unordered_map<std::uint32_t, bool> connections_;  // open, or closed by us
  std::vector<ConnectionId> who_waits_for_room_;
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  std::vector<std::pair<std::uint32_t, std::shared_ptr<ShortEnd>>> short_ends_;  // of who reads
  std::atomic<std::uint64_t> surely_open_{none};  // one of them, for all who ask without the mutex
};

}  // namespace paths
