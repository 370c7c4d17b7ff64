// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/standing_calls.hpp — standing calls: requests that another host repeats at
// one stage.
#pragma once
#include "paths/host/requests/dispatcher.hpp"
#include "paths/host/requests/validator.hpp"

namespace paths {

/// Standing call of another host: requests that repeat with the same path, slot and stage. The
/// object keeps the data of the first request, and memory for the request that is under way.
/// Requests and replies that do not fit short frames (paths/wire/short_frame.hpp) are sent in whole
/// frames.
class Dispatcher::Standing final : ServiceRoom, public OperationState {
 public:
  Standing(Dispatcher& dispatcher, ConnectionId connection, const Frame& first,
           const Validator::Standing& admitted);
  bool is_of(const Frame& request) const;
  /// Returns the request as a whole frame.
  Frame whole(ShortFrame&& frame) const;
  /// Checks a request quickly. If the check accepts the request, as it does nearly always, marks
  /// the request as under way and returns true. If it returns false, the caller must call
  /// validate(). If the stages may block a thread or fiber, admit() always returns false, and run()
  /// validates the whole request instead.
  /// Requires: the dispatcher's mutex held.
  bool admit(const ShortFrame& frame);
  /// Requires: the dispatcher's mutex held.
  Validator::Verdict validate(const ShortFrame& frame);
  /// Runs a request that admit() or validate() has accepted. Requires: its stages need no context.
  void begin(ShortFrame&& frame);

  const Stage& stage;

 private:
  void arrived(Outcome&& outcome) noexcept override;
  Operation operation_of(ShortFrame&& frame) const;
  Dispatcher& dispatcher_;
  const ConnectionId connection_;
  const Validator::Standing admitted_;
  bool is_under_way_ = false;  // guarded by the dispatcher's mutex
  Frame request_;              // first request, without its tuple
};

}  // namespace paths
