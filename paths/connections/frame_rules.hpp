// SPDX-License-Identifier: Apache-2.0
// paths/connections/frame_rules.hpp — what peers may send.
#pragma once
#include <cstdint>
#include <string>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/peer_table.hpp"

namespace paths {

/// Compares each frame with what the protocol lets its sender say. Each function returns what is
/// wrong, and "" if nothing is. The dispatcher checks what an operation may do.
///
/// Sharing: requires the mutex of the table.
class FrameRules {
 public:
  /// Both outlive this object.
  FrameRules(const ConnectionTable& table, const PeerTable& peers)
      : table_(table), peer_table_(peers) {}
  std::string wrong(Connection& connection, const Frame& frame) const;
  std::string wrong(Connection& connection, const ShortFrame& frame) const;
  /// The same for the greeting of a peer that is not known yet.
  std::string wrong_greeting(const Frame& hello) const;

 private:
  std::string wrong_from_us(Connection& connection, const Frame& frame) const;
  std::string wrong_to_us(const Connection& connection, const Frame& frame) const;
  std::string wrong_reply(Connection& connection, std::uint64_t call, const Result& result) const;
  std::string wrong_plan(const std::string& peer, const Frame& greeting) const;
  std::string wrong_call(std::uint32_t host, const Frame& welcome) const;

  const ConnectionTable& table_;
  const PeerTable& peer_table_;
};

}  // namespace paths
