// SPDX-License-Identifier: Apache-2.0
// paths/messages/message_clock.hpp — who does what is due, and hands over what then leaves.
#pragma once
#include <memory>

#include "paths/messages/channels/outgoing_lanes.hpp"
#include "paths/messages/credit_issuer.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/gathering.hpp"
#include "paths/messages/membership.hpp"

namespace paths {

/// Does the work on the agenda of an endpoint when its time comes, hands frames to the carrier and
/// completes what has ended.
///
/// Context: threads of the host that wait do what is due while they look. While none looks, one
///          service context does it, which exists as long as there is work.
/// Sharing: functions that take a lock require the mutex of the endpoint. Any context may call
///          stop().
class MessageClock {
 public:
  /// The parts of the endpoint that the clock uses. All outlive it.
  struct Parts {
    EndpointState& state;
    OutgoingLanes& outgoing;
    CreditIssuer& credit;
    Membership& membership;
    Gathering& arrivals;
    Gathering& ends;
  };
  explicit MessageClock(const Parts& parts);
  ~MessageClock();

  /// Hands over what leaves, wakes those that wait, and starts the service context if it is needed.
  /// One context at a time does that, so that what goes to a host stays in order. The mutex is
  /// released meanwhile, because within one process this runs the other host's deliver(), which may
  /// reply. `lock` may be released in the end.
  void settle(runtime::Lock& lock);
  /// Blocks until the agenda is empty and no context hands over. Returns whether that was before
  /// `limit`.
  bool drain(runtime::Lock& lock, runtime::Deadline limit);
  /// From here on nothing moves. Blocks until the service context has ended.
  void stop();
  bool is_stopped() const { return is_stopped_; }

 private:
  class Service;
  class Lookers;
  bool go_on(int& rounds);
  base::Nanos next_due() const;
  bool is_needed() const;
  void run();
  void do_what_is_due(runtime::Lock& lock, Turn turn);

  const Parts parts_;
  EndpointState& state_;
  bool is_sending_ = false;
  struct Settled {
    LinkScheduler::Leaving leaving;
    EndpointState::Waits ended;
  };
  Settled settled_;          // what the sending context hands over; kept for its memory
  bool is_put_off_ = false;  // what goes on, to when others have had their turn
  bool is_stopped_ = false;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Lookers> lookers_;
  runtime::WaitList quiet_;  // notified if the agenda is empty
};

}  // namespace paths
