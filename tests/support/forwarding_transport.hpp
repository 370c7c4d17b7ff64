// SPDX-License-Identifier: Apache-2.0
// tests/support/forwarding_transport.hpp — base of transports that change parts of another
// transport.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "paths/wire/transport.hpp"

namespace test_support {

/// Forwards every call to another transport.
class ForwardingTransport : public paths::Transport {
 public:
  explicit ForwardingTransport(std::unique_ptr<paths::Transport> inner)
      : inner_(std::move(inner)) {}
  bool reaches(std::uint32_t host) const override { return inner_->reaches(host); }
  void start(paths::Receiver& receiver) override { inner_->start(receiver); }
  paths::ConnectionId connect(std::uint32_t host) override { return inner_->connect(host); }
  void send(paths::ConnectionId connection, paths::Frame&& frame) override {
    inner_->send(connection, std::move(frame));
  }
  std::shared_ptr<paths::ShortWay> short_way(paths::ConnectionId connection) override {
    return inner_->short_way(connection);
  }
  void drop(paths::ConnectionId connection) override { inner_->drop(connection); }
  std::string source(paths::ConnectionId connection) override { return inner_->source(connection); }
  paths::PeerContact contact(paths::ConnectionId connection) override {
    return inner_->contact(connection);
  }
  void settle() override { inner_->settle(); }
  void stop() override { inner_->stop(); }

 protected:
  paths::Transport& inner() { return *inner_; }

 private:
  const std::unique_ptr<paths::Transport> inner_;
};

/// Receiver that discards everything.
class NoReceiver final : public paths::Receiver {
 public:
  void deliver(paths::ConnectionId, paths::Frame&&) override {}
  void connection_lost(paths::ConnectionId, const std::string&) override {}
};

}  // namespace test_support
