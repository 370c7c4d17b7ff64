// SPDX-License-Identifier: Apache-2.0
// paths/host/further_peers.hpp — the hosts of a further plan, as numbers and peers of the run.
#pragma once
#include <memory>
#include <string>

#include "paths/plan/plan.hpp"
#include "paths/wire/multiplexer.hpp"
#include "paths/wire/peers.hpp"

namespace paths {

/// The same for every host that wires the plan.
struct FurtherPeers {
  HostNumbers numbers;
  std::shared_ptr<const Peers> peers;  ///< with the addresses that the run has
};

/// Made for the first host of this process that wires `plan`, and shared with the others as long as
/// one of them uses it. `run_plan` and `run` are the plan and the peers of the run.
///
/// Why:         it is as long as the plan has hosts and paths. One for each host grows with the
///              square of the hosts.
/// Thread-safe.
/// Throws:      UsageError if the run does not have a host of the plan; `label` is for the message.
FurtherPeers further_peers(const std::string& label, const Plan& run_plan,
                           const std::shared_ptr<const Peers>& run,
                           const std::shared_ptr<const Plan>& plan);

}  // namespace paths
