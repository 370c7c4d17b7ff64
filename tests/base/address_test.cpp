// SPDX-License-Identifier: Apache-2.0
// tests/base/address_test.cpp — division of addresses into their parts.
#include "base/address.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace {

using namespace base;

}  // namespace

TEST_CASE("address: the example of each transport is an address of that transport") {
  for (const TransportKind& kind : transport_kinds) {
    INFO(kind.word);
    CHECK(find_transport_kind(kind.word) == &kind);
    const auto parts = parse_address(kind.example);
    REQUIRE(parts);
    CHECK(parts->transport == &kind);
    CHECK(parts->text() == kind.example);
    CHECK((parts->port > 0) == kind.is_network);
  }
}

TEST_CASE("address: an interface ends at the last colon") {
  const auto parts = parse_address("tcp://[fe80::1%eth0]:7700");
  REQUIRE(parts);
  CHECK(parts->place == "[fe80::1%eth0]");
  CHECK(parts->port == 7700);
}

TEST_CASE("address: a port above the highest is kept for the caller's message") {
  CHECK(parse_address("tcp://node-1:70000")->port == 70000);
}

TEST_CASE("address: a text of another form is no address") {
  for (const std::string text :
       {"", "node-1", "node-1:7700", "tcp://", "tcp://node-1", "tcp://:7700",
        "tcp://node-1:", "tcp://node-1:0", "tcp://node-1:-1", "tcp://node 1:7700",
        "tcp:/node-1:7700", "ipc://", "ipc:///tmp/", "udp://node-1:7700", "tcp://::1:7700",
        "tcp://fe80::1:7700", "TCP://node-1:7700", "tcp://node-1:99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(parse_address(text));
  }
}
