// SPDX-License-Identifier: Apache-2.0
// paths/config/read_security.hpp — protection of connections over TCP, and lists of public keys
#pragma once
#include "base/settings.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Reads the mode of the setting `security`. The setting is a word, or a map with the key `keys`.
void read_security(base::MapReader& network, const base::Settings& security, Plan& plan);

/// Reads the key `protected` of the section `network`: pairs of clusters between which the network
/// protects what hosts send.
/// Requires: hosts and `ways` were read.
void read_protected_links(const base::Settings& network, Plan& plan, base::Mistakes& mistakes);

/// Reads the list of public keys that `security` names, and compares it with the hosts of the plan.
/// Requires: read_security() and all hosts were read.
void read_host_keys(const base::Settings& security, Plan& plan, base::Mistakes& mistakes);

}  // namespace paths
