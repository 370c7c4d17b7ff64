// SPDX-License-Identifier: Apache-2.0
// collectives/cost/arrivals.cpp — handling of simulated events, and frames that reach their
// targets.
#include <algorithm>

#include "collectives/cost/evaluation.hpp"

namespace pricing::simulation {

// --- events ---

void Evaluation::happen(const Event& event) {
  switch (event.kind) {
    case Kind::prepared:
      if (state_.processors.has_frame_costs())
        depart(event, hosts_[event.source].outlet_by(transit_.way_of(state_.messages[event.item])));
      else
        offer(event.item);
      return touch(event.source);
    case Kind::frame_out: return end_frame(event);
    case Kind::arrived: {
      const Message& message = state_.messages[event.item];
      const bool costs = state_.processors.has_frame_costs() &&
                         (state_.network.wake_up > Nanos(0) ||
                          state_.processors.costs(message).receive.at(
                              state_.frame_bytes(message, event.frame)) > Nanos(0));
      return costs ? arrived_.push_back(event) : arrive(event);
    }
    case Kind::received: return arrive(event);
    case Kind::taken: {
      Message& message = state_.messages[event.item];
      message.is_received = true;
      finish(message.target, message.receiving);
      return recycle(event.item);
    }
    case Kind::computed: return finish(event.source, event.item);
    case Kind::granted:
      if (state_.messages[event.item].serial != event.step) return;
      state_.messages[event.item].is_granted = true;
      return hosts_[event.source].unpark(), touch(event.source);
    case Kind::credited:
      hosts_[event.source].credit[event.item] += event.bytes;
      return hosts_[event.source].unpark(), touch(event.source);
    case Kind::port_free: ports_.free(event); return touch(event.source);
    default: return transit_.happen(event);
  }
}

void Evaluation::end_frame(const Event& event) {
  touch(event.source);
  Message& message = state_.messages[event.item];
  Outlet& outlet = hosts_[message.source].outlet_by(transit_.way_of(message));
  if (state_.processors.has_frame_costs())
    outlet.in_hand -= state_.frame_bytes(message, event.frame);
  else
    outlet.is_busy = false;
  if (event.frame + 1 < message.frames) return;
  const bool crosses = state_.network.crosses(message.source, message.target);
  if (message.has_port && !(state_.execution.ports.blocks && crosses))
    ports_.free_at(state_.now, message);
  const Flow flow{1, message.bytes};
  for (Flow* sum : {&price_.all, &price_.sent[message.source], &price_.received[message.target],
                    &price_.links[state_.network.link_index(message.source, message.target)],
                    crosses ? &price_.across : nullptr}) {
    if (sum == nullptr) continue;
    sum->messages += flow.messages;
    sum->bytes += flow.bytes;
  }
  message.is_sent = true;
  finish(event.source, message.sending);
  recycle(event.item);
}

/// For each frame whose last byte arrived at the current time, requests the processor time in which
/// the target receives the frame.
void Evaluation::receive_frames() {
  for (Event& event : arrived_) {
    const Message& message = state_.messages[event.item];
    const Nanos time = state_.processors.receive_time(message.target, state_.now, message,
                                                      state_.frame_bytes(message, event.frame));
    event.kind = Kind::received;
    state_.processors.request(message.target, time, event, tuning::WorkKind::receipt);
  }
  arrived_.clear();
}

void Evaluation::arrive(const Event& event) {
  Message& message = state_.messages[event.item];
  ++message.frames_in;
  message.credit_used += event.bytes;
  if (!message.can_be_received) return;
  touch(message.target);
  if (message.frames_in == message.frames) return finish_receiving(event.item);
  give_back(message);
}

/// Gives back to the sender the credit that the arrived frames of the message have used.
/// Requires: the receiving step waits for no earlier step.
void Evaluation::give_back(Message& message) {
  if (message.credit_used == 0) return;
  state_.events.push({.time = state_.now + state_.network.latency(message.target, message.source),
                      .kind = Kind::credited,
                      .source = message.source,
                      .item = message.target,
                      .frame = 0,
                      .step = 0,
                      .bytes = message.credit_used});
  message.credit_used = 0;
}

}  // namespace pricing::simulation
