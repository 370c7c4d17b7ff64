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

/// Returns the largest of these lower bounds:
/// - Sending: for each host and each set of farthest targets, the time to send what they need at
///   the host's rate, plus the latency to the nearest of them. Bytes that are the same for all
///   count once.
/// - Receiving: the same for what a host must receive. Contributions that can be summed on their
///   way count once.
/// - Cuts: for each cut between clusters, the crossing bytes over the total bandwidth of the links,
///   plus the latency to the nearest host. The same holds for the hosts behind an exit and all
///   others.
/// - Work: for an allreduce, 2 (P - 1) transfers of each element over the rates of all hosts
///   together.
///
/// A message may pass through other hosts, so that latencies are those of shortest ways. Links have
/// their rates and latencies of time 0. Frames, windows and the costs of messages at hosts are
/// ignored.
Bound bound_of(const collectives::CollectiveSpec& task, Bytes element_bytes,
               const Network& network);

}  // namespace pricing
