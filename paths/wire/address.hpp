// SPDX-License-Identifier: Apache-2.0
// paths/wire/address.hpp — what lies behind "tcp://HOST:PORT".
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace paths {

/// "tcp://localhost:7700" as ZeroMQ can listen on it, which takes no names. Blocks while it asks
/// for the name.
std::string numeric_address(const std::string& address);

/// Why a host cannot listen at an address at which another process does, and what to do.
std::string in_use_text(const std::string& address);

/// Why this host lets a peer wait whose connection it cannot accept, because of that error.
std::string accept_failed_text(int error);

/// Makes an address one whose interface is digits, if it can.
using LookUp = std::function<std::string(const std::string& address)>;

/// Why hosts at `others` could not reach a host that listens on `address`, and what to write
/// instead; "" = they can. They cannot if the name in `address` means a loopback address here, and
/// one of them is on another machine. (Debian's /etc/hosts has such an entry for a machine's name.)
/// Blocks while `look_up` asks for names; of that it needs two in most cases, and none of a name
/// that is no loopback one.
std::string unreachable_from_others(const std::string& address,
                                    const std::vector<std::string>& others,
                                    const LookUp& look_up = numeric_address);

/// The address, without a port, of who is at the other end of a socket; "" where there is none.
std::string address_of_peer(int descriptor);

}  // namespace paths
