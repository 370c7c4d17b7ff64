// SPDX-License-Identifier: Apache-2.0
// paths/one_machine.cpp — comparison of host addresses, and addresses of this machine's interfaces.
#include "paths/one_machine.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>

#include "base/address.hpp"

namespace paths {

std::string machine_of(const std::string& address) {
  const auto parts = base::parse_address(address);
  if (!parts) return {};
  const bool is_loopback = parts->place.starts_with("127.") || parts->place == "[::1]";
  return is_loopback || !parts->transport->is_network ? "localhost" : parts->place;
}

bool are_of_one_machine(const std::string& address, const std::string& other) {
  const std::string machine = machine_of(address);
  return !machine.empty() && machine == machine_of(other);
}

std::string numeric_text(const sockaddr* address, socklen_t bytes) {
  char text[NI_MAXHOST] = "";
  getnameinfo(address, bytes, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

std::set<std::string> addresses_of_this_machine() {
  std::set<std::string> addresses;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return addresses;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family == AF_INET) addresses.insert(numeric_text(one->ifa_addr, sizeof(sockaddr_in)));
    if (family == AF_INET6) addresses.insert(numeric_text(one->ifa_addr, sizeof(sockaddr_in6)));
  }
  freeifaddrs(all);
  return addresses;
}

}  // namespace paths
