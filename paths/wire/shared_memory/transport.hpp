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
/// memory. Hosts are on one machine if their addresses are Unix sockets, loopback addresses, or
/// addresses of the same TCP host.
///
/// If a peer has not started yet, the transport tries to reach the peer until the connection is
/// dropped. If a peer ends or is killed, the transport delivers the frames that had arrived, then
/// reports the loss immediately. The transport does not notice a peer that is stopped or hangs. If
/// this host or the peer cannot use shared memory, another transport (`detour`) carries the
/// connections between them. If there is no detour, or if the plan requires shared memory, these
/// connections are lost.
///
/// Why:     between processes of one machine, a frame over shared memory costs two copies, and no
///          system call while the receiver polls. A frame over sockets costs tens of microseconds.
/// Owns:    two rings of 4 MiB for each peer to which this host connects, and for each peer that
///          connects to this host. Only the used parts of a ring take memory. The memory is freed
///          when the processes end.
/// Bounded: like make_zmq_transport().
/// Context: frames arrive on a waiting OS thread (runtime/polling/poller.hpp) or on the services'
///          thread, the OS thread whose fibers do work for other hosts. The sender's OS thread or
///          fiber writes frames into the ring. If the ring is full, frames leave when the receiver
///          has read enough.
std::unique_ptr<Transport> make_shared_memory_transport(runtime::Runtime& runtime,
                                                        std::shared_ptr<const Peers> peers,
                                                        std::uint32_t host,
                                                        std::shared_ptr<Detour> detour = nullptr);

}  // namespace paths
