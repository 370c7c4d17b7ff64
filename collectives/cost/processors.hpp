// SPDX-License-Identifier: Apache-2.0
// collectives/cost/processors.hpp — simulated processors of hosts, and the time that their work
// takes.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "base/link_model/processor.hpp"
#include "base/link_model/shared_cores.hpp"
#include "collectives/cost/events.hpp"
#include "collectives/cost/network.hpp"
#include "collectives/schedule/step.hpp"

namespace pricing::simulation {

/// The processors of all hosts and exits of a network. `network` and `events` outlive this object.
class Processors {
 public:
  Processors(const Network& network, Events& events)
      : network_(network), events_(events), hosts_(network.outgoing.size()) {
    if (network.cores > 0) shared_.emplace(network.machines, network.cores);
  }

  /// Returns whether hosts spend time for each frame (Network::frame_costs), not for each message.
  bool has_frame_costs() const { return !network_.frame_costs.empty(); }
  /// Returns the costs for frames of a message. `Message` must have a `source` and a `target`.
  template <class Message>
  const tuning::FrameCosts& costs(const Message& message) const {
    return *network_.frame_costs[network_.link_index(message.source, message.target)];
  }
  /// Returns the rate of reductions or of copies in bytes per second; 0 = such work takes no time.
  double rate(collectives::Action action) const {
    return action == collectives::Action::reduce ? network_.fold_bytes_per_second
                                                 : network_.copy_bytes_per_second;
  }
  /// Returns how long host `me` needs to receive a frame of `bytes` bytes whose last byte arrives
  /// at `now`. `Message` must have a `source` and a `target`.
  template <class Message>
  base::Nanos receive_time(collectives::Rank me, base::Nanos now, const Message& message,
                           Bytes bytes) const {
    // Work that ends at `now` has ended, even if its event comes later in the queue. Otherwise the
    // order of events of one time would have an influence.
    const bool works = hosts_[me].processor.has_waiting() || hosts_[me].works_until > now;
    return costs(message).receive.at(bytes) + (works ? base::Nanos(0) : network_.wake_up);
  }
  /// Returns how long host `me` needs for a reduction or a copy that accesses `bytes` bytes.
  base::Nanos work_time(collectives::Rank me, collectives::Action action, Bytes bytes) const {
    return tuning::work_time(bytes, rate(action) * network_.speed(me));
  }

  /// Requests that host `me` works for `time`. `event` happens when this work ends.
  void request(collectives::Rank me, base::Nanos time, Event event, tuning::WorkKind kind) {
    event.worker = me;
    hosts_[me].processor.request(time, event, kind);
    list(me);
  }
  /// Like request(), but if `time` is 0, `event` happens at `now` and does not wait for earlier
  /// work of the host.
  void request_if_any(collectives::Rank me, base::Nanos now, base::Nanos time, Event event,
                      tuning::WorkKind kind) {
    if (time > base::Nanos(0)) return request(me, time, event, kind);
    event.time = now;
    events_.push(event);
  }
  /// Lets each processor that is free begin its next work. Must be called after all requests of the
  /// time `now`.
  void begin_work(base::Nanos now) {
    for (const collectives::Rank me : listed_) {
      hosts_[me].is_listed = false;
      auto piece = hosts_[me].processor.begin_next();
      if (!piece) continue;
      if (shared_) {
        hosts_[me].works_until = base::Nanos::max();
        shared_->begin(me, now, piece->time, piece->work);
      } else {
        hosts_[me].works_until = piece->work.time = now + piece->time;
        events_.push(piece->work);
      }
    }
    listed_.clear();
  }
  /// If the event ends a piece of work, notes that the processor is free.
  void note_end(Event& event) {
    if (event.worker == Event::none) return;
    hosts_[event.worker].processor.end();
    list(std::exchange(event.worker, Event::none));
  }
  /// Returns the time at which the next work on shared cores ends. Returns Nanos::max() if there is
  /// no such work.
  base::Nanos next_end() const { return shared_ ? shared_->next_end() : base::Nanos::max(); }
  /// Adds the events of the work on shared cores that ends at `now` to the queue of events.
  void end_work(base::Nanos now) {
    while (std::optional<Event> event = shared_ ? shared_->take_ended(now) : std::nullopt) {
      hosts_[event->worker].works_until = event->time = now;
      events_.push(*event);
    }
  }

 private:
  struct Host {
    tuning::Processor<Event> processor;
    base::Nanos works_until{0};  // end of the latest piece that has begun; max if it is not known
    bool is_listed = false;
  };
  void list(collectives::Rank me) {
    if (!std::exchange(hosts_[me].is_listed, true)) listed_.push_back(me);
  }

  const Network& network_;
  Events& events_;
  std::vector<Host> hosts_;
  std::vector<collectives::Rank> listed_;             // hosts that may be able to begin work
  std::optional<tuning::SharedCores<Event>> shared_;  // empty if each host has a core of its own
};

}  // namespace pricing::simulation
