// SPDX-License-Identifier: Apache-2.0
// collectives/cost/state.hpp — messages, events and processors that the parts of a simulation
// share.
#pragma once
#include <algorithm>
#include <cstdint>

#include "collectives/cost/admission.hpp"
#include "collectives/cost/evaluator.hpp"
#include "collectives/cost/events.hpp"
#include "collectives/cost/meeting.hpp"
#include "collectives/cost/processors.hpp"

/// The parts of evaluate(). Only the sources of this folder use them.
namespace pricing::simulation {

using base::Nanos;
using collectives::Action;
using collectives::Rank;

struct Message {
  Rank source = 0, target = 0;
  Bytes bytes = 0;
  // Unique number of the message. Later messages reuse the index of an ended message. An event that
  // arrives after the end of its message is recognised by this number, and ignored.
  std::uint64_t serial = 0;
  std::uint64_t step = 0;  // number of the sending step in the program of the source
  // Number of the receiving step in the program of the target. Set when that step is admitted.
  std::uint64_t receiving_step = 0;
  Slot sending = 0, receiving = 0;
  std::uint32_t frames = 1, frames_out = 0, frames_in = 0;
  // Bytes of credit that arrived frames have used, and that were not returned to the sender. This
  // credit is returned when the receiving step no longer waits for earlier steps.
  Bytes credit_used = 0;
  bool can_be_received = false;
  bool is_granted = false;
  bool is_prepared = false;  // whether the source's processor has done its work for the message
  bool has_port = false;     // whether the message occupies a sending port of its source
  bool is_sent = false, is_received = false;
  // Times at which the first byte entered the link between the clusters, and at which the last byte
  // left it.
  Nanos entered = Nanos::max(), left{0};
};

/// State that the parts of one simulation share. `network` and `execution` outlive this object.
struct State {
  State(const Network& of, const Execution& with)
      : network(of), execution(with), processors(of, events) {}

  const Network& network;
  const Execution& execution;
  Nanos now{0};
  Messages<Message> messages;
  Events events;
  Processors processors;

  /// Returns the time of the next event or end of work; Nanos::max() if there is none.
  Nanos next_time() const {
    return events.empty() ? processors.next_end()
                          : std::min(events.next_time(), processors.next_end());
  }
  bool has_credit() const { return execution.credit != unlimited; }
  Bytes frame_bytes(const Message& message, std::uint32_t frame) const {
    return std::min(network.frame, message.bytes - frame * network.frame);
  }
};

}  // namespace pricing::simulation
