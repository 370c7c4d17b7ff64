// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/transport.hpp — transport over memory that two processes map
#pragma once
#include <memory>

#include "paths/wire/detour.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Makes the transport of `host` to the hosts on its machine, unless the plan forbids shared
/// memory. Hosts are on one machine according to their addresses: Unix sockets, loopback, or the
/// same TCP host.
///
/// If a peer has not started yet, the transport tries to reach it until the connection is dropped.
/// If a peer ends or is killed, the transport delivers the frames that had arrived, then reports
/// the loss immediately. It does not notice a peer that is stopped or hangs. If this host or the
/// peer cannot use shared memory, another transport (`detour`) carries the connections between
/// them. These connections are lost if there is no detour or if the plan requires shared memory.
///
/// Why:     Between processes of one machine, a frame costs two copies, and no system call while
///          the receiver polls. With sockets a frame costs tens of microseconds.
/// Owns:    two rings of 4 MiB for each host to which it connects, and for each host that connects
///          to it. Only parts that were used take memory. The memory is freed when the processes
///          end.
/// Bounded: like make_zmq_transport().
/// Context: Frames arrive on a waiting OS thread (runtime/polling/poller.hpp) or on the services'
///          thread, the OS thread whose fibers do work for other hosts. The sender's OS thread or
///          fiber writes frames into the ring. If the ring is full, frames leave when the receiver
///          has read enough.
std::unique_ptr<Transport> make_shared_memory_transport(runtime::Runtime& runtime,
                                                        std::shared_ptr<const Peers> peers,
                                                        std::uint32_t host,
                                                        std::shared_ptr<Detour> detour = nullptr);

}  // namespace paths
