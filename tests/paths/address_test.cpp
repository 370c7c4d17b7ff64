// SPDX-License-Identifier: Apache-2.0
// tests/paths/address_test.cpp — host names that mean different machines on different hosts, such
// as a loopback name.
#include "paths/wire/address.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "paths/one_machine.hpp"

namespace {

/// Resolves names as /etc/hosts of Debian does on the machine node-a. There, the machine's own name
/// is a loopback address.
std::string debian(const std::string& address) {
  const std::pair<const char*, const char*> hosts[] = {{"tcp://node-a:", "tcp://127.0.1.1:"},
                                                       {"tcp://alias-of-a:", "tcp://127.0.1.1:"},
                                                       {"tcp://node-b:", "tcp://198.51.100.7:"}};
  for (const auto& [name, digits] : hosts)
    if (address.starts_with(name)) return digits + address.substr(std::string(name).size());
  return address;
}

std::string why_unreachable(const std::string& address, const std::vector<std::string>& others) {
  return paths::unreachable_from_others(address, others, debian);
}

}  // namespace

TEST_CASE("address: a name that means loopback is refused if another host is on another machine") {
  for (const char* other : {"tcp://node-b:7712", "tcp://198.51.100.7:7712", "tcp://no-such:7712"}) {
    const std::string why =
        why_unreachable("tcp://node-a:7711", {"tcp://node-a:7711", "tcp://127.0.0.1:1", other});
    INFO(why);
    for (const char* part : {"node-a is 127.0.1.1", other, "/etc/hosts"})
      CHECK_THAT(why, Catch::Contains(part));
  }
}

TEST_CASE("address: a name that means loopback is accepted if all hosts are on this machine") {
  for (const char* other : {"tcp://node-a:7712", "tcp://alias-of-a:7712", "tcp://localhost:7712",
                            "tcp://127.0.0.1:7712", "tcp://[::1]:7712", "ipc://x", "ipc:///x", ""})
    CHECK(why_unreachable("tcp://node-a:7711", {"tcp://node-a:7711", other}) == "");
}

TEST_CASE("address: loopback in digits and other addresses are accepted as written") {
  for (const char* address :
       {"tcp://127.0.0.1:7700", "tcp://127.0.1.1:7700", "tcp://localhost:7700", "tcp://[::1]:7700",
        "tcp://*:7700", "ipc://x", "ipc:///tmp/x", "tcp://198.51.100.1:7700", "tcp://node-b:7700",
        "tcp://no-such:7700"})
    CHECK(why_unreachable(address, {address, "tcp://198.51.100.7:7700"}) == "");
}

TEST_CASE("address: the addresses of this machine include a loopback address") {
  CHECK(paths::addresses_of_this_machine().contains("127.0.0.1"));
}
