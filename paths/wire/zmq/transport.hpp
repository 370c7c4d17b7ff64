// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/transport.hpp — transport between processes by ZeroMQ, over TCP and Unix sockets
#pragma once
#include <memory>
#include <string>

#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Makes the transport of `host`, which listens at its address in the plan.
///
/// A peer that has not started yet is waited for until the connection is dropped. After a peer was
/// met, it is reported lost when it ends, is killed or is silent for 15 s. Everything that had
/// arrived from it is delivered before. A peer that comes back is a new run, and the connection
/// stays lost. The same holds for connections that peers made, with the ids under which their
/// frames were delivered.
///
/// Bounded: no limit of its own. Credits limit the pushes under way, and callers the requests.
/// Context: Frames arrive on the services' OS thread of `runtime` (steady clock), which must
///          outlive the transport. They leave in their sender's context, or with the thread that
///          uses the sockets then.
std::unique_ptr<Transport> make_zmq_transport(runtime::Runtime& runtime,
                                              std::shared_ptr<const Peers> peers,
                                              std::uint32_t host);

/// Returns the version of the library that this process has loaded, such as "4.3.4".
std::string zmq_version();

}  // namespace paths
