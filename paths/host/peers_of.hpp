// SPDX-License-Identifier: Apache-2.0
// paths/host/peers_of.hpp — hosts and addresses of a plan, in the form that connections need.
#pragma once
#include <memory>
#include <optional>

#include "paths/plan/plan.hpp"
#include "paths/wire/peers.hpp"

namespace paths {

/// Returns the hosts, addresses and connections of a plan. `run` is the id of the run; by default
/// it is the plan's digest. `are_processes` is true if each host is a process. `keyring` has the
/// keys for connections over TCP. All hosts of a process should share the returned object, because
/// its size grows with the number of hosts and paths of the plan.
std::shared_ptr<const Peers> peers_of(const Plan& plan, std::optional<base::Digest> run = {},
                                      bool are_processes = false,
                                      std::shared_ptr<const Keyring> keyring = nullptr);

}  // namespace paths
