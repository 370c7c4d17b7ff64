// SPDX-License-Identifier: Apache-2.0
// paths/one_machine.hpp — which hosts may share memory, and the addresses of this machine.
#pragma once
#include <sys/socket.h>

#include <set>
#include <string>

namespace paths {

/// Whether the addresses say that both hosts are processes of one machine: Unix sockets, loopback,
/// or the same TCP host.
bool are_of_one_machine(const std::string& address, const std::string& other);

/// An address of a socket as digits, without its port.
std::string numeric_text(const sockaddr* address, socklen_t bytes);

/// All addresses of this machine's interfaces, as digits.
std::set<std::string> addresses_of_this_machine();

}  // namespace paths
