// SPDX-License-Identifier: Apache-2.0
// paths/wire/address.hpp — lookup of host addresses, and texts about their errors
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace paths {

/// Returns an address such as "tcp://localhost:7700" with the host name replaced by the IP address,
/// because ZeroMQ cannot listen on names. Blocks while it looks up the name.
std::string numeric_address(const std::string& address);

/// Returns an error text, with advice, for a host that cannot listen at `address` because another
/// process uses it.
std::string in_use_text(const std::string& address);

/// Returns an error text for a connection that accept() could not accept. `error` is its errno.
std::string accept_failed_text(int error);

/// Function that replaces the host name in an address by the IP address, if it can find one.
using LookUp = std::function<std::string(const std::string& address)>;

/// Returns an error text, with advice, if hosts at the addresses `others` cannot reach a host that
/// listens on `address`; empty if they can. They cannot if the name in `address` stands for a
/// loopback address on this machine, and one of the hosts is on another machine. (Debian's
/// /etc/hosts contains such an entry for the machine's own name.)
/// Blocks: while it calls `look_up`. It makes no call if `address` contains no name, and one call
/// if
///         the name does not stand for a loopback address. Otherwise it makes two in most cases.
std::string unreachable_from_others(const std::string& address,
                                    const std::vector<std::string>& others,
                                    const LookUp& look_up = numeric_address);

/// Returns the address of a socket's peer, without the port; empty if there is no peer.
std::string address_of_peer(int descriptor);

}  // namespace paths
