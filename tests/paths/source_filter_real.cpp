// SPDX-License-Identifier: Apache-2.0
// tests/paths/source_filter_real.cpp — connections from addresses that no host of the config has.
#include <fmt/format.h>
#include <poll.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "paths/host/peers_of.hpp"
#include "paths/one_machine.hpp"
#include "paths/plan/print_plan.hpp"
#include "paths/wire/source_filter.hpp"
#include "tests/support/far_network.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;
using Catch::Contains;

Peers peers_at(const std::vector<std::string>& addresses) {
  Peers peers;
  for (const std::string& address : addresses)
    peers.hosts.push_back({fmt::format("a-{}", peers.hosts.size()), address, 0});
  return peers;
}

bool are_fixed(const std::vector<std::string>& addresses) {
  return have_fixed_sources(peers_at(addresses));
}

/// TCP connection from a local address of the caller's choice.
class ConnectionFrom {
 public:
  ConnectionFrom(const std::string& source, const std::string& to, int port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in own = place(source, 0), other = place(to, port);
    if (bind(socket_, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0)
      throw std::runtime_error("cannot use the address " + source);
    // Retries for 20 s, because the host at the address may still be starting.
    int attempts = 0;
    while (::connect(socket_, reinterpret_cast<const sockaddr*>(&other), sizeof other) != 0) {
      if (++attempts == 1000) throw std::runtime_error("cannot connect to " + to);
      poll(nullptr, 0, 20);
    }
  }
  ~ConnectionFrom() { close(socket_); }
  ConnectionFrom(const ConnectionFrom&) = delete;
  ConnectionFrom& operator=(const ConnectionFrom&) = delete;

  void send(const std::string& bytes) const {
    ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Sends a greeting, and reads that of the other end and its READY. Returns false if the other
  /// end closes the connection before.
  bool shake_hands() const {
    send(zmtp_greeting());
    constexpr std::size_t greeting_bytes = 64;
    const std::string start = read(greeting_bytes + 2);  // and the start of READY, with its length
    return start.size() == greeting_bytes + 2 &&
           !read(static_cast<unsigned char>(start.back())).empty();
  }
  /// Returns whether the other end closes the connection before it has sent nothing for `span`.
  bool ends_within(std::chrono::milliseconds span) const {
    pollfd one{socket_, POLLIN, 0};
    char bytes[512];
    while (poll(&one, 1, static_cast<int>(span.count())) == 1)
      if (recv(socket_, bytes, sizeof bytes, 0) <= 0) return true;
    return false;
  }

 private:
  std::string read(std::size_t bytes) const {
    std::string text(bytes, '\0');
    const ssize_t size = recv(socket_, text.data(), bytes, MSG_WAITALL);
    return text.substr(0, size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  static sockaddr_in place(const std::string& address, int port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, address.c_str(), &at.sin_addr);
    return at;
  }
  int socket_;
};

/// Two hosts on loopback addresses, whose sources count as fixed.
std::shared_ptr<Peers> filtering_peers(int port, bool is_encrypted) {
  auto peers = std::make_shared<Peers>(peers_at(
      {fmt::format("tcp://127.0.0.1:{}", port), fmt::format("tcp://127.0.0.2:{}", port + 1)}));
  peers->has_fixed_sources = true;
  if (is_encrypted) peers->keyring = std::make_shared<const Keyring>(*new_run_key());
  return peers;
}

/// A run of two hosts, a-0 at the near end of `network` and a-1 at its far end.
class FarRun {
 public:
  explicit FarRun(const FarNetwork& network, const std::string& setting = "", bool is_ipv6 = false)
      : network_(network), port_(free_ports(2)) {
    const std::string near = is_ipv6 ? "[" + FarNetwork::near_ipv6() + "]" : FarNetwork::near();
    const std::string far = is_ipv6 ? "[" + FarNetwork::far_ipv6() + "]" : FarNetwork::far();
    plan_ = std::make_shared<const Plan>(
        read_config(fmt::format("deadline: 6s\nnetwork: {{security: run{}}}\n"
                                "clusters: {{a: {{hosts: 2, threads: 1, address: "
                                "{{a-0: \"tcp://{}:{}\", a-1: \"tcp://{}:{}\"}}}}}}\n"
                                "collectives: {{sum: {{operation: sum, template: f64}}}}\n",
                                setting, near, port_, far, port_ + 1)));
    key_ = new_run_key();
  }
  int port() const { return port_; }
  /// Starts a host, which adds 1 to a sum and prints the sum.
  HostProcess start(std::uint32_t host) const {
    return HostProcess([this, host](const Say& say) {
      if (host == 1) network_.enter();
      const auto failures =
          run_plan(plan_, wrappers::all_kinds(),
                   {.is_one_host = true, .host = host, .run_key = key_}, [&](Thread& thread) {
                     const Result sum = thread.path("sum").move_value(1.0);
                     say(fmt::format("sum {}", sum.payload.read<double>()));
                   });
      for (const std::string& failure : failures) say("failed: " + failure);
      return failures.empty() ? 0 : 1;
    });
  }

 private:
  const FarNetwork& network_;
  int port_;
  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<const RunKey> key_;
};

void check_sum_of_two(HostProcess& host) {
  check_ends_well(host);
  CHECK(host.lines("sum 2").size() == 1);
}

}  // namespace

TEST_CASE("source filter: addresses are fixed if all are numbers of one kind beyond loopback") {
  CHECK(are_fixed({"tcp://10.0.0.1:7700", "tcp://10.0.0.1:7701", "tcp://192.168.1.2:7700"}));
  CHECK(are_fixed({"tcp://[fd00::1]:7700", "tcp://[fe80::2%eth0]:7700"}));
  CHECK(are_fixed({"tcp://[::ffff:10.0.0.1]:7700", "tcp://10.0.0.2:7700"}));
  CHECK(are_fixed({"tcp://10.0.0.1:7700", ""}));  // a switch that is not emulated
  CHECK_FALSE(are_fixed({"tcp://10.0.0.1:7700", "tcp://node-2:7700"}));
  CHECK_FALSE(are_fixed({"tcp://10.0.0.1:7700", "tcp://[fd00::2]:7700"}));
  CHECK_FALSE(are_fixed({"tcp://10.0.0.1:7700", "tcp://127.0.0.1:7700"}));
  CHECK_FALSE(are_fixed({"tcp://127.0.0.1:7700", "tcp://127.0.0.2:7700"}));
  CHECK_FALSE(are_fixed({"tcp://[::1]:7700", "tcp://[fd00::2]:7700"}));
  CHECK_FALSE(are_fixed({"ipc:///tmp/a", "ipc:///tmp/b"}));
}

TEST_CASE("source filter: it accepts addresses of other hosts in every form") {
  Peers peers = peers_at({"tcp://10.0.0.1:7700", "tcp://10.0.0.2:7700", "tcp://10.0.0.3:7700"});
  CHECK(SourceFilter(peers, 0).accepts("203.0.113.9"));
  peers.has_fixed_sources = true;
  const SourceFilter filter(peers, 0);
  for (const std::string source : {"10.0.0.2", "10.0.0.3", "::ffff:10.0.0.2", ""})
    CHECK(filter.accepts(source));
  for (const std::string source :
       {"10.0.0.1", "10.0.0.4", "203.0.113.9", "::ffff:10.0.0.4", "fd00::1", "b", "127.0.0.1"})
    CHECK_FALSE(filter.accepts(source));
  Peers newer = peers_at({"tcp://[fe80::1%eth0]:7700", "tcp://[fe80::2%eth0]:7700"});
  newer.has_fixed_sources = true;
  CHECK(SourceFilter(newer, 0).accepts("fe80::2%wlan1"));
  CHECK_FALSE(SourceFilter(newer, 0).accepts("fe80::3%eth0"));
}

TEST_CASE("source filter: it accepts each address of this machine if another host is there") {
  Peers peers = peers_at({"tcp://127.0.0.1:7700", "tcp://127.0.0.1:7701"});
  peers.has_fixed_sources = true;
  const std::set<std::string> addresses = addresses_of_this_machine();
  for (const std::string& source : addresses) CHECK(SourceFilter(peers, 0).accepts(source));
  peers.hosts.pop_back();
  for (const std::string& source : addresses) CHECK_FALSE(SourceFilter(peers, 0).accepts(source));
}

TEST_CASE("source filter: `behind: nat` and names keep hosts from filtering") {
  const auto fixes = [](const std::string& network, const std::string& address) {
    const Plan plan =
        read_config(fmt::format("network: {{security: plain{}}}\n"
                                "clusters: {{a: {{hosts: 1, threads: 1, address: \"{}\"}}}}\n",
                                network, address));
    return peers_of(plan)->has_fixed_sources;
  };
  CHECK(fixes("", "tcp://10.0.0.1:7700"));
  CHECK_FALSE(fixes(", behind: nat", "tcp://10.0.0.1:7700"));
  CHECK_FALSE(fixes("", "tcp://node-1:7700"));
  const std::string cluster = "clusters: {a: {hosts: 1, threads: 1}}\n";
  const Plan plan = read_config("network: {behind: nat}\n" + cluster);
  CHECK(plan.is_behind_nat);
  CHECK(read_config(print_plan(plan, wrappers::all_kinds())).is_behind_nat);
  CHECK_THROWS_WITH(read_config("network: {behind: natt}\n" + cluster),
                    Contains("1:19: behind: expected nat, found 'natt'; did you mean 'nat'?"));
}

TEST_CASE("source filter: a host closes connections from other addresses and names them") {
  const bool is_encrypted = GENERATE(false, true);
  INFO(is_encrypted);
  const int port = free_ports(2);
  const auto peers = filtering_peers(port, is_encrypted);
  on_steady_clock([&](runtime::Runtime& runtime) {
    Mailbox left, right;
    const auto a = make_transport(runtime, peers, 0), b = make_transport(runtime, peers, 1);
    a->start(left);
    b->start(right);
    const ConnectionFrom stranger("127.0.0.3", "127.0.0.1", port);
    const ConnectionFrom host("127.0.0.2", "127.0.0.1", port);
    const ConnectionFrom local("127.0.0.1", "127.0.0.1", port);
    stranger.send(is_encrypted ? zmtp_curve_greeting() : zmtp_greeting());
    REQUIRE(left.wait(runtime, 20s, [&] { return !left.turned_away().empty(); }));
    CHECK(stranger.ends_within(20s));
    CHECK_THAT(left.turned_away().front(), Contains("behind: nat"));
    CHECK_FALSE(host.ends_within(300ms));
    CHECK_FALSE(local.ends_within(1ms));
    CHECK(left.turned_away().size() == 1);
    b->send(b->connect(0), numbered(0));
    CHECK(left.wait_for_frames(runtime, 1));
    a->stop();
    b->stop();
  });
}

TEST_CASE("source filter: a host delivers no frame from another address however early it is") {
  const int port = free_ports(2);
  const auto peers = filtering_peers(port, false);
  on_steady_clock([&](runtime::Runtime& runtime) {
    Mailbox left;
    const auto a = make_transport(runtime, peers, 0);
    a->start(left);
    const std::string hello = raw_hello({.text = "a-1", .from_host = 1}, 1, 2);
    std::vector<std::unique_ptr<ConnectionFrom>> strangers;
    for (std::size_t i = 0; i < 200; ++i) {
      strangers.push_back(std::make_unique<ConnectionFrom>("127.0.0.3", "127.0.0.1", port));
      if (strangers.back()->shake_hands())
        strangers.back()->send(zmtp_part(hello, true) + zmtp_part("", false));
    }
    REQUIRE(left.wait(runtime, 20s, [&] { return left.turned_away().size() == 200; }));
    CHECK_THAT(left.turned_away().front(), Contains("behind: nat"));
    for (const auto& stranger : strangers) CHECK(stranger->ends_within(20s));
    CHECK(left.frames().empty());
    a->stop();
  });
}

TEST_CASE("source filter: a host of several addresses connects from that of the config") {
  if (!FarNetwork::is_available()) return skip("needs root, to make a network namespace");
  const bool is_ipv6 = GENERATE(false, true);
  INFO(is_ipv6);
  if (is_ipv6 && !FarNetwork::has_ipv6()) return skip("needs IPv6");
  const FarNetwork network;
  is_ipv6 ? network.add_ipv6() : network.connect_from_second();
  const FarRun run(network, "", is_ipv6);
  HostProcess near = run.start(0), far = run.start(1);
  check_sum_of_two(near);
  check_sum_of_two(far);
  CHECK_THAT(near.text(), !Contains("turned away"));
}

TEST_CASE("source filter: hosts at addresses of a local route accept each other") {
  if (!FarNetwork::is_available()) return skip("needs root, to make a network namespace");
  const FarNetwork network;
  HostProcess filter([&network](const Say& say) {
    network.enter();
    run_shell("ip route add local 10.99.0.0/24 dev lo");
    Peers peers = peers_at({"tcp://10.99.0.5:7700", "tcp://10.99.0.6:7700"});
    peers.has_fixed_sources = true;
    for (const std::string& source : addresses_of_this_machine())
      if (!SourceFilter(peers, 0).accepts(source)) say("refuses " + source);
    peers.hosts[1].address = "tcp://10.98.0.6:7700";
    if (!SourceFilter(peers, 0).accepts("127.0.0.1")) say("refuses its machine");
    return 0;
  });
  CHECK(filter.end() == 0);
  CHECK(filter.text() == "refuses its machine\n");
}

TEST_CASE("source filter: a process at the second address of a host is refused before its key") {
  if (!FarNetwork::is_available()) return skip("needs root, to make a network namespace");
  const FarNetwork network;
  network.connect_from_second();
  const auto stranger_of = [&network](int port) {
    return HostProcess([&network, port](const Say& say) {
      network.enter();
      const ConnectionFrom stranger(FarNetwork::second(), FarNetwork::near(), port);
      stranger.send(zmtp_curve_greeting());
      say(stranger.ends_within(2s) ? "closed" : "open");
      return 0;
    });
  };
  for (const bool is_behind_nat : {false, true}) {
    INFO(is_behind_nat);
    const FarRun run(network, is_behind_nat ? ", behind: nat" : "");
    HostProcess near = run.start(0);
    HostProcess stranger = stranger_of(run.port());
    CHECK(stranger.end() == 0);
    CHECK(stranger.lines(is_behind_nat ? "open" : "closed").size() == 1);
    HostProcess far = run.start(1);
    check_sum_of_two(near);
    check_sum_of_two(far);
    const std::string refusal = FarNetwork::second() + ": turned away: no host of the config";
    CHECK((near.text().find(refusal) == std::string::npos) == is_behind_nat);
  }
}
