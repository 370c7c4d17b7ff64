// SPDX-License-Identifier: Apache-2.0
// paths/address.cpp — names of hosts and files of Unix sockets.
#include "paths/address.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <system_error>

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

std::filesystem::path socket_file(const std::string& address) {
  const std::string scheme = "ipc://";
  return address.starts_with(scheme) ? address.substr(scheme.size()) : "";
}

bool somebody_listens(const std::string& address) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string file = socket_file(address).string();
  if (file.empty() || file.size() >= sizeof name.sun_path) return false;
  std::memcpy(name.sun_path, file.c_str(), file.size());
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool listens =
      connect(descriptor, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
  close(descriptor);
  return listens;
}

void make_socket_folder(const std::string& address) {
  const auto folder = socket_file(address).parent_path();
  if (folder.empty()) return;
  std::error_code ignored;  // listening will say what is wrong
  if (!std::filesystem::create_directories(folder, ignored)) return;
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
}

}  // namespace paths
