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

/// Keeps a text about the first host of the plan that was lost, and passes the text on to all
/// peers. The text is "host NAME is gone: STATE". Either this host noticed the loss, or a peer
/// reported it. Other errors of this host may only name a consequence of the loss, such as the end
/// of a peer. complete() adds the text to such errors.
///
/// Thread-safe: report() and complete(). All other functions require the mutex of the table.
class LossReports {
 public:
  /// Requires: the arguments outlive this object.
  LossReports(ConnectionTable& table, FrameSender& sender, SendQueue& queue, Meeting& meeting)
      : table_(table), sender_(sender), queue_(queue), meeting_(meeting) {}

  /// Reports a loss that this host has noticed. Does nothing if this host already knows of a loss.
  void report(const std::string& loss);
  /// Returns `error`. Appends the first loss, unless `error` already names the lost host.
  std::string complete(const std::string& error) const;

  /// Handles the text of a heartbeat. If the text reports the first loss, passes the text on to the
  /// other peers, and makes await_peers() stop waiting for the lost host. Ignores the text if it
  /// reports no loss, or the loss of this host or of the sender.
  void receive(const Connection& from, const std::string& text, runtime::DeferredWakes& wakes);
  /// Posts the text of the first loss to a peer that has just connected. Does nothing if no loss is
  /// known.
  void tell(Connection& peer);

 private:
  std::optional<std::uint32_t> host_in(std::string_view text) const;
  void tell_all_except(std::uint32_t source);

  ConnectionTable& table_;
  FrameSender& sender_;
  SendQueue& queue_;
  Meeting& meeting_;
  std::string loss_;    // text of the first loss; "" = no loss is known
  std::string quoted_;  // " (says NAME)" if a peer reported the loss; otherwise ""
};

}  // namespace paths
