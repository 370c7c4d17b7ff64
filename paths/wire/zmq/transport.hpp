// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/transport.hpp — frames between processes, over TCP and Unix sockets, by ZeroMQ.
#pragma once
#include <memory>
#include <string>

#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// The transport of `host`, which listens at its address in the plan.
///
/// Runs in:  frames arrive on the services' OS thread of `runtime` (steady clock), which must
///           outlive the transport. They leave in the context that sends them, or with whoever uses
///           the sockets at that moment.
/// Bounds:   none of its own; credits bound pushes that are under way, their callers requests.
/// A peer that has not started yet is waited for until the connection is dropped. A peer that was
/// met and then ends, is killed or falls silent for 15 s is reported lost, after everything that
/// had arrived from it was delivered; if it comes back, it is a new run, and the connection stays
/// lost. Likewise for connections that peers made to this host, with the ids under which their
/// frames were delivered.
std::unique_ptr<Transport> make_zmq_transport(runtime::Runtime& runtime,
                                              std::shared_ptr<const Peers> peers,
                                              std::uint32_t host);

/// The version of the library that this process has loaded: "4.3.4".
std::string zmq_version();

}  // namespace paths
