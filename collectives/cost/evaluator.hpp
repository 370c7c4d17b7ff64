// SPDX-License-Identifier: Apache-2.0
// collectives/cost/evaluator.hpp — predicted time of a schedule on a network, without running it.
#pragma once
#include <optional>
#include <vector>

#include "collectives/cost/network.hpp"
#include "collectives/cost/ports.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// Parameters of the executor: the part of a host that runs the steps of a schedule.
struct Execution {
  /// Maximum number of admitted steps that are unfinished. 0 = the value of window_of().
  std::size_t window = 0;
  /// Bytes that a host may send to another host before the receiving steps there are ready (wait
  /// for no earlier step).
  Bytes credit = unlimited;
  /// Limits on the number of simultaneous messages. If receiving ports are limited, credit has no
  /// effect.
  Ports ports = {};
  bool lists_crossings = false;  ///< whether to fill Price::crossings
};

struct Flow {
  std::uint64_t messages = 0;
  Bytes bytes = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

/// Time of one message on the link between two clusters. It begins when the first byte enters the
/// link, and ends when the last byte leaves the link.
struct Crossing {
  collectives::Rank from = 0, to = 0;
  base::Nanos begin{0}, end{0};
};

struct Price {
  base::Nanos time{0};
  Flow all;                    ///< traffic of all messages
  Flow across;                 ///< traffic of messages between different clusters
  std::vector<Flow> sent;      ///< traffic that each participant sends
  std::vector<Flow> received;  ///< traffic that each participant receives
  /// Traffic between clusters, indexed by from * clusters + to. An entry with from == to is the
  /// traffic inside that cluster.
  std::vector<Flow> links;
  /// Times of messages between clusters, in the order of arrival. Filled only if
  /// Execution::lists_crossings is true.
  std::vector<Crossing> crossings = {};
};

/// Predicts the time of a schedule by discrete-event simulation of its steps without data, in whole
/// nanoseconds. Returns nullopt if the time reaches `limit`.
///
/// Sending:
/// - A host hands each message to its outgoing side when the message is ready.
/// - The outgoing side sends frames one by one, beginning with the frames of the oldest step.
/// - Links, exits and receiving sides serve frames in the order in which their first bytes (heads)
///   arrive.
/// - A message counts as sent when its last byte has left the host.
///
/// Events at the same instant happen in this order:
/// 1. Transfers end, and last bytes (tails) of frames arrive.
/// 2. Heads of frames arrive, sorted by source, step and frame.
/// 3. Steps that can be executed are executed.
/// 4. Each outgoing side chooses its next frame.
///
/// Credit:
/// - A frame can be sent only if the receiver has granted its message, or if there is credit for
///   the bytes of the frame plus 128.
/// - A receiving step grants its message when it no longer waits for an earlier step.
/// - Grants and returned credit arrive after the latency from the receiver to the sender.
///
/// Costs:
/// - Each host has one processor. A processor does one piece of work at a time. Reductions, copies
///   and frames to send come before frames that have arrived (tuning::Processor).
/// - If more hosts of a machine work than the machine has cores (Network::cores), all these hosts
///   work more slowly (tuning::SharedCores).
/// - If a host has no work when a frame arrives, it needs the additional time Network::wake_up to
///   receive the frame.
/// - Work that is requested at one instant has this order: reductions and copies in the order of
///   their steps, then frames to send, then frames that have arrived.
/// - Reductions and copies take time only if the network has rates for them.
/// - With Network::frame_costs, a host prepares the frames of an outgoing side one by one,
///   beginning with the frames of the oldest step. Prepared frames queue for the outgoing side; a
///   window limits the bytes in this queue. A frame counts as arrived when its target has received
///   it. An exit on the way receives and sends each frame.
///
/// Throws: std::invalid_argument if the schedule deadlocks, or if a message has more than 2^32
///         frames. A verified schedule deadlocks only if the window is smaller than the schedule's
///         least window.
std::optional<Price> evaluate(std::vector<collectives::Program> programs, Bytes element_bytes,
                              const Network& network, const Execution& execution = {},
                              base::Nanos limit = base::Nanos::max());

/// Returns the programs of all participants, indexed by rank.
std::vector<collectives::Program> programs_of(const collectives::Algorithm& algorithm,
                                              const collectives::CollectiveSpec& task,
                                              const collectives::Parameters& parameters);

/// Returns the predicted time and traffic of an algorithm. The messages of a barrier have no bytes,
/// whatever the size of an element.
Price price(const collectives::Algorithm& algorithm, const collectives::CollectiveSpec& task,
            const collectives::Parameters& parameters, Bytes element_bytes, const Network& network,
            const Execution& execution = {});

}  // namespace pricing
