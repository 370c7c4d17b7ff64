// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/monitor.cpp — start of monitors, and reading of their events
#include "paths/wire/zmq/monitor.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "paths/wire/zmq/codec.hpp"

namespace paths {

zmq::socket_t monitor_of(zmq::context_t& context, zmq::socket_t& socket, ConnectionId connection,
                         int events) {
  const std::string address = fmt::format("inproc://monitor-{}", connection);
  if (zmq_socket_monitor(socket.handle(), address.c_str(), events) != 0) throw zmq::error_t();
  zmq::socket_t monitor(context, zmq::socket_type::pair);
  monitor.set(zmq::sockopt::linger, 0);
  // 0 = no limit for queued events. With a limit, the thread of ZeroMQ could have to wait until
  // this thread has read events.
  monitor.set(zmq::sockopt::rcvhwm, 0);
  monitor.connect(address);
  return monitor;
}

std::optional<SocketEvent> next_event(zmq::socket_t& monitor) {
  zmq::message_t event, address;
  std::vector<zmq::message_t> none;
  if (receive_all(monitor, {&event, &address}, none) == 0) return std::nullopt;
  ENSURE_EQ(event.size(), 6u);
  SocketEvent read;
  std::uint32_t value;
  std::memcpy(&read.kind, event.data(), sizeof read.kind);
  std::memcpy(&value, event.data<char>() + sizeof read.kind, sizeof value);
  read.value = static_cast<int>(value);
  return read;
}

}  // namespace paths
