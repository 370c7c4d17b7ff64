// SPDX-License-Identifier: Apache-2.0
// paths/messages/message_clock.hpp — execution of an endpoint's due work, and sending of its frames
#pragma once
#include <memory>

#include "paths/messages/channels/outgoing_lanes.hpp"
#include "paths/messages/credit_issuer.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/gathering.hpp"
#include "paths/messages/membership.hpp"

namespace paths {

/// Does the due work of an endpoint, passes frames to the carrier, and completes waits. The carrier
/// brings frames to the next host.
///
/// Thread-safe: stop(). Functions with a lock as parameter require that the lock holds the mutex of
///              the endpoint.
/// Context: waiting threads of the host do the due work while they poll. If no thread polls, a
///          service context (a fiber that does work for other hosts) does the due work. The service
///          context exists only while there is work. A host needs no thread only for due work.
class MessageClock {
 public:
  /// The parts of the endpoint that MessageClock uses. All outlive the MessageClock object.
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

  /// Passes frames to the carrier, wakes waiters, and starts the service context if needed. Only
  /// one thread or fiber at a time does this work, so that frames to a host stay in order. The
  /// mutex is released during the work. (Within one process the carrier calls the other host's
  /// deliver(), which may send a reply.) `lock` may be unlocked on return.
  void settle(runtime::Lock& lock);
  /// Calls settle(). On return `lock` holds the mutex.
  void settle_and_lock(runtime::Lock& lock) {
    settle(lock);
    if (!lock.owns_lock()) lock.lock();
  }
  /// Blocks until no thread or fiber sends frames, and no work is queued except checks of other
  /// hosts. Returns false if `limit` passes before.
  bool drain(runtime::Lock& lock, runtime::Deadline limit);
  /// Blocks until the next call of settle() that finds no work except checks of other hosts. The
  /// endpoint calls settle() each time another host has ended or is lost. Returns `expired` if
  /// `limit` passes before.
  runtime::Woken wait_for_quiet(runtime::Lock& lock, runtime::Deadline limit,
                                std::string_view what) {
    return quiet_.wait(lock, limit, {what, state_.name, state_.host});
  }
  /// Stops all transfers. Blocks until the service context has ended.
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
  Settled settled_;          // data of settle() while is_sending_ is set; kept to reuse its memory
  bool is_put_off_ = false;  // whether go_on() has put the rest of the sending into the due queue
  bool is_stopped_ = false;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Lookers> lookers_;
  runtime::WaitList quiet_;  // notified when EndpointState::is_quiet() is true
};

}  // namespace paths
