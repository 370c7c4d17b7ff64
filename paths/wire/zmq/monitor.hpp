// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/monitor.hpp — events that ZeroMQ reports about a socket
#pragma once
#include <cstdint>
#include <optional>
#include <zmq.hpp>

#include "paths/wire/transport.hpp"

namespace paths {

struct SocketEvent {
  std::uint16_t kind = 0;
  int value = -1;  ///< descriptor or error code, depending on `kind`
};

/// Returns a monitor: a socket on which ZeroMQ reports the events of `socket`. The caller must
/// close the monitor and `socket` together. `connection` distinguishes the monitors of a context.
zmq::socket_t monitor_of(zmq::context_t& context, zmq::socket_t& socket, ConnectionId connection,
                         int events);
/// Returns the next event; nullopt if there is none now.
std::optional<SocketEvent> next_event(zmq::socket_t& monitor);

}  // namespace paths
