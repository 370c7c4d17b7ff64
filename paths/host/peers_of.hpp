// SPDX-License-Identifier: Apache-2.0
// paths/host/peers_of.hpp — hosts and addresses of a plan, in the form that connections need.
#pragma once
#include <memory>
#include <optional>

#include "paths/plan/plan.hpp"
#include "paths/wire/peers.hpp"

namespace paths {

/// Returns the hosts, addresses and connections of a plan. The size of this data grows with the
/// number of hosts and paths of the plan, so all hosts of a process share one object. `run` is the
/// id of the run; by default the plan's digest is used. `are_processes` is true if each host is a
/// process. `keyring` has the keys for connections over TCP.
std::shared_ptr<const Peers> peers_of(const Plan& plan, std::optional<base::Digest> run = {},
                                      bool are_processes = false,
                                      std::shared_ptr<const Keyring> keyring = nullptr);

}  // namespace paths
