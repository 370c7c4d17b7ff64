// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/standing_calls.hpp — standing calls that other hosts make to this host.
#pragma once
#include "paths/host/requests/dispatcher.hpp"
#include "paths/host/requests/validator.hpp"

namespace paths {

/// Standing call of another host: a request that the host repeats with the same path, slot and
/// stage. The object keeps the data of the first request, and memory for the request that is under
/// way. A request or reply that does not fit in a short frame (paths/wire/short_frame.hpp) is sent
/// in a normal frame.
class Dispatcher::Standing final : ServiceRoom, public OperationState {
 public:
  Standing(Dispatcher& dispatcher, ConnectionId connection, const Frame& first,
           const Validator::Standing& admitted);
  bool is_of(const Frame& request) const;
  /// Returns the request in `frame` as a normal frame.
  Frame whole(ShortFrame&& frame) const;
  /// Checks a request quickly. If the check accepts the request, as it nearly always does, marks
  /// the request as under way and returns true. If admit() returns false, the caller must call
  /// validate(). Always returns false if the stages need a context.
  /// Requires: the dispatcher's mutex is held.
  bool admit(const ShortFrame& frame);
  /// Checks a request completely. If the request is valid, marks it as under way. If the stages
  /// need a context, checks nothing, because the caller then runs the request as a normal frame.
  /// Requires: the dispatcher's mutex is held.
  Validator::Verdict validate(const ShortFrame& frame);
  /// Runs a request that admit() or validate() has accepted.
  /// Requires: the stages of the request need no context.
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
