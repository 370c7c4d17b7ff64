// SPDX-License-Identifier: Apache-2.0
// paths/connections/loss_reports.hpp — the first loss of a host, passed on from peer to peer
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/frame_sender.hpp"
#include "paths/connections/meeting.hpp"
#include "paths/connections/send_queue.hpp"

namespace paths {

/// Keeps the first loss of a host of the plan, as the text "host NAME is gone: STATE", and passes
/// it on to all peers. Either this host noticed the loss, or a peer reported it. The text completes
/// errors of this host that only name a consequence of the loss, such as the end of a peer.
///
/// Thread-safe: report() and complete(). All other functions require the mutex of the table.
class LossReports {
 public:
  /// Requires: the arguments outlive this object.
  LossReports(ConnectionTable& table, FrameSender& sender, SendQueue& queue, Meeting& meeting)
      : table_(table), sender_(sender), queue_(queue), meeting_(meeting) {}

  /// Reports a loss that this host has noticed. Does nothing if a loss was known before.
  void report(const std::string& loss);
  /// Returns `error`, followed by the first loss unless `error` names it.
  std::string complete(const std::string& error) const;

  /// Handles the text of a heartbeat. If it is the first loss, passes it on, and stops waiting for
  /// the arrival of the lost host. Ignores a text that is not the loss of a third host of the plan.
  void receive(const Connection& from, const std::string& text, runtime::DeferredWakes& wakes);
  /// Posts the loss, if one is known, to a peer that has just connected.
  void tell(Connection& peer);

 private:
  std::optional<std::uint32_t> host_in(std::string_view text) const;
  void tell_all_except(std::uint32_t source);

  ConnectionTable& table_;
  FrameSender& sender_;
  SendQueue& queue_;
  Meeting& meeting_;
  std::string loss_;    // "" = no loss is known
  std::string quoted_;  // " (says NAME)" if a peer reported the loss; otherwise ""
};

}  // namespace paths
