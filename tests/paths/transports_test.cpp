// SPDX-License-Identifier: Apache-2.0
// tests/paths/transports_test.cpp — a host with several transports, which reaches each peer over
// one of these transports.
#include "paths/wire/transports.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "paths/host/host.hpp"
#include "tests/support/forwarding_transport.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;

/// Transport that reaches some hosts only.
class Partial final : public ForwardingTransport {
 public:
  Partial(std::unique_ptr<Transport> all, std::set<std::uint32_t> reached)
      : ForwardingTransport(std::move(all)), reached_(std::move(reached)) {}
  bool reaches(std::uint32_t host) const override { return reached_.contains(host); }
  ConnectionId connect(std::uint32_t host) override {
    ++connected;
    return ForwardingTransport::connect(host);
  }

  int connected = 0;

 private:
  std::set<std::uint32_t> reached_;
};

}  // namespace

TEST_CASE("transports: the first transport that reaches a peer carries frames in both directions") {
  LocalNetwork near(3), far(3);
  Mailbox inboxes[3];
  std::unique_ptr<Transports> hosts[3];
  Partial* nearest[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    auto first = std::make_unique<Partial>(near.transport(i), std::set<std::uint32_t>{0, 1});
    nearest[i] = first.get();
    std::vector<std::unique_ptr<Transport>> both;
    both.push_back(std::move(first));
    both.push_back(far.transport(i));
    hosts[i] = std::make_unique<Transports>(std::move(both));
    inboxes[i].echo = i == 0 ? nullptr : hosts[i].get();
    hosts[i]->start(inboxes[i]);
  }
  const ConnectionId to_1 = hosts[0]->connect(1), to_2 = hosts[0]->connect(2);
  CHECK(to_1 != to_2);
  CHECK(nearest[0]->connected == 1);
  for (std::uint64_t i = 0; i < 10; ++i) {
    hosts[0]->send(to_1, numbered(i));
    hosts[0]->send(to_2, numbered(i));
  }
  CHECK(inboxes[1].frames().size() == 10);
  CHECK(inboxes[2].frames().size() == 10);
  CHECK(inboxes[0].frames().size() == 20);
  CHECK(in_order(inboxes[0].frames(), to_1));
  CHECK(in_order(inboxes[0].frames(), to_2));
  hosts[2]->stop();
  hosts[0]->send(to_2, numbered(10));
  CHECK(inboxes[0].lost().count(to_2) == 1);
  CHECK(inboxes[0].lost().count(to_1) == 0);
}
