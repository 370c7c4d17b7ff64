// SPDX-License-Identifier: Apache-2.0
// tests/paths/transport_zmq_real.cpp — addresses of real sockets. The requirements on all
// transports are in tests/paths/transport_real.cpp.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/errors.hpp"
#include "runtime/processes/machine.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;

}  // namespace

TEST_CASE("transport_zmq: an address in use is refused by name") {
  TransportScene scene(GENERATE("tcp", "ipc"), 1);
  Mailbox inbox;
  on_steady_clock([&](runtime::Runtime& runtime) {
    auto first = scene.transport(runtime, 0);
    auto second = scene.transport(runtime, 0);
    first->start(inbox);
    try {
      second->start(inbox);
      FAIL("it must not listen");
    } catch (const TravelError& error) {
      CHECK(error.host() == "alpha-0");
      const std::string& address = scene.peers()->hosts[0].address;
      CHECK_THAT(error.reason(),
                 Catch::StartsWith(fmt::format("cannot listen on {}: the address is in use; is "
                                               "another run still going on? If so, ",
                                               address)));
      const bool is_tcp = address.starts_with("tcp");
      CHECK_THAT(error.reason(), Catch::Contains(is_tcp ? "--port" : "`directory`"));
      CHECK_THAT(error.reason(), Catch::Contains(is_tcp ? "--transport ipc" : "`network`"));
    }
  });
}

TEST_CASE("transport_zmq: a file left behind by a killed run is no obstacle") {
  TransportScene scene("ipc", 1);
  {
    PeerProcess peer(scene, 0);
    const std::string file = scene.peers()->hosts[0].address.substr(6);
    for (int i = 0; i < 200 && access(file.c_str(), F_OK) != 0; ++i) pause(10ms);
    REQUIRE(access(file.c_str(), F_OK) == 0);
  }
  Mailbox inbox;
  runtime::Runtime runtime;
  runtime.run([&] { scene.transport(runtime, 0)->start(inbox); });
}

TEST_CASE(
    "transport_zmq: a connection without free descriptors is lost immediately and names its host") {
  TransportScene scene(GENERATE("tcp", "ipc"), 2);
  Mailbox inbox;
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto transport = scene.transport(runtime, 0);
    transport->start(inbox);
    rlimit limit{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlimit low{runtime::open_descriptors() + 64, limit.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
    std::vector<base::Descriptor> held;
    while (runtime::can_open_descriptors(4)) held.emplace_back(dup(STDOUT_FILENO));
    const ConnectionId connection = transport->connect(1);
    CHECK(inbox.wait_for_loss(runtime, 5s));
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    REQUIRE(inbox.lost().contains(connection));
    CHECK_THAT(inbox.lost().at(connection),
               Catch::StartsWith("host alpha-0 cannot connect to it at ") &&
                   Catch::EndsWith("Too many open files"));
  });
}

TEST_CASE("transport_zmq: addresses on which no host can listen are refused") {
  for (const std::string address :
       {"tcp://203.0.113.1:7700", "ipc:///proc/no/such/folder/socket"}) {
    auto peers = std::make_shared<Peers>(*TransportScene("tcp", 1).peers());
    peers->hosts[0].address = address;
    Mailbox inbox;
    on_steady_clock([&](runtime::Runtime& runtime) {
      const auto transport = make_transport(runtime, peers, 0);
      CHECK_THROWS_AS(transport->start(inbox), TravelError);
    });
  }
}
