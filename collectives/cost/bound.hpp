// SPDX-License-Identifier: Apache-2.0
// collectives/cost/bound.hpp — lower bound of the time of a collective on a network.
#pragma once
#include <string>

#include "collectives/cost/network.hpp"
#include "collectives/schedule/collective_spec.hpp"

namespace pricing {

struct Bound {
  base::Nanos time{0};
  std::string reason;  ///< what limits the time, for example "what host 0 must send"
};

/// Returns a time that no schedule of the collective can beat. It is the largest of these bounds:
/// - Sending: for each host and each number k, consider the k farthest targets of the host. The
///   bound is the time to send all bytes that these targets need, plus the latency to the nearest
///   of these targets. Bytes that are the same for all targets count once.
/// - Receiving: the same for the bytes that a host must receive. Contributions that can be summed
///   on their way count once.
/// - Cuts: for each division of the clusters into two sides, the bytes that must cross from one
///   side to the other, divided by the total bandwidth of the crossing links. The latency to the
///   nearest host on the other side is added. For each exit, a further cut separates the hosts
///   behind the exit from all other hosts.
/// - Work: an allreduce over P hosts needs 2 (P - 1) transfers of each element. The bound divides
///   the bytes of all these transfers by the sum of the rates of all hosts.
///
/// A message may pass through other hosts, so the latency between two hosts is the least latency of
/// all routes between them. If a link changes with time, its rate and latency at time 0 are used.
/// The bound ignores three causes of delay: the division of messages into frames, the limits of the
/// executor (Execution), and the work of hosts for each message.
Bound bound_of(const collectives::CollectiveSpec& task, Bytes element_bytes,
               const Network& network);

}  // namespace pricing
