// SPDX-License-Identifier: Apache-2.0
// paths/host/standing_calls.hpp — calls that another host makes again and again.
#pragma once
#include "paths/host/dispatcher.hpp"
#include "paths/host/validator.hpp"

namespace paths {

/// One such call: what its first request said, and room for the one that is under way. What short
/// frames cannot say goes as frames do.
class Dispatcher::Standing final : ServiceRoom, public OperationState {
 public:
  Standing(Dispatcher& dispatcher, ConnectionId connection, const Frame& first,
           const Validator::Standing& admitted);
  bool is_of(const Frame& request) const;
  /// The request as a whole frame.
  Frame whole(ShortFrame&& frame) const;
  /// Called with the dispatcher's mutex held. Whether a request enters, as nearly all do, which
  /// then is under way; judge() tells of the others. If stages need contexts, the whole request is
  /// judged instead.
  bool admit(const ShortFrame& frame);
  Validator::Verdict validate(const ShortFrame& frame);
  /// Carries out one that entered, without a context.
  void begin(ShortFrame&& frame);

  const Stage& stage;

 private:
  void arrived(Outcome&& outcome) noexcept override;
  Operation operation_of(ShortFrame&& frame) const;
  Dispatcher& dispatcher_;
  const ConnectionId connection_;
  const Validator::Standing admitted_;
  bool is_under_way_ = false;  // guarded by the dispatcher's mutex
  Frame request_;              // without its tuple
};

}  // namespace paths
