// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/transport.hpp — transport between processes by ZeroMQ, over TCP and Unix sockets
#pragma once
#include <memory>
#include <string>

#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Makes the transport of `host`. The transport listens at the host's address in the plan.
///
/// If a peer has not started yet, the transport tries to reach it until its connection is closed.
/// After a peer was reached, the transport reports it as lost when it ends, is killed, or is silent
/// for 15 seconds. Frames that had arrived from it are delivered before.
/// If the peer is started again, it is part of a new run, and the old connection stays lost. The
/// same rules apply to connections that peers have made. Their loss is reported with the same
/// connection id as their frames.
///
/// Bounded: the transport limits no queue. Credits limit the pushes that are under way, and callers
///          limit their requests.
/// Context: Frames arrive on the services' thread of `runtime`: the OS thread whose fibers do work
///          for other hosts. `runtime` must use the steady clock and outlive the transport. The
///          sender's OS thread or fiber sends a frame, or the thread that uses the sockets at that
///          time.
std::unique_ptr<Transport> make_zmq_transport(runtime::Runtime& runtime,
                                              std::shared_ptr<const Peers> peers,
                                              std::uint32_t host);

/// Returns the version of the ZeroMQ library that this process has loaded, such as "4.3.4".
std::string zmq_version();

}  // namespace paths
