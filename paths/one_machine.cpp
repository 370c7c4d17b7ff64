// SPDX-License-Identifier: Apache-2.0
// paths/one_machine.cpp — what addresses say of machines.
#include "paths/one_machine.hpp"

#include <string_view>

namespace paths {

bool are_of_one_machine(const std::string& address, const std::string& other) {
  const auto machine_of = [](const std::string& place) -> std::string {
    constexpr std::string_view tcp = "tcp://";
    if (place.starts_with("ipc://")) return "localhost";
    if (!place.starts_with(tcp)) return {};
    const std::string host = place.substr(tcp.size(), place.rfind(':') - tcp.size());
    const bool is_loopback = host.starts_with("127.") || host == "[::1]";
    return is_loopback ? "localhost" : host;
  };
  const std::string machine = machine_of(address);
  return !machine.empty() && machine == machine_of(other);
}

}  // namespace paths
