// SPDX-License-Identifier: Apache-2.0
// paths/wire/transports.hpp — several transports of one host, as one.
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

/// Frames to a host go by the first transport that reaches it; frames come by all of them.
///
/// Owns:    the transports, of which there is at least one.
/// Sharing: as of a Transport.
class Transports final : public Transport {
 public:
  /// The detour leads from the first of them to the others.
  explicit Transports(std::vector<std::unique_ptr<Transport>> transports,
                      std::shared_ptr<const Detour> detour = nullptr);
  ~Transports() override;

  bool reaches(std::uint32_t host) const override;
  void start(Receiver& receiver) override;
  ConnectionId connect(std::uint32_t host, std::uint32_t path) override;
  void send(ConnectionId connection, Frame&& frame) override;
  bool tells_of_room(std::uint32_t host) const override;
  bool has_room(ConnectionId connection) override;
  std::shared_ptr<ShortWay> short_way(ConnectionId connection) override;
  void drop(ConnectionId connection) override;
  std::string source(ConnectionId connection) override;
  void settle() override;
  void stop() override;

 private:
  class Entrance;  // of what one of them brings
  /// Each numbers its connections for itself; ours say whose they are.
  ConnectionId ours(ConnectionId theirs, std::size_t index) const {
    return theirs * transports_.size() + index;
  }
  ConnectionId theirs(ConnectionId ours) const { return ours / transports_.size(); }
  Transport& of(ConnectionId ours) const { return *transports_[ours % transports_.size()]; }

  const std::shared_ptr<const Detour> detour_;
  std::vector<std::unique_ptr<Entrance>> entrances_;  // outlive what brings frames to them
  std::vector<std::unique_ptr<Transport>> transports_;
};

/// Those of `host` where each host is a process: shared memory to the hosts of its machine, unless
/// the plan forbids it or there are none, and ZeroMQ to all others. ZeroMQ also serves as the
/// detour if the system refuses memory. As make_zmq_transport(); throws TravelError if the process
/// may not open enough descriptors as well.
std::unique_ptr<Transport> make_transports(runtime::Runtime& runtime,
                                           std::shared_ptr<const Peers> peers, std::uint32_t host);

}  // namespace paths
