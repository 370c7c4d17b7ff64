// SPDX-License-Identifier: Apache-2.0
// paths/wire/transports.hpp — several transports of one host, combined into one
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "paths/wire/detour.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Hides from a host which transport reaches which peer. Frames to a host use the first transport
/// that reaches it. Frames arrive on all of them.
///
/// Owns:        the transports, at least one.
/// Thread-safe: as a Transport.
class Transports final : public Transport {
 public:
  /// `detour` leads from the first transport to the others.
  explicit Transports(std::vector<std::unique_ptr<Transport>> transports,
                      std::shared_ptr<const Detour> detour = nullptr);
  ~Transports() override;

  bool reaches(std::uint32_t host) const override;
  void start(Receiver& receiver) override;
  ConnectionId connect(std::uint32_t host, std::uint32_t path) override;
  void send(ConnectionId connection, Frame&& frame) override;
  bool reports_room(std::uint32_t host) const override;
  bool has_room(ConnectionId connection) override;
  std::shared_ptr<ShortWay> short_way(ConnectionId connection) override;
  void drop(ConnectionId connection) override;
  std::string source(ConnectionId connection) override;
  void settle() override;
  void stop() override;

 private:
  class Entrance;  // receiver of what one transport brings
  /// Each transport numbers its own connections; numbers of this class also contain the transport.
  ConnectionId ours(ConnectionId theirs, std::size_t index) const {
    return theirs * transports_.size() + index;
  }
  ConnectionId theirs(ConnectionId ours) const { return ours / transports_.size(); }
  Transport& of(ConnectionId ours) const { return *transports_[ours % transports_.size()]; }

  const std::shared_ptr<const Detour> detour_;
  // Declared first, because the transports deliver to it as long as they exist.
  std::vector<std::unique_ptr<Entrance>> entrances_;
  std::vector<std::unique_ptr<Transport>> transports_;
};

/// Returns the transports of `host` if each host is a process. They are shared memory to the hosts
/// of its machine, unless the plan forbids it or there are none, and ZeroMQ to all others. ZeroMQ
/// is also the detour if the system refuses memory. Otherwise as make_zmq_transport().
/// Throws: TravelError if the process may not open enough descriptors.
std::unique_ptr<Transport> make_transports(runtime::Runtime& runtime,
                                           std::shared_ptr<const Peers> peers, std::uint32_t host);

}  // namespace paths
