// SPDX-License-Identifier: Apache-2.0
// paths/wire/protected_peers.hpp — peers of a host over links with `security: network`
#pragma once
#include <cstdint>
#include <memory>

#include "paths/wire/peers.hpp"

namespace paths {

/// Returns the peers of `host` over protected links: without keys, and with the addresses for these
/// links. The address of every other peer is "", so that no other peer can connect. Returns nullptr
/// if `host` has no such peers.
std::shared_ptr<const Peers> protected_peers(const Peers& peers, std::uint32_t host);

}  // namespace paths
