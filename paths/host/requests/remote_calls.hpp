// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/remote_calls.hpp — operations that a host sends to stages of other hosts.
#pragma once
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "paths/operation.hpp"
#include "paths/plan/plan.hpp"
#include "paths/responder.hpp"
#include "paths/travel_error.hpp"

namespace paths {

class Deployment;
struct Stage;

/// Sends operations to stages of other hosts, and checks the results.
///
/// Thread-safe.
class RemoteCalls {
 public:
  /// `deployment` outlives this object.
  explicit RemoteCalls(Deployment& deployment) : deployment_(deployment) {}

  /// Makes this host's connections to its peers: the hosts to or from which paths lead directly.
  /// Does not wait until the peers have arrived.
  void connect();
  /// Returns the hosts to which paths lead directly from this host, in ascending order.
  std::vector<std::uint32_t> peers() const;

  /// Sends `operation` from the stage `exit` to the stage below `exit`, which is on `to_host`.
  /// `responder` gets the reply.
  ///
  /// Blocks: until the reply arrives, if the operation owns the calling thread or fiber.
  /// Throws: TravelError if `to_host` is lost or late. Stop if the calling thread or fiber is
  ///         cancelled. After an exception the caller still owns the responder.
  void call(std::uint32_t to_host, const Stage& exit, Operation&& operation, Responder& responder);
  /// Sends `operation` as a push: one frame, without a reply. Does not block. While a push waits
  /// for credits, a newer push of the same path replaces it, unless Operation::kept is set in the
  /// waiting push.
  void push(std::uint32_t to_host, StageId stage, Operation operation);

  /// Times of one clock request to another host.
  struct ClockReading {
    base::Nanos asked{0};     ///< time of the request on this host's clock
    base::Nanos shown{0};     ///< time on the clock of the other host
    base::Nanos answered{0};  ///< time of the reply on this host's clock
  };
  /// Asks `peer` for the time on its clock.
  /// Blocks: until the reply arrives.
  /// Requires: `peer` is in peers().
  /// Throws: as call().
  ClockReading read_clock(std::uint32_t peer);

 private:
  Result call_and_wait(std::uint32_t to_host, const Stage& exit, Operation&& operation);
  void begin_call(std::uint32_t to_host, const Stage& exit, Operation&& operation,
                  Responder& responder);
  base::Nanos reply_time(const Stage& exit) const;
  Failure wrong_answer(std::uint32_t host, StageId stage, const OperationHead& asked,
                       const Result& answer);

  Deployment& deployment_;
};

}  // namespace paths
