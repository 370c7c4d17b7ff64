// SPDX-License-Identifier: Apache-2.0
// paths/wire/transports.cpp — which transport a frame takes, and whose connection is which.
#include "paths/wire/transports.hpp"

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "paths/wire/transport_shared_memory.hpp"
#include "paths/wire/transport_zmq.hpp"

namespace paths {

class Transports::Entrance final : public Receiver {
 public:
  Entrance(const Transports& transports, std::size_t index, Receiver& receiver)
      : transports_(transports), index_(index), receiver_(receiver) {}

  void deliver(ConnectionId connection, Frame&& frame) override {
    receiver_.deliver(transports_.ours(connection, index_), std::move(frame));
  }
  void deliver_short(ConnectionId connection, ShortFrame&& frame) override {
    receiver_.deliver_short(transports_.ours(connection, index_), std::move(frame));
  }
  std::shared_ptr<ShortEnd> short_end(ConnectionId connection) override {
    return receiver_.short_end(transports_.ours(connection, index_));
  }
  void room_made(ConnectionId connection) override {
    receiver_.room_made(transports_.ours(connection, index_));
  }
  void connection_lost(ConnectionId connection, const std::string& reason) override {
    receiver_.connection_lost(transports_.ours(connection, index_), reason);
  }
  void turned_away(const std::string& source, const std::string& reason) override {
    receiver_.turned_away(source, reason);
  }

 private:
  const Transports& transports_;
  std::size_t index_;
  Receiver& receiver_;
};

Transports::Transports(std::vector<std::unique_ptr<Transport>> transports)
    : transports_(std::move(transports)) {
  ENSURE(!transports_.empty());
}

Transports::~Transports() = default;

bool Transports::reaches(std::uint32_t host) const {
  return std::any_of(transports_.begin(), transports_.end(),
                     [host](const auto& transport) { return transport->reaches(host); });
}

void Transports::start(Receiver& receiver) {
  for (std::size_t i = 0; i < transports_.size(); ++i)
    entrances_.push_back(std::make_unique<Entrance>(*this, i, receiver));
  for (std::size_t i = 0; i < transports_.size(); ++i) transports_[i]->start(*entrances_[i]);
}

ConnectionId Transports::connect(std::uint32_t host, std::uint32_t path) {
  const auto first = std::find_if(transports_.begin(), transports_.end(),
                                  [host](const auto& one) { return one->reaches(host); });
  ENSURE(first != transports_.end());
  return ours((*first)->connect(host, path), static_cast<std::size_t>(first - transports_.begin()));
}

void Transports::send(ConnectionId connection, Frame&& frame) {
  of(connection).send(theirs(connection), std::move(frame));
}

bool Transports::tells_of_room(std::uint32_t host) const {
  const auto first = std::find_if(transports_.begin(), transports_.end(),
                                  [host](const auto& one) { return one->reaches(host); });
  return first != transports_.end() && (*first)->tells_of_room(host);
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

void Transports::settle() {
  for (auto& transport : transports_) transport->settle();
}

void Transports::stop() {
  for (auto& transport : transports_) transport->stop();
}

std::unique_ptr<Transport> make_transports(runtime::Runtime& runtime,
                                           std::shared_ptr<const Peers> peers, std::uint32_t host) {
  auto memory = make_shared_memory_transport(runtime, peers, host);
  bool has_neighbours = false;
  for (std::uint32_t other = 0; other < peers->hosts.size(); ++other)
    has_neighbours = has_neighbours || (other != host && memory->reaches(other));
  auto sockets = make_zmq_transport(runtime, std::move(peers), host);
  if (!has_neighbours) return sockets;
  std::vector<std::unique_ptr<Transport>> both;
  both.push_back(std::move(memory));
  both.push_back(std::move(sockets));
  return std::make_unique<Transports>(std::move(both));
}

}  // namespace paths
