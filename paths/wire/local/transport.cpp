// SPDX-License-Identifier: Apache-2.0
// paths/wire/local/transport.cpp — direct delivery of frames to other hosts of the process
#include "paths/wire/local/transport.hpp"

#include "base/errors.hpp"

namespace paths {

class LocalNetwork::LocalTransport final : public Transport {
 public:
  LocalTransport(LocalNetwork& network, std::uint32_t host) : network_(network), host_(host) {}
  ~LocalTransport() override { stop(); }

  void start(Receiver& receiver) override {
    // Delivers all frames that wait for this host, including frames that begin to wait during the
    // delivery. Senders may deliver directly only after this. Otherwise a request could overtake
    // the hello of its connection.
    while (true) {
      std::vector<std::pair<ConnectionId, Frame>> waiting;
      {
        runtime::Lock lock(network_.mutex_);
        ENSURE(network_.receivers_[host_] == nullptr);
        waiting.swap(network_.waiting_[host_]);
        if (waiting.empty()) network_.receivers_[host_] = &receiver;
      }
      if (waiting.empty()) return;
      for (auto& [connection, frame] : waiting) receiver.deliver(connection, std::move(frame));
    }
  }

  ConnectionId connect(std::uint32_t host) override {
    runtime::Lock lock(network_.mutex_);
    network_.ends_.push_back({{host_, host}});
    return 2 * (network_.ends_.size() - 1);
  }

  void send(ConnectionId connection, Frame&& frame) override {
    hand_over(
        connection,
        [&](std::uint32_t to) {
          if (!stopped_) network_.waiting_[to].emplace_back(connection ^ 1, std::move(frame));
        },
        [&](Receiver& receiver) { receiver.deliver(connection ^ 1, std::move(frame)); });
  }
  std::shared_ptr<ShortWay> short_way(ConnectionId connection) override {
    return network_.carries_short_ ? std::make_shared<Way>(*this, connection) : nullptr;
  }

  /// Drops a connection. The peer gets connection_lost() when it sends its next frame.
  void drop(ConnectionId connection) override {
    runtime::Lock lock(network_.mutex_);
    network_.ends_[connection / 2].dropped[connection & 1] = true;
  }
  void stop() override {
    runtime::Lock lock(network_.mutex_);
    network_.receivers_[host_] = nullptr;
    network_.ended_[host_] = true;
    stopped_ = true;
  }

 private:
  /// Sends short frames on a connection to a peer that has replied. No frame needs to wait, because
  /// a peer that has replied has started.
  class Way final : public ShortWay {
   public:
    Way(LocalTransport& transport, ConnectionId connection)
        : transport_(transport), connection_(connection) {}
    void send(const ShortFrame& frame) override {
      transport_.hand_over(
          connection_, [](std::uint32_t) {},
          [&](Receiver& receiver) { receiver.deliver_short(connection_ ^ 1, ShortFrame(frame)); });
    }

   private:
    LocalTransport& transport_;
    const ConnectionId connection_;
  };

  template <class Wait, class Deliver>
  void hand_over(ConnectionId connection, Wait wait, Deliver deliver) {
    const ConnectionId far_end = connection ^ 1;
    Receiver* receiver = nullptr;
    Receiver* told = nullptr;  // this host's receiver, if it must learn that the peer is gone
    {
      runtime::Lock lock(network_.mutex_);
      const auto& ends = network_.ends_[connection / 2];
      const std::uint32_t to = ends.hosts[far_end & 1];
      const bool is_dropped = ends.dropped[far_end & 1];
      if (!is_dropped) receiver = network_.receivers_[to];
      if (network_.ended_[to] || is_dropped) {
        told = network_.receivers_[host_];
      } else if (receiver == nullptr) {
        wait(to);
      }
    }
    if (receiver != nullptr) deliver(*receiver);
    if (told != nullptr) told->connection_lost(connection, "it has ended");
  }

  LocalNetwork& network_;
  std::uint32_t host_;
  bool stopped_ = false;
};

std::unique_ptr<Transport> LocalNetwork::transport(std::uint32_t host) {
  return std::make_unique<LocalTransport>(*this, host);
}

}  // namespace paths
