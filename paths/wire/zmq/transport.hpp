// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/transport.hpp — ZeroMQ transport between processes, over TCP and Unix sockets
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Makes the transport of `host`. The transport listens at the host's address in `peers`. It
/// reaches the peers that have an address there, and refuses peers that have none.
///
/// If a peer has not started yet, the transport tries to reach the peer until the connection is
/// closed. After the peer was reached, the transport reports the connection as lost when the peer
/// ends or is killed. Before the report, it delivers the frames that had arrived from the peer.
/// (The user of the transport detects silent peers.) If the peer is started again, the old
/// connection stays lost. The same rules apply to connections that peers have made. The loss of
/// such a connection is reported with the same connection id as its frames.
///
/// Bounded: the transport limits no queue of frames to send. Credits limit the pushes that are
///          under way, and callers limit their requests.
/// Context: frames arrive on the services' thread of `runtime`: the OS thread whose fibers do work
///          for other hosts. The OS thread or fiber of the sender sends a frame. If another thread
///          uses the sockets at that time, the other thread sends the frame. `runtime` must use the
///          steady clock and outlive the transport.
std::unique_ptr<Transport> make_zmq_transport(runtime::Runtime& runtime,
                                              std::shared_ptr<const Peers> peers,
                                              std::uint32_t host);

/// Number of descriptors that a connection to a peer uses. A connection of a peer uses one.
inline constexpr std::size_t descriptors_of_connection = 4;

/// Returns the version of the ZeroMQ library that this process has loaded, such as "4.3.4".
std::string zmq_version();

}  // namespace paths
