// SPDX-License-Identifier: Apache-2.0
// paths/wire/address.hpp — lookup of host addresses, and texts about their errors
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace paths {

/// Returns an address such as "tcp://localhost:7700" with digits for the name, because ZeroMQ
/// cannot listen on names. Blocks for the name lookup.
std::string numeric_address(const std::string& address);

/// Returns why a host cannot listen at an address that another process uses, and what to do.
std::string in_use_text(const std::string& address);

/// Returns why this host cannot accept the connection of a waiting peer, for that value of errno.
std::string accept_failed_text(int error);

/// Replaces the interface in an address with digits, if it can.
using LookUp = std::function<std::string(const std::string& address)>;

/// Returns why hosts at `others` could not reach a host that listens on `address`, and what to
/// write instead; empty if they can reach it. They cannot if the name in `address` means a loopback
/// address here, and one of them is on another machine. (Debian's /etc/hosts has such an entry for
/// a machine's name.)
/// Blocks: for calls of `look_up`: none without a name in `address`, one if it is no loopback name,
/// otherwise two in most cases.
std::string unreachable_from_others(const std::string& address,
                                    const std::vector<std::string>& others,
                                    const LookUp& look_up = numeric_address);

/// Returns the address, without port, of the peer of a socket; empty if there is none.
std::string address_of_peer(int descriptor);

}  // namespace paths
