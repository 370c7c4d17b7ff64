// SPDX-License-Identifier: Apache-2.0
// paths/one_machine.hpp — which hosts may share memory.
#pragma once
#include <string>

namespace paths {

/// Whether the addresses say that both hosts are processes of one machine: Unix sockets, loopback,
/// or the same TCP host.
bool are_of_one_machine(const std::string& address, const std::string& other);

}  // namespace paths
