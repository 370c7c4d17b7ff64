// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/transport.cpp — ZeroMQ transport that calls Sockets
#include "paths/wire/zmq/transport.hpp"

#include <utility>

#include "paths/wire/zmq/sockets.hpp"

namespace paths {

namespace {

class ZmqTransport final : public Transport {
 public:
  ZmqTransport(std::shared_ptr<const Peers> peers, std::shared_ptr<Sockets> sockets)
      : peers_(std::move(peers)), sockets_(std::move(sockets)) {}
  ~ZmqTransport() override {
    try {
      sockets_->stop();
    } catch (const runtime::Stop&) {
      // No action is needed, because the services' thread closes the sockets later.
    }
  }
  bool reaches(std::uint32_t host) const override { return !peers_->hosts[host].address.empty(); }
  void start(Receiver& receiver) override { sockets_->start(receiver); }
  ConnectionId connect(std::uint32_t host) override { return sockets_->connect(host); }
  void send(ConnectionId connection, Frame&& frame) override {
    sockets_->send(connection, std::move(frame));
  }
  void drop(ConnectionId connection) override { sockets_->drop(connection); }
  std::string source(ConnectionId connection) override { return sockets_->source(connection); }
  PeerContact contact(ConnectionId connection) override { return sockets_->contact(connection); }
  void stop() override { sockets_->stop(); }

 private:
  const std::shared_ptr<const Peers> peers_;
  const std::shared_ptr<Sockets> sockets_;
};

}  // namespace

std::unique_ptr<Transport> make_zmq_transport(runtime::Runtime& runtime,
                                              std::shared_ptr<const Peers> peers,
                                              std::uint32_t host) {
  return std::make_unique<ZmqTransport>(peers, std::make_shared<Sockets>(runtime, peers, host));
}

}  // namespace paths
