// SPDX-License-Identifier: Apache-2.0
// paths/wire/address.cpp — names of hosts.
#include "paths/wire/address.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace paths {

std::string numeric_address(const std::string& address) {
  const std::string scheme = "tcp://";
  const auto colon = address.rfind(':');
  if (!address.starts_with(scheme) || colon < scheme.size()) return address;
  const std::string name = address.substr(scheme.size(), colon - scheme.size());
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return address;
  char numeric[NI_MAXHOST] = "";
  getnameinfo(found->ai_addr, found->ai_addrlen, numeric, sizeof numeric, nullptr, 0,
              NI_NUMERICHOST);
  freeaddrinfo(found);
  return scheme + numeric + address.substr(colon);
}

std::string in_use_text(const std::string& address) {
  const std::string remedy =
      address.starts_with("tcp://")
          ? "choose other ports (--port, or `port` in the config's `network`), or Unix sockets "
            "(--transport ipc)"
          : "name another `directory` in the config's `network`";
  return "the address is in use; is another run still going on? If so, " + remedy;
}

std::string accept_failed_text(int error) {
  const bool is_limit = error == EMFILE || error == ENFILE;
  return fmt::format("waits: a peer whose connection cannot be accepted: {}{}",
                     std::strerror(error),
                     is_limit ? "; raise the limit of open descriptors (ulimit -n)" : "");
}

std::string address_of_peer(int descriptor) {
  sockaddr_storage peer{};
  socklen_t bytes = sizeof peer;
  char numeric[NI_MAXHOST] = "";
  auto* address = reinterpret_cast<sockaddr*>(&peer);
  if (getpeername(descriptor, address, &bytes) != 0 || peer.ss_family == AF_UNIX) return {};
  getnameinfo(address, bytes, numeric, sizeof numeric, nullptr, 0, NI_NUMERICHOST);
  return numeric;
}

}  // namespace paths
