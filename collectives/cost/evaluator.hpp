// SPDX-License-Identifier: Apache-2.0
// collectives/cost/evaluator.hpp — what a schedule takes on a network, without running it.
#pragma once
#include <optional>
#include <vector>

#include "collectives/cost/network.hpp"
#include "collectives/cost/ports.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// How steps are executed.
struct Execution {
  std::size_t window = 256;      ///< unfinished steps admitted, in order
  std::size_t under_way = 4;     ///< messages that can move, handed to the transport at once
  Bytes credit = unlimited;      ///< that a source has at a host for what nobody has asked for yet
  Ports ports = {};              ///< with receiving ones credit does not matter
  bool lists_crossings = false;  ///< Price::crossings
};

struct Flow {
  std::uint64_t messages = 0;
  Bytes bytes = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

/// A message between clusters: from when its first byte enters the link until its last one leaves.
struct Crossing {
  collectives::Rank from = 0, to = 0;
  base::Nanos begin{0}, end{0};
};

struct Price {
  base::Nanos time{0};
  Flow all;
  Flow across;                 ///< between clusters
  std::vector<Flow> sent;      ///< by participant
  std::vector<Flow> received;  ///< by participant
  std::vector<Flow> links;     ///< by clusters: from * clusters + to; from == to in a cluster
  std::vector<Crossing> crossings = {};  ///< as they arrive, if they are asked for
};

/// Executes steps without data by discrete events, in whole nanoseconds.
///
/// A sender hands over at most `under_way` messages, the oldest step first, and its outgoing side
/// takes their frames one by one, the oldest first; behind it frames are served as their heads
/// arrive. In one instant come first ends and arrivals, then heads by (source, step, frame), then
/// steps that can be done, then choices. A message is sent when its last byte has left the host.
/// With credit, a frame (and 128 bytes) enters only when its source has so much at the target or
/// the receiving step has granted its message, which it does as soon as it is free; grants and
/// returned credit travel with the latency of the way back. What has neither is not under way.
/// Folding and copying take no time.
///
/// `limit`: it gives up at that moment, and answers nothing.
/// Throws: std::invalid_argument if the schedule sticks, which one that was verified does only with
/// a window that is smaller than its least one, or if a message has more than 2^32 frames.
std::optional<Price> evaluate(std::vector<collectives::Program> programs, Bytes element_bytes,
                              const Network& network, const Execution& execution = {},
                              base::Nanos limit = base::Nanos::max());

/// The programs of all participants.
std::vector<collectives::Program> programs_of(const collectives::Algorithm& algorithm,
                                              const collectives::CollectiveSpec& task,
                                              const collectives::Parameters& parameters);

/// A barrier's token has no bytes, whatever an element has.
Price price(const collectives::Algorithm& algorithm, const collectives::CollectiveSpec& task,
            const collectives::Parameters& parameters, Bytes element_bytes, const Network& network,
            const Execution& execution = {});

}  // namespace pricing
