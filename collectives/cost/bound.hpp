// SPDX-License-Identifier: Apache-2.0
// collectives/cost/bound.hpp — the time that no schedule of a collective can beat on a network.
#pragma once
#include <string>

#include "collectives/cost/network.hpp"
#include "collectives/schedule/collective_spec.hpp"

namespace pricing {

struct Bound {
  base::Nanos time{0};
  std::string reason;  ///< what makes it so: "what host 0 must send"
};

/// The largest of
/// - what a host must send over its rate, and the latency to whoever needs the end of it: to all
///   that are at least so far away, what they need; the same bytes count once if they are for all;
/// - what a host must receive, likewise; what can be summed up on its way counts once;
/// - over each cut between clusters, what must cross over the bandwidth of the links together, and
///   the latency of the nearest; likewise what the hosts behind an exit have with all others;
/// - of an allreduce, 2 (P - 1) transfers of each element over the rates of all hosts together.
///
/// A message may pass other hosts, so latencies are those of the shortest way. Links are taken as
/// they are at the start; frames, windows and what hosts spend on messages are left out.
Bound bound_of(const collectives::CollectiveSpec& task, Bytes element_bytes,
               const Network& network);

}  // namespace pricing
