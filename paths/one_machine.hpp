// SPDX-License-Identifier: Apache-2.0
// paths/one_machine.hpp — machine of an address, and the addresses of this machine.
#pragma once
#include <sys/socket.h>

#include <set>
#include <string>

namespace paths {

/// Returns a name of the machine at an address: "localhost" for files and loopback
/// addresses, otherwise the interface. Returns "" if the address names no machine.
std::string machine_of(const std::string& address);

/// Returns whether two addresses belong to processes on the same machine. This is true if both
/// addresses have the same interface, or if each is a file or a loopback address.
bool are_of_one_machine(const std::string& address, const std::string& other);

/// Returns the numeric form of a socket address, without its port.
std::string numeric_text(const sockaddr* address, socklen_t bytes);

/// Returns the addresses of all interfaces of this machine, in numeric form.
std::set<std::string> addresses_of_this_machine();

}  // namespace paths
