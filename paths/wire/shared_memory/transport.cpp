// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/transport.cpp — shared-memory transport that calls Links
#include "paths/wire/shared_memory/transport.hpp"

#include <utility>

#include "paths/one_machine.hpp"
#include "paths/wire/shared_memory/links.hpp"

namespace paths {
namespace {

class SharedMemoryTransport final : public Transport {
 public:
  SharedMemoryTransport(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers,
                        std::uint32_t host, std::shared_ptr<Detour> detour)
      : peers_(peers),
        host_(host),
        links_(std::make_shared<Links>(runtime, peers, host, std::move(detour))) {}
  ~SharedMemoryTransport() override {
    try {
      links_->stop();
    } catch (const runtime::Stop&) {
      // No action is needed, because the services' thread closes the links later.
    }
  }
  bool reaches(std::uint32_t host) const override {
    return peers_->shared_memory &&
           are_of_one_machine(peers_->hosts[host_].address, peers_->hosts[host].address);
  }
  void start(Receiver& receiver) override { links_->start(receiver); }
  ConnectionId connect(std::uint32_t host) override { return links_->connect(host); }
  void send(ConnectionId connection, Frame&& frame) override { links_->send(connection, frame); }
  bool reports_room(std::uint32_t) const override { return true; }
  bool has_room(ConnectionId connection) override { return links_->has_room(connection); }
  std::shared_ptr<ShortWay> short_way(ConnectionId connection) override {
    return links_->short_way(connection);
  }
  void drop(ConnectionId connection) override { links_->drop(connection); }
  PeerContact contact(ConnectionId connection) override { return links_->contact(connection); }
  void settle() override { links_->settle(); }
  void stop() override { links_->stop(); }

 private:
  std::shared_ptr<const Peers> peers_;
  const std::uint32_t host_;
  std::shared_ptr<Links> links_;
};

}  // namespace

std::unique_ptr<Transport> make_shared_memory_transport(runtime::Runtime& runtime,
                                                        std::shared_ptr<const Peers> peers,
                                                        std::uint32_t host,
                                                        std::shared_ptr<Detour> detour) {
  return std::make_unique<SharedMemoryTransport>(runtime, std::move(peers), host,
                                                 std::move(detour));
}

}  // namespace paths
