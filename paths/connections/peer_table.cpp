// SPDX-License-Identifier: Apache-2.0
// paths/connections/peer_table.cpp — counts of hellos and departures
#include "paths/connections/peer_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "paths/wire/socket_folder.hpp"

namespace paths {

PeerTable::PeerTable(const Peers& peers, std::uint32_t host) : peers_(peers), host_(host) {
  for (const Peers::Arrival& arrival : peers_.hosts[host_].arrivals)
    met_[arrival.from_host].comes_on[connection_key(peers_, arrival.stage)] = false;
}

const PeerTable::Peer* PeerTable::find(std::uint32_t host) const {
  const auto known = met_.find(host);
  return known == met_.end() ? nullptr : &known->second;
}

std::set<std::uint32_t> PeerTable::not_come() const {
  std::set<std::uint32_t> hosts;
  for (const auto& [host, peer] : met_)
    if (!peer.has_departed && peer.greeted_on < peer.comes_on.size()) hosts.insert(host);
  return hosts;
}

bool PeerTable::depart(std::uint32_t host, const std::string& why) {
  Peer& peer = met_[host];
  if (std::exchange(peer.has_departed, true)) return false;
  peer.why = why;
  return true;
}

std::string PeerTable::place_of(std::uint32_t host) const {
  const Peer* const peer = find(host);
  const bool was_refused = peer != nullptr && !peer->refused.empty();
  return located(peers_.hosts[host].address) + (was_refused ? "; refused: " + peer->refused : "");
}

std::string PeerTable::given_up() const {
  if (given_up_.empty()) return "";
  return fmt::format("host {}: {}", peers_.hosts[host_].name, fmt::join(given_up_, "; "));
}

}  // namespace paths
