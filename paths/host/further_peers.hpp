// SPDX-License-Identifier: Apache-2.0
// paths/host/further_peers.hpp — host numbers and peers of a plan that is not the config's.
#pragma once
#include <memory>
#include <string>

#include "paths/plan/plan.hpp"
#include "paths/wire/multiplexer.hpp"
#include "paths/wire/peers.hpp"

namespace paths {

/// Host numbers and peers of a further plan: a plan that is not the config's. Every host that
/// deploys the plan has the same host numbers and peers.
struct FurtherPeers {
  HostNumbers numbers;
  std::shared_ptr<const Peers> peers;  ///< peers with their network addresses in the run
};

/// Returns the host numbers and peers of `plan`. The first call in this process with the same
/// `plan` and `run` makes them, and later calls return the same objects. `run_plan` is the config's
/// plan. `run` contains the peers of the run.
///
/// Why:    the size of this data grows with the number of hosts and paths of the plan. With a copy
///         for each host, the memory would grow with the square of the number of hosts.
/// Thread-safe.
/// Throws: UsageError if a host of the plan is not in the run. The message contains `label`.
FurtherPeers further_peers(const std::string& label, const Plan& run_plan,
                           const std::shared_ptr<const Peers>& run,
                           const std::shared_ptr<const Plan>& plan);

}  // namespace paths
