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

/// Ends the connections of a host after the peers have confirmed that all frames have arrived. If
/// sockets were closed earlier, data that the peers have not read would be lost.
///
/// Thread-safe: part(). take() requires the mutex of the table.
class Goodbyes {
 public:
  static constexpr const char* has_ended = "it has ended";

  /// Requires: the arguments outlive this object.
  Goodbyes(ConnectionTable& table, PeerTable& peers, FrameSender& sender, SendQueue& queue)
      : table_(table), peers_(peers), sender_(sender), queue_(queue) {}

  /// Sends a goodbye on each connection that this host made, after the held frames of the
  /// connection. Blocks until the peers have replied; all earlier frames have arrived by then. The
  /// duration from the call until `deadline` is the patience with each peer: if a peer makes no
  /// progress for this duration, this host stops waiting for it.
  void part(runtime::Deadline deadline);
  /// Processes a peer's goodbye and replies to it. Returns whether the peer has now said goodbye on
  /// all its connections. If so, no release of the peer can arrive later, because releases precede
  /// goodbyes.
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
