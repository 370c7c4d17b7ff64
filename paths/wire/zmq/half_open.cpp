// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/half_open.cpp — closing of the oldest connections without a message
#include "paths/wire/zmq/half_open.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace paths {

namespace {

socklen_t read_peer(int descriptor, sockaddr_storage& peer) {
  socklen_t bytes = sizeof peer;
  return getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &bytes) == 0 ? bytes : 0;
}

}  // namespace

std::string HalfOpen::add(int descriptor, const std::string& source) {
  remove(descriptor);
  One one{descriptor, source, {}, 0};
  one.peer_bytes = read_peer(descriptor, one.peer);
  by_descriptor_[descriptor] = oldest_first_.insert(oldest_first_.end(), one);
  if (++count_of_[source] > limits_.of_source)
    return close(std::find_if(oldest_first_.begin(), oldest_first_.end(),
                              [&source](const One& other) { return other.source == source; }));
  return oldest_first_.size() > limits_.all ? close(oldest_first_.begin()) : std::string();
}

void HalfOpen::remove(int descriptor) {
  const auto found = by_descriptor_.find(descriptor);
  if (found == by_descriptor_.end()) return;
  const auto count = count_of_.find(found->second->source);
  if (--count->second == 0) count_of_.erase(count);
  oldest_first_.erase(found->second);
  by_descriptor_.erase(found);
}

/// Shuts a connection down, so that ZeroMQ closes the connection. Returns its source.
/// Why: the function uses a copy of the descriptor. Between the comparison and the shutdown, the
///      original descriptor could become the descriptor of a different connection. The copy cannot.
std::string HalfOpen::close(Ones::iterator one) {
  const int copy = fcntl(one->descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0) {
    sockaddr_storage peer{};
    const socklen_t bytes = read_peer(copy, peer);
    if (bytes != 0 && bytes == one->peer_bytes && std::memcmp(&peer, &one->peer, bytes) == 0)
      shutdown(copy, SHUT_RDWR);
    ::close(copy);
  }
  std::string source = one->source;
  remove(one->descriptor);
  return source;
}

}  // namespace paths
