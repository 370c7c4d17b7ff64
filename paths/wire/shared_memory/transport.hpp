// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/transport.hpp — transport over memory that two processes map
#pragma once
#include <memory>

#include "paths/wire/detour.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Makes the transport of `host` to the hosts of its machine, unless the plan forbids it. Addresses
/// decide which hosts those are: Unix sockets, loopback, or the same TCP host.
///
/// A peer that has not started yet is waited for until the connection is dropped. A peer that ends
/// or is killed is reported lost at once, after everything that had arrived from it. A peer that is
/// stopped or hangs is not. If the system refuses memory to this host or to the peer, connections
/// between them take the detour. Without a detour, or if the plan requires shared memory, they are
/// lost.
///
/// Why:     Between processes of one machine a frame costs two copies, and no system call while the
///          receiver polls. With sockets it costs tens of microseconds.
/// Owns:    two rings of 4 MiB for each host that it connects to, and for each that connects to it.
///          Only parts that were used take memory. Nothing outlives the processes.
/// Bounded: as make_zmq_transport().
/// Context: Frames arrive on an OS thread that waits (runtime/scheduler/poller.hpp) or on the
///          services' thread. They leave in their sender's context; if the ring is full, they leave
///          as its reader makes room.
std::unique_ptr<Transport> make_shared_memory_transport(runtime::Runtime& runtime,
                                                        std::shared_ptr<const Peers> peers,
                                                        std::uint32_t host,
                                                        std::shared_ptr<Detour> detour = nullptr);

}  // namespace paths
