// SPDX-License-Identifier: Apache-2.0
// paths/wire/address.hpp — what lies behind "tcp://HOST:PORT".
#pragma once
#include <string>

namespace paths {

/// "tcp://localhost:7700" as ZeroMQ can listen on it, which takes no names. Blocks while it asks
/// for the name.
std::string numeric_address(const std::string& address);

/// Why a host cannot listen at an address at which another process does, and what to do.
std::string in_use_text(const std::string& address);

/// Why this host lets a peer wait whose connection it cannot accept, because of that error.
std::string accept_failed_text(int error);

/// The address, without a port, of who is at the other end of a socket; "" where there is none.
std::string address_of_peer(int descriptor);

}  // namespace paths
