// SPDX-License-Identifier: Apache-2.0
// paths/connections/frame_rules.hpp — checks of incoming frames against the protocol
#pragma once
#include <cstdint>
#include <string>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/peer_table.hpp"
#include "paths/wire/refusal.hpp"

namespace paths {

/// Checks whether the protocol permits an incoming frame in the present state of its connection.
/// The checks prevent damage to this host by a faulty peer.
///
/// Each function returns a description of the error; "" if the frame is valid. The operations in
/// the frames are not checked here: the dispatcher checks them.
///
/// Thread-safe: guarded by the mutex of the table.
class FrameRules {
 public:
  /// Requires: the arguments outlive this object.
  FrameRules(const ConnectionTable& table, const PeerTable& peers)
      : table_(table), peer_table_(peers) {}
  std::string wrong(Connection& connection, const Frame& frame) const;
  std::string wrong(Connection& connection, const ShortFrame& frame) const;
  /// Checks the hello of a peer that has not been accepted yet.
  Rejection wrong_greeting(const Frame& hello) const;
  /// Returns the reason why a peer refused this host, for the errors that this host reports.
  /// `refusal` is the frame with which the peer refused this host.
  std::string refusal_text(const Connection& connection, const Frame& refusal) const;

 private:
  std::string wrong_refusal(const Connection& connection, const Frame& refusal) const;
  std::string wrong_from_us(Connection& connection, const Frame& frame) const;
  std::string wrong_to_us(const Connection& connection, const Frame& frame) const;
  std::string wrong_reply(Connection& connection, std::uint64_t call, const Result& result) const;
  std::string wrong_plan(const std::string& peer, const Frame& greeting) const;
  std::string wrong_place(const Frame& hello) const;
  std::string wrong_call(std::uint32_t host, const Frame& welcome) const;

  const ConnectionTable& table_;
  const PeerTable& peer_table_;
};

}  // namespace paths
