// SPDX-License-Identifier: Apache-2.0
// paths/wire/transports.cpp — choice of a transport for each connection, and check of descriptors
#include "paths/wire/transports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/address.hpp"
#include "base/errors.hpp"
#include "paths/one_machine.hpp"
#include "paths/travel_error.hpp"
#include "paths/wire/protected_peers.hpp"
#include "paths/wire/shared_memory/transport.hpp"
#include "paths/wire/zmq/transport.hpp"
#include "runtime/processes/machine.hpp"

namespace paths {

class Transports::Entrance final : public Receiver {
 public:
  Entrance(const Transports& transports, std::size_t index, Receiver& receiver)
      : transports_(transports), index_(index), receiver_(receiver) {}

  void deliver(ConnectionId connection, Frame&& frame) override {
    receiver_.deliver(known(connection), std::move(frame));
  }
  void deliver_short(ConnectionId connection, ShortFrame&& frame) override {
    receiver_.deliver_short(known(connection), std::move(frame));
  }
  std::uint64_t body_bytes_max(ConnectionId connection, const Frame& head) override {
    return receiver_.body_bytes_max(known(connection), head);
  }
  std::shared_ptr<ShortEnd> short_end(ConnectionId connection) override {
    return receiver_.short_end(known(connection));
  }
  void room_made(ConnectionId connection) override { receiver_.room_made(known(connection)); }
  void connection_lost(ConnectionId connection, const std::string& reason) override {
    receiver_.connection_lost(known(connection), reason);
  }
  void turned_away(const std::string& source, const std::string& reason) override {
    receiver_.turned_away(source, reason);
  }

 private:
  /// Returns the number by which the receiver knows the connection.
  ConnectionId known(ConnectionId connection) const {
    const Detour* const detour = transports_.detour_.get();
    const bool is_last = index_ + 1 == transports_.transports_.size();
    const auto original =
        detour != nullptr && is_last ? detour->original(connection) : std::nullopt;
    return original ? transports_.ours(*original, 0) : transports_.ours(connection, index_);
  }
  const Transports& transports_;
  std::size_t index_;
  Receiver& receiver_;
};

Transports::Transports(std::vector<std::unique_ptr<Transport>> transports,
                       std::shared_ptr<const Detour> detour)
    : detour_(std::move(detour)), transports_(std::move(transports)) {
  ENSURE(!transports_.empty());
}

Transports::~Transports() = default;

std::size_t Transports::first_that_reaches(std::uint32_t host) const {
  const auto first = std::find_if(transports_.begin(), transports_.end(),
                                  [host](const auto& one) { return one->reaches(host); });
  ENSURE(first != transports_.end());
  return static_cast<std::size_t>(first - transports_.begin());
}

void Transports::start(Receiver& receiver) {
  for (std::size_t i = 0; i < transports_.size(); ++i)
    entrances_.push_back(std::make_unique<Entrance>(*this, i, receiver));
  for (std::size_t i = 0; i < transports_.size(); ++i) transports_[i]->start(*entrances_[i]);
}

ConnectionId Transports::connect(std::uint32_t host) {
  const std::size_t index = first_that_reaches(host);
  return ours(transports_[index]->connect(host), index);
}

void Transports::send(ConnectionId connection, Frame&& frame) {
  of(connection).send(theirs(connection), std::move(frame));
}

bool Transports::reports_room(std::uint32_t host) const {
  return transports_[first_that_reaches(host)]->reports_room(host);
}

bool Transports::has_room(ConnectionId connection) {
  return of(connection).has_room(theirs(connection));
}

std::shared_ptr<ShortWay> Transports::short_way(ConnectionId connection) {
  return of(connection).short_way(theirs(connection));
}

void Transports::drop(ConnectionId connection) { of(connection).drop(theirs(connection)); }

std::string Transports::source(ConnectionId connection) {
  return of(connection).source(theirs(connection));
}

PeerContact Transports::contact(ConnectionId connection) {
  return of(connection).contact(theirs(connection));
}

void Transports::settle() {
  for (auto& transport : transports_) transport->settle();
}

void Transports::stop() {
  for (auto& transport : transports_) transport->stop();
}

namespace {

/// How to make a kind of transport that a config can choose, and the measured numbers of
/// descriptors that it opens.
struct Maker {
  std::string_view word;  ///< word of the base::TransportKind
  std::unique_ptr<Transport> (*make)(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers,
                                     std::uint32_t host);
  std::uint64_t descriptors;  ///< number without connections, and without encryption
};

constexpr std::array makers = {
    Maker{"tcp", make_zmq_transport, 9},
    Maker{"ipc", make_zmq_transport, 10},
};
constexpr std::uint64_t descriptors_of_encryption = 1;

// Measured numbers of descriptors that shared memory uses: in total, and in addition for each end
// of a link.
constexpr std::uint64_t descriptors_of_memory = 4, descriptors_of_link = 3;

/// Returns the peer of each outgoing connection of `host` (`outgoing` = true), or of each incoming
/// connection, for paths and for lanes with the hosts and switches `lanes`. A peer with several
/// connections is several times in the result.
std::vector<std::uint32_t> connections_of(const Peers& peers, std::uint32_t host, bool outgoing,
                                          const std::set<std::uint32_t>& lanes) {
  std::vector<std::pair<std::uint32_t, StageId>> all;
  for (std::uint32_t to = 0; to < peers.hosts.size(); ++to)
    for (const Peers::Arrival& arrival : peers.hosts[to].arrivals)
      if ((outgoing ? arrival.from_host : to) == host)
        all.emplace_back(outgoing ? to : arrival.from_host,
                         peers.shares_connections ? no_stage : arrival.stage);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<std::uint32_t> hosts;
  for (const auto& [other, stage] : all) hosts.push_back(other);
  const std::size_t made = outgoing ? std::min(lanes.size(), lane_connections_most) : lanes.size();
  hosts.insert(hosts.end(), lanes.begin(), std::next(lanes.begin(), std::ptrdiff_t(made)));
  std::sort(hosts.begin(), hosts.end());
  return hosts;
}

bool share_memory(const Peers& peers, std::uint32_t host, std::uint32_t other) {
  return peers.shared_memory && host != other &&
         are_of_one_machine(peers.hosts[host].address, peers.hosts[other].address);
}

const Maker& maker_for(const std::string& address) {
  const auto parts = base::parse_address(address);
  ENSURE(parts.has_value());
  const auto* const found = std::find_if(makers.begin(), makers.end(), [&](const Maker& maker) {
    return maker.word == parts->transport->word;
  });
  ENSURE(found != makers.end());
  return *found;
}

/// Returns whether any other host may share memory with `host`.
bool has_neighbours(const Peers& peers, std::uint32_t host) {
  for (std::uint32_t other = 0; other < peers.hosts.size(); ++other)
    if (share_memory(peers, host, other)) return true;
  return false;
}

/// Returns a lower bound for the number of descriptors that `host` still has to open for its paths,
/// and for its lanes with the hosts and switches `lanes`.
std::uint64_t descriptors_needed(const Peers& peers, std::uint32_t host,
                                 const std::set<std::uint32_t>& lanes) {
  const Maker& maker = maker_for(peers.hosts[host].address);
  std::uint64_t needed = maker.descriptors;
  if (peers.keyring != nullptr) needed += descriptors_of_encryption;
  if (has_neighbours(peers, host)) needed += descriptors_of_memory;
  if (protected_peers(peers, host)) needed += maker.descriptors;
  for (const bool outgoing : {false, true}) {
    std::uint32_t last = host;  // last counted peer; one link carries all connections to a peer
    for (const std::uint32_t other : connections_of(peers, host, outgoing, lanes)) {
      if (!share_memory(peers, host, other))
        needed += outgoing ? descriptors_of_connection : 1;
      else if (std::exchange(last, other) != other)
        needed += descriptors_of_link;
    }
  }
  return needed;
}

}  // namespace

void check_descriptors(const Peers& peers, std::uint32_t host, std::uint64_t open,
                       const std::set<std::uint32_t>& lanes) {
  const std::uint64_t most = runtime::raise_descriptor_limit();
  const std::uint64_t needed = open + descriptors_needed(peers, host, lanes);
  if (needed <= most) return;
  throw TravelError(
      peers.hosts[host].name, "", "",
      fmt::format("it needs at least {} open descriptors for its connections, but may "
                  "have {}; raise the limit (ulimit -Hn), or write `connection: "
                  "shared` in the config's `network`, which takes fewer",
                  needed, most));
}

std::unique_ptr<Transport> make_transport(runtime::Runtime& runtime,
                                          std::shared_ptr<const Peers> peers, std::uint32_t host) {
  const Maker& maker = maker_for(peers->hosts[host].address);
  return maker.make(runtime, std::move(peers), host);
}

std::unique_ptr<Transport> make_transports(runtime::Runtime& runtime,
                                           std::shared_ptr<const Peers> peers, std::uint32_t host,
                                           const std::set<std::uint32_t>& lanes) {
  check_descriptors(*peers, host, runtime::open_descriptors(), lanes);
  const auto over_protected_links = protected_peers(*peers, host);
  auto sockets = make_transport(runtime, peers, host);
  const bool shares_memory = has_neighbours(*peers, host);
  if (!shares_memory && !over_protected_links) return sockets;
  std::shared_ptr<Detour> detour;
  std::vector<std::unique_ptr<Transport>> all;
  if (shares_memory) {
    detour = std::make_shared<Detour>(*sockets);
    all.push_back(make_shared_memory_transport(runtime, peers, host, detour));
  }
  if (over_protected_links) all.push_back(make_transport(runtime, over_protected_links, host));
  all.push_back(std::move(sockets));
  return std::make_unique<Transports>(std::move(all), detour);
}

}  // namespace paths
