// SPDX-License-Identifier: Apache-2.0
// paths/wire/address.hpp — lookup of host addresses, and texts about their errors
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace paths {

/// Returns an address such as "tcp://localhost:7700" in which the IP address replaces the host
/// name.
/// Why: ZeroMQ cannot listen on names.
/// Blocks: while it looks up the name.
std::string numeric_address(const std::string& address);

/// Returns an error text, with advice, for a host that cannot listen at `address` because another
/// process uses the address.
std::string in_use_text(const std::string& address);

/// Returns an error text for a failed call of accept(). `error` is the errno of the call.
std::string accept_failed_text(int error);

/// Function that replaces the host name in an address by the IP address. If the function finds no
/// IP address, it returns the address unchanged.
using LookUp = std::function<std::string(const std::string& address)>;

/// Returns an error text, with advice, if a host at one of the addresses `others` cannot reach a
/// host that listens on `address`; "" if all can reach it. A host on a different machine cannot
/// reach it if the name in `address` stands for a loopback address on this machine. (Debian's
/// /etc/hosts contains such an entry for the machine's own name.)
/// Blocks: while it calls `look_up`. If `address` contains no name, `look_up` is not called. If the
///         name does not stand for a loopback address, `look_up` is called once. Otherwise
///         `look_up` is called twice in most cases.
std::string unreachable_from_others(const std::string& address,
                                    const std::vector<std::string>& others,
                                    const LookUp& look_up = numeric_address);

/// Returns the address of a socket's peer, without the port; "" for a Unix socket, or if there is
/// no peer.
std::string address_of_peer(int descriptor);

}  // namespace paths
