// SPDX-License-Identifier: Apache-2.0
// paths/host/peers_of.hpp — what of a plan the hosts' connections are told.
#pragma once
#include <memory>
#include <optional>

#include "paths/plan/plan.hpp"
#include "paths/wire/peers.hpp"

namespace paths {

/// Made once for all hosts of a process: it is as long as the plan has hosts and paths.
/// `run` is its id, if somebody made one.
std::shared_ptr<const Peers> peers_of(const Plan& plan, std::optional<base::Digest> run = {},
                                      bool are_processes = false);

}  // namespace paths
