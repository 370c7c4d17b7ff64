// SPDX-License-Identifier: Apache-2.0
// paths/wire/address.cpp — lookup of host names, and error texts about addresses
#include "paths/wire/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "base/address.hpp"
#include "paths/one_machine.hpp"

namespace paths {
namespace {

/// Returns `address` with the interface `place`.
std::string with_place(const std::string& address, const std::string& place) {
  auto parts = base::parse_address(address);
  parts->place = place;
  return parts->text();
}

/// Returns whether `name` must be looked up. IP addresses and "localhost" need no lookup.
bool is_open(const std::string& name) {
  in_addr digits{};
  return !name.empty() && name != "*" && name != "localhost" && !name.starts_with('[') &&
         inet_pton(AF_INET, name.c_str(), &digits) != 1;
}

bool means_loopback(const std::string& interface) {
  return interface.starts_with("127.") || interface == "localhost" || interface == "[::1]";
}

}  // namespace

std::string numeric_address(const std::string& address) {
  const std::string name = base::interface_of(address);
  if (name.empty()) return address;
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return address;
  char numeric[NI_MAXHOST] = "";
  getnameinfo(found->ai_addr, found->ai_addrlen, numeric, sizeof numeric, nullptr, 0,
              NI_NUMERICHOST);
  freeaddrinfo(found);
  return with_place(address, numeric);
}

std::string in_use_text(const std::string& address) {
  const std::string remedy =
      !base::interface_of(address).empty()
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

std::string unreachable_from_others(const std::string& address,
                                    const std::vector<std::string>& others, const LookUp& look_up) {
  const std::string name = base::interface_of(address);
  if (!is_open(name)) return {};
  const std::string here = base::interface_of(look_up(address));
  if (!means_loopback(here)) return {};
  const std::set<std::string> own = addresses_of_this_machine();
  std::set<std::string> asked = {name};
  for (const std::string& other : others) {
    if (!asked.insert(base::interface_of(other)).second) continue;
    const std::string there = base::interface_of(look_up(other));
    if (there.empty() || there == "*" || means_loopback(there) || own.contains(there)) continue;
    std::string instead;
    for (const std::string& candidate : own)
      if (!means_loopback(candidate) && candidate.find(':') == std::string::npos)
        instead += (instead.empty() ? ": " : " or ") + with_place(address, candidate);
    return fmt::format(
        "{} is {} on this machine, where no other machine can reach it, but {} is on another one; "
        "write an address that others reach into the config{}, or correct {} in /etc/hosts",
        name, here, other, instead, name);
  }
  return {};
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
