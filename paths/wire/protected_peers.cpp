// SPDX-License-Identifier: Apache-2.0
// paths/wire/protected_peers.cpp — choice of the peers that a host reaches over protected links
#include "paths/wire/protected_peers.hpp"

#include <utility>

namespace paths {

std::shared_ptr<const Peers> protected_peers(const Peers& peers, std::uint32_t host) {
  if (peers.protected_links.empty() || peers.hosts[host].protected_address.empty()) return nullptr;
  auto seen = std::make_shared<Peers>(peers);
  seen->keyring = nullptr;
  bool has_peer = false;
  for (std::uint32_t other = 0; other < seen->hosts.size(); ++other) {
    Peers::Peer& peer = seen->hosts[other];
    const bool is_reached = other == host || peers.is_protected(host, other);
    has_peer = has_peer || (other != host && is_reached && !peer.protected_address.empty());
    peer.address = is_reached ? peer.protected_address : "";
  }
  return has_peer ? seen : nullptr;
}

}  // namespace paths
