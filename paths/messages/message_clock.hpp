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

/// Does the due work of an endpoint, passes frames to the carrier (what brings them to the next
/// host) and completes waits. Frames on emulated links are due at exact times, but a host has no
/// thread of its own for this work.
///
/// Thread-safe: stop(). Functions with a lock as parameter require that it holds the mutex of the
///              endpoint.
/// Context: Waiting threads of the host do the due work while they poll. If no thread polls, a
///          service context (a fiber that does work for other hosts) does it. The service context
///          exists only while there is work.
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

  /// Passes frames to the carrier, wakes waiters, and starts the service context if needed. One
  /// thread or fiber at a time does this, so that frames to a host stay in order. The mutex is
  /// released meanwhile, because within one process the carrier calls the other host's deliver(),
  /// which may send a reply. `lock` may be unlocked on return.
  void settle(runtime::Lock& lock);
  /// Like settle(), but `lock` holds the mutex again on return.
  void settle_and_lock(runtime::Lock& lock) {
    settle(lock);
    if (!lock.owns_lock()) lock.lock();
  }
  /// Blocks until no work is queued, except checks of other hosts, and no thread or fiber sends.
  /// Returns false if `limit` passes first.
  bool drain(runtime::Lock& lock, runtime::Deadline limit);
  /// Blocks until settle() next finds no queued work. The endpoint calls settle() after each end
  /// and each loss of a host. Returns expired if `limit` passes first.
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
  Settled settled_;          // used only while is_sending_ is set; kept to reuse its memory
  bool is_put_off_ = false;  // whether sending was postponed behind other due work
  bool is_stopped_ = false;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Lookers> lookers_;
  runtime::WaitList quiet_;  // notified when no work is left
};

}  // namespace paths
