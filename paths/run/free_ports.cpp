// SPDX-License-Identifier: Apache-2.0
// paths/run/free_ports.cpp — blocks of ports, claimed by names of Unix sockets.
#include "paths/run/free_ports.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>

namespace paths {
namespace {

// The ports are below the range that Linux uses for outgoing connections, which usually begins at
// 32768.
constexpr std::uint16_t first_port = 10'240;
constexpr std::size_t block_ports = 64, blocks = 352;

base::Descriptor bound(int family, const void* address, std::size_t bytes) {
  base::Descriptor made(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made &&
      bind(made.get(), static_cast<const sockaddr*>(address), static_cast<socklen_t>(bytes)) != 0)
    made.close();
  return made;
}

/// Claims a block of ports for this process: binds a Unix socket with the name of the block. The
/// name begins with a zero byte. The socket is therefore in no file system, and disappears with the
/// process.
base::Descriptor claim_of(std::size_t block) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("paths-ports-{}", block);
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  return bound(AF_UNIX, &address, offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

/// Claims `count` blocks from `first` on. Returns fewer claims if another process has claimed a
/// block.
std::vector<base::Descriptor> claims_of(std::size_t first, std::size_t count) {
  std::vector<base::Descriptor> claims;
  while (claims.size() < count) {
    base::Descriptor claim = claim_of(first + claims.size());
    if (!claim) break;
    claims.push_back(std::move(claim));
  }
  return claims;
}

bool is_free(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return static_cast<bool>(bound(AF_INET, &address, sizeof address));
}

}  // namespace

std::optional<FreePorts> FreePorts::take(std::size_t count) {
  const std::size_t wanted = (count + block_ports - 1) / block_ports;
  // The first block depends on the process id, so that processes that start at the same time
  // usually begin at different blocks.
  const std::size_t begin = static_cast<std::size_t>(getpid()) * 97 % blocks;
  for (std::size_t tried = 0; tried < blocks; ++tried) {
    const std::size_t block = (begin + tried) % blocks;
    if (block + wanted > blocks) continue;
    const auto first = static_cast<std::uint16_t>(first_port + block * block_ports);
    std::vector<base::Descriptor> claims = claims_of(block, wanted);
    if (claims.size() < wanted) continue;
    std::size_t free = 0;
    while (free < count && is_free(static_cast<std::uint16_t>(first + free))) ++free;
    if (free == count) return FreePorts(first, std::move(claims));
  }
  return std::nullopt;
}

}  // namespace paths
