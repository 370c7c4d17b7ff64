// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/descriptors.cpp — requests to the kernel about the peers of connections
#include "paths/wire/zmq/descriptors.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>

namespace paths {
namespace {

/// Returns what the kernel knows about the peer of a socket. For TCP, the kernel knows the times of
/// the last bytes and of the last acknowledgement. The peer of a Unix socket is on this machine.
PeerContact contact_over(int descriptor) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return {};
  if (address.ss_family == AF_UNIX) return {.is_local = true};
  tcp_info info{};
  bytes = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return {};
  PeerContact contact;
  contact.since_bytes = std::chrono::milliseconds(info.tcpi_last_data_recv);
  contact.since_acknowledgement = std::chrono::milliseconds(info.tcpi_last_ack_recv);
  return contact;
}

}  // namespace

void Descriptors::note(ConnectionId connection, int descriptor) {
  const runtime::Lock lock(mutex_);
  descriptors_[connection] = descriptor;
}

void Descriptors::forget(ConnectionId connection) {
  const runtime::Lock lock(mutex_);
  descriptors_.erase(connection);
}

PeerContact Descriptors::contact(ConnectionId connection) const {
  int descriptor = -1;
  {
    const runtime::Lock lock(mutex_);
    const auto found = descriptors_.find(connection);
    if (found == descriptors_.end()) return {};
    descriptor = found->second;
  }
  return contact_over(descriptor);
}

}  // namespace paths
