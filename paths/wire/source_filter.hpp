// SPDX-License-Identifier: Apache-2.0
// paths/wire/source_filter.hpp — addresses from which a host accepts TCP connections
#pragma once
#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "paths/wire/peers.hpp"

namespace paths {

/// An IP address in the form of IPv6. An IPv4 address is stored as an IPv4-mapped address.
using IpAddress = std::array<std::uint8_t, sizeof(in6_addr)>;

/// Returns the IP address that a text such as "10.0.0.1" or "fe80::1%eth0" describes. The text may
/// be in brackets. The zone after '%' is ignored, because each machine has its own names of zones.
/// Returns nullopt for any other text, such as a host name.
std::optional<IpAddress> parse_ip_address(std::string_view text);

/// Returns whether the addresses of all hosts and switches tell from where they connect. This is so
/// if all of them are IPv4 addresses, or all are IPv6 addresses, and none is loopback.
/// Why: a name may have several addresses. A host at an IPv4 address connects to IPv6 addresses
///      from an address that the config does not have. The same is true for a host on loopback.
bool have_fixed_sources(const Peers& peers);

/// The addresses from which a host accepts TCP connections: those of the other hosts and switches,
/// and those of its machine if another host or switch is there.
///
/// Why: a stranger from another address is closed before it costs a handshake. ZeroMQ has an option
///      for this (ZMQ_TCP_ACCEPT_FILTER). It is deprecated, and does not tell which peers it has
///      refused.
/// Thread-safe: all const functions.
class SourceFilter {
 public:
  /// Makes a filter that accepts all addresses.
  SourceFilter() = default;
  /// Makes the filter of a host. It accepts all addresses if `peers` have no fixed sources.
  SourceFilter(const Peers& peers, std::uint32_t host);

  /// Returns whether the host accepts connections from `source`, the address of a peer.
  bool accepts(const std::string& source) const;
  /// Returns the address from which the host at the address `own` must connect to the address
  /// `other`, so that the host there accepts the connection. Returns "" if the system may choose.
  /// Why: if the machine of the host has more than one address, the system may choose another one.
  std::string source_for(const std::string& own, const std::string& other) const;

 private:
  bool accepts_all_ = true;
  bool accepts_machine_ = false;
  std::set<IpAddress> of_hosts_;
  std::set<IpAddress> of_machine_;
};

/// Log text about a peer that a filter has refused.
inline constexpr const char* refused_source =
    "turned away: no host of the config has this address; write `behind: nat` in the config's "
    "`network` if hosts connect from addresses that it does not have";

/// Shuts a connection down, so that its owner closes the connection. Does so only if the peer of
/// the connection has the address `source`. Returns whether the connection was shut down.
/// Why: ZeroMQ owns the descriptor, and may close it at any time. It may then belong to another
///      connection.
bool shut_down_from(int descriptor, const std::string& source);

}  // namespace paths
