// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/transport.hpp — frames between processes of one machine, over memory
// that both see.
#pragma once
#include <memory>

#include "paths/wire/detour.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// The transport of `host` to the hosts of its machine: those whose addresses say so (Unix sockets,
/// loopback, the same TCP host), while the plan does not forbid it.
///
/// Why:      between processes of a machine a frame costs two copies, and no call of the kernel
/// while
///           the receiver looks for it; by sockets, tens of microseconds.
/// Runs in:  frames arrive on an OS thread that waits (runtime/scheduler/poller.hpp), or on the
/// services' one.
///           They leave in the context that sends them; what finds the ring full, as its reader
///           makes room.
/// Owns:     two rings of 4 MiB for each host it has connections to, and for each that has some to
///           it, of which only what was used takes memory; nothing of it outlives the processes.
/// Bounds:   none of its own; as of make_zmq_transport().
/// A peer that has not started yet is waited for until the connection is dropped. One that ends or
/// is killed is reported lost at once, after everything that had arrived from it; one that is
/// stopped or hangs is not. If the system refuses memory to this host or to the peer, connections
/// between them take the detour. Without a detour, or if the plan requires memory, they are lost.
std::unique_ptr<Transport> make_shared_memory_transport(runtime::Runtime& runtime,
                                                        std::shared_ptr<const Peers> peers,
                                                        std::uint32_t host,
                                                        std::shared_ptr<Detour> detour = nullptr);

}  // namespace paths
