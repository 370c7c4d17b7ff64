// SPDX-License-Identifier: Apache-2.0
// paths/connections/goodbyes.hpp — orderly end of a host's connections
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/frame_sender.hpp"
#include "paths/connections/peer_table.hpp"
#include "paths/connections/send_queue.hpp"

namespace paths {

/// Ends the connections of a host after the peers have confirmed that all frames have arrived.
/// Why: closing a socket earlier would lose the data that the peer has not read yet.
///
/// Thread-safe: part(). take() requires the mutex of the table.
class Goodbyes {
 public:
  static constexpr const char* has_ended = "it has ended";

  /// Requires: the arguments outlive this object.
  Goodbyes(ConnectionTable& table, PeerTable& peers, FrameSender& sender, SendQueue& queue)
      : table_(table), peers_(peers), sender_(sender), queue_(queue) {}

  /// Sends a goodbye on each connection that this host made, after the held frames of the
  /// connection. A peer's reply confirms that all frames of the connection have arrived.
  ///
  /// Blocks: until all peers have replied. The duration from the call until `deadline` is the
  ///         patience with each peer. If a peer makes no progress for this duration, this host
  ///         stops waiting for it.
  void part(runtime::Deadline deadline);
  /// Processes a peer's goodbye, which may be the reply to a goodbye of this host. If the peer made
  /// the connection, replies to the goodbye. Returns whether the peer has now said goodbye on all
  /// connections that it had to make. After that, no release of the peer can arrive.
  bool take(Connection& connection, runtime::DeferredWakes& wakes);

 private:
  void close_to_remaining_peers();
  std::map<std::uint32_t, std::size_t> unfinished() const;
  void await_answers(runtime::Deadline deadline);
  void forgo(std::uint32_t peer, base::Nanos patience);

  ConnectionTable& table_;
  PeerTable& peers_;
  FrameSender& sender_;
  SendQueue& queue_;
};

}  // namespace paths
