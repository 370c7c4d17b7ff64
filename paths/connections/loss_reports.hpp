// SPDX-License-Identifier: Apache-2.0
// paths/connections/loss_reports.hpp — the first lost or missing host, passed on from peer to peer
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
/// Also keeps a text about the first host that has not connected to a peer that waits for it, until
/// that host arrives or a host is lost. The text is "host NAME is missing: STATE". A run with a
/// missing host continues, but the operations that need the host reach their deadlines before the
/// host counts as lost everywhere. Errors must then name the missing host.
///
/// Thread-safe: report(), report_absence(), report_arrival() and complete(). All other functions
///              require the mutex of the table.
class LossReports {
 public:
  /// Requires: the arguments outlive this object.
  LossReports(ConnectionTable& table, FrameSender& sender, SendQueue& queue, Meeting& meeting)
      : table_(table), sender_(sender), queue_(queue), meeting_(meeting) {}

  /// Reports a loss that this host has noticed. Does nothing if this host already knows of a loss.
  void report(const std::string& loss);
  /// Reports that this host waits for `host`. `state` tells for how long. Does nothing if this host
  /// already knows of a lost or missing host.
  void report_absence(std::uint32_t host, const std::string& state);
  /// Reports that `host`, for which this host waited, has arrived.
  void report_arrival(std::uint32_t host);
  /// Returns `error`. Appends the first loss, or otherwise the missing host, unless `error` already
  /// names that host as gone or missing.
  std::string complete(const std::string& error) const;

  /// Handles the text of a heartbeat. If the text reports the first loss, passes the text on to the
  /// other peers, and makes await_peers() stop waiting for the lost host. If the text reports the
  /// first missing host or its arrival, passes the text on. Ignores the text if it is none of
  /// these, or if it is about this host or the sender.
  void receive(const Connection& from, const std::string& text, runtime::DeferredWakes& wakes);
  /// Posts the text of the first loss, or otherwise of the missing host, to a peer that has just
  /// connected. Does nothing if no such host is known.
  void tell(Connection& peer);

 private:
  struct Report {
    std::uint32_t host = 0;
    std::string text;
    std::string quoted = {};  ///< " (says NAME)" if a peer sent the text; otherwise ""
  };
  std::optional<std::uint32_t> host_in(std::string_view text, std::string_view words) const;
  void tell_all_except(std::uint32_t source, const std::string& text);
  void post(Connection& peer, const std::string& text);

  ConnectionTable& table_;
  FrameSender& sender_;
  SendQueue& queue_;
  Meeting& meeting_;
  std::optional<Report> loss_;
  std::optional<Report> missing_;
};

}  // namespace paths
