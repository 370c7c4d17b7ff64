// SPDX-License-Identifier: Apache-2.0
// tests/paths/multiplexer_test.cpp — clients that share one transport, and the ways in which each
// client stops.
#include "paths/wire/multiplexer.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "paths/wire/local/transport.hpp"
#include "runtime/runtime.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/forwarding_transport.hpp"

namespace {

using namespace paths;

/// A receiver that throws an exception for each frame.
class Throws final : public Receiver {
 public:
  void deliver(ConnectionId, Frame&&) override { throw std::runtime_error("no room"); }
  void deliver_short(ConnectionId, ShortFrame&&) override { throw std::runtime_error("no room"); }
  void connection_lost(ConnectionId, const std::string&) override {
    throw std::runtime_error("no room");
  }
};

/// A receiver that counts short frames (frames of standing calls). `came` counts frames that arrive
/// by deliver_short(). `arrived_by_end` counts frames that arrive by the ShortEnd of their
/// connection.
class Counts final : public Receiver {
 public:
  void deliver(ConnectionId, Frame&&) override {}
  void deliver_short(ConnectionId, ShortFrame&&) override { ++came; }
  std::shared_ptr<ShortEnd> short_end(ConnectionId) override {
    class End final : public ShortEnd {
     public:
      explicit End(int& count) : count_(count) {}
      bool deliver(ShortFrame&&) override { return ++count_ > 0; }

     private:
      int& count_;
    };
    return std::make_shared<End>(arrived_by_end);
  }
  void connection_lost(ConnectionId, const std::string&) override {}
  int came = 0, arrived_by_end = 0;
};

/// Transport that forwards all calls except settle() to another transport. settle() calls a
/// function.
class Settles final : public test_support::ForwardingTransport {
 public:
  Settles(std::unique_ptr<Transport> other, std::function<void()> settle)
      : ForwardingTransport(std::move(other)), settle_(std::move(settle)) {}
  void settle() override { settle_(); }

 private:
  const std::function<void()> settle_;
};

}  // namespace

TEST_CASE("multiplexer: a part that stops lets its transport settle after the last delivery") {
  test_support::on_virtual_clock([](runtime::Runtime&) {
    LocalNetwork network(2, true);
    test_support::NoReceiver others;
    Counts mine;
    std::shared_ptr<ShortEnd> end;
    int settled = 0, came_before = -1;
    const auto settle = [&] {
      ++settled;
      CHECK_FALSE(end->deliver(ShortFrame()));
      came_before = mine.arrived_by_end;
    };
    Multiplexer all(std::make_unique<Settles>(network.transport(0), settle), others);
    all.start();
    const auto share = all.share();
    share->start(mine);
    end = all.short_end(share->connect(1));
    REQUIRE(end->deliver(ShortFrame()));
    share->stop();
    CHECK(settled == 1);
    CHECK(came_before == 1);
    all.stop();
  });
}

TEST_CASE(
    "multiplexer: the receiver of short frames is looked up again after its part has stopped") {
  test_support::on_virtual_clock([](runtime::Runtime&) {
    LocalNetwork network(2, true);
    test_support::NoReceiver nobody;
    Counts others, mine;
    Multiplexer all(network.transport(0), others);
    all.start();
    const auto share = all.share();
    share->start(mine);
    const ConnectionId connection = share->connect(1);
    CHECK(all.short_end(connection ^ 1) == nullptr);
    const auto end = all.short_end(connection);
    REQUIRE(end != nullptr);
    CHECK(end->deliver(ShortFrame()));
    CHECK(mine.arrived_by_end == 1);
    share->stop();
    CHECK_FALSE(end->deliver(ShortFrame()));
    CHECK(mine.arrived_by_end == 1);
    CHECK(all.short_end(connection) == nullptr);
    all.deliver_short(connection, ShortFrame());
    CHECK(others.came == 1);
    all.stop();
  });
}

TEST_CASE("multiplexer: a part takes no more connections from the begin of its end on") {
  test_support::on_virtual_clock([](runtime::Runtime&) {
    LocalNetwork network(2, true);
    test_support::NoReceiver others;
    Counts mine;
    std::function<bool()> takes_connection;
    int settled = 0;
    const auto settle = [&] {
      ++settled;
      CHECK_FALSE(takes_connection());
    };
    Multiplexer all(std::make_unique<Settles>(network.transport(0), settle), others);
    all.start();
    const auto share = all.share();
    share->start(mine);
    takes_connection = [&] { return all.give(17, *share); };
    share->stop();
    CHECK(settled == 1);
    CHECK_FALSE(takes_connection());
    all.stop();
  });
}

TEST_CASE("multiplexer: a part can stop after its receiver threw") {
  test_support::on_virtual_clock([](runtime::Runtime&) {
    LocalNetwork network(2, true);
    test_support::NoReceiver nobody;
    Throws throws;
    Multiplexer all(network.transport(0), nobody);
    all.start();
    const auto share = all.share();
    share->start(throws);
    const ConnectionId connection = share->connect(1);
    const auto peer = network.transport(1);
    peer->start(nobody);
    CHECK_THROWS_AS(peer->send(connection ^ 1, Frame()), std::runtime_error);
    CHECK_THROWS_AS(peer->short_way(connection ^ 1)->send(ShortFrame()), std::runtime_error);
    peer->stop();
    CHECK_THROWS_AS(share->send(connection, Frame()), std::runtime_error);
    share->stop();  // must return, although deliver() has thrown exceptions
    all.stop();
  });
}
