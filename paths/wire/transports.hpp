// SPDX-License-Identifier: Apache-2.0
// paths/wire/transports.hpp — several transports of one host, combined into one
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "paths/wire/detour.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Combines several transports of one host. Sends the frames to a peer by the first transport that
/// reaches the peer, and receives frames on all transports.
///
/// Owns:        the transports, at least one.
/// Thread-safe: the functions that are thread-safe in Transport.
class Transports final : public Transport {
 public:
  /// `detour` sends frames of the first transport's connections by the last transport; nullptr if
  /// there is no detour.
  explicit Transports(std::vector<std::unique_ptr<Transport>> transports,
                      std::shared_ptr<const Detour> detour = nullptr);
  ~Transports() override;

  void start(Receiver& receiver) override;
  ConnectionId connect(std::uint32_t host) override;
  void send(ConnectionId connection, Frame&& frame) override;
  bool reports_room(std::uint32_t host) const override;
  bool has_room(ConnectionId connection) override;
  std::shared_ptr<ShortWay> short_way(ConnectionId connection) override;
  void drop(ConnectionId connection) override;
  std::string source(ConnectionId connection) override;
  PeerContact contact(ConnectionId connection) override;
  void settle() override;
  void stop() override;

 private:
  class Entrance;  // receives the frames of one transport
  std::size_t first_that_reaches(std::uint32_t host) const;
  /// Returns the number of a connection in this object. It combines the number `theirs` that the
  /// transport has given to the connection with the index of the transport.
  ConnectionId ours(ConnectionId theirs, std::size_t index) const {
    return theirs * transports_.size() + index;
  }
  ConnectionId theirs(ConnectionId ours) const { return ours / transports_.size(); }
  Transport& of(ConnectionId ours) const { return *transports_[ours % transports_.size()]; }

  const std::shared_ptr<const Detour> detour_;
  // Declared before transports_, because a transport delivers to its entrance until the transport
  // is destroyed.
  std::vector<std::unique_ptr<Entrance>> entrances_;
  std::vector<std::unique_ptr<Transport>> transports_;
};

/// Returns a transport of the kind of the address of `host` (base/address.hpp).
std::unique_ptr<Transport> make_transport(runtime::Runtime& runtime,
                                          std::shared_ptr<const Peers> peers, std::uint32_t host);

/// Returns the transport of `host` for runs in which each host is a process. The transport uses
/// shared memory to other hosts of the same machine, unless the plan forbids shared memory. It uses
/// make_transport() to all other hosts, or to all hosts if the system provides no shared memory. It
/// listens on a second address for hosts over protected links (protected_peers.hpp).
/// `lanes` contains the hosts and switches with which the host surely exchanges messages without a
/// path.
/// Throws: TravelError if the process is not allowed to open enough descriptors.
std::unique_ptr<Transport> make_transports(runtime::Runtime& runtime,
                                           std::shared_ptr<const Peers> peers, std::uint32_t host,
                                           const std::set<std::uint32_t>& lanes = {});

/// Maximum number of connections that a host makes for lanes. Beyond it, the host closes idle ones.
inline constexpr std::size_t lane_connections_most = 256;

/// Checks that the process of `host` may open enough descriptors for its paths, and for a
/// connection in each direction with each of `lanes`. `open` is the number that was open before it
/// made any connection.
/// Why:    if ZeroMQ cannot open a descriptor, it ends the process or waits for ever.
/// Throws: TravelError with the needed and the permitted number.
void check_descriptors(const Peers& peers, std::uint32_t host, std::uint64_t open,
                       const std::set<std::uint32_t>& lanes);

}  // namespace paths
