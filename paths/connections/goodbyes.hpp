// SPDX-License-Identifier: Apache-2.0
// paths/connections/goodbyes.hpp — how a host parts from its peers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/frame_sender.hpp"
#include "paths/connections/peer_table.hpp"
#include "paths/connections/send_queue.hpp"

namespace paths {

/// Says goodbye on connections and waits for the answers.
///
/// Sharing: any context may call part(). take() requires the mutex of the table.
class Goodbyes {
 public:
  static constexpr const char* has_ended = "it has ended";

  /// All outlive this object.
  Goodbyes(ConnectionTable& table, PeerTable& peers, FrameSender& sender, SendQueue& queue)
      : table_(table), peers_(peers), sender_(sender), queue_(queue) {}

  /// Says goodbye on every connection that this host made, behind what is held, and waits until the
  /// peers answered: what was sent before has arrived then. (A socket closed earlier takes with it
  /// what its peer did not read.) The deadline is for each step of the peers; who then has not
  /// answered is given up.
  void part(runtime::Deadline deadline);
  /// Takes a peer's goodbye, and replies to it. Returns whether the peer has parted on every
  /// connection now: its releases came before its goodbyes, and those that did not come never will.
  bool take(Connection& connection, runtime::DeferredWakes& wakes);

 private:
  void part_from_those_who_stay();
  std::map<std::uint32_t, std::size_t> unfinished() const;
  void await_answers(runtime::Deadline deadline);
  void forgo(std::uint32_t peer, base::Nanos patience);

  ConnectionTable& table_;
  PeerTable& peers_;
  FrameSender& sender_;
  SendQueue& queue_;
};

}  // namespace paths
