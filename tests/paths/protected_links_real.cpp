// SPDX-License-Identifier: Apache-2.0
// tests/paths/protected_links_real.cpp — links whose network protects connections without
// encryption.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "paths/host/host.hpp"
#include "paths/host/peers_of.hpp"
#include "paths/plan/print_plan.hpp"
#include "paths/plan/protected_links.hpp"
#include "paths/run/run_switch.hpp"
#include "paths/wire/protected_peers.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;
using Catch::Contains;

const std::string three_clusters =
    "clusters: {a: {hosts: 1, threads: 1}, b: {hosts: 1, threads: 1}, c: {hosts: 1, threads: 1}}\n"
    "collectives: {sum: {operation: sum, template: f64}}\n";

std::string links(const std::string& a_to_b) {
  return "links:\n  - {between: [a, b]" + a_to_b +
         "}\n  - {between: [a, c]}\n  - {between: [b, c]}\n";
}

/// A host of each of three clusters. The link between the first two clusters is protected.
std::shared_ptr<Peers> peers_with_protected_link(int port) {
  auto peers = std::make_shared<Peers>();
  for (std::uint32_t host = 0; host < 3; ++host) {
    peers->hosts.push_back({fmt::format("{}-0", "abc"[host]),
                            fmt::format("tcp://127.0.0.1:{}", port + static_cast<int>(host)),
                            host});
    if (host < 2)
      peers->hosts[host].protected_address =
          fmt::format("tcp://127.0.0.1:{}", port + 3 + static_cast<int>(host));
  }
  peers->protected_links = {{0, 1}};
  peers->keyring = std::make_shared<const Keyring>(*new_run_key());
  peers->shared_memory = false;
  return peers;
}

}  // namespace

TEST_CASE("protected links: only hosts at their ends have a second port") {
  const Plan plan = read_config("network: {port: 7700}\n" + three_clusters +
                                links(", latency: 1ms, security: network"));
  CHECK(plan.encrypts_between(0, 0));
  CHECK_FALSE(plan.encrypts_between(0, 1));
  CHECK_FALSE(plan.encrypts_between(1, 0));
  CHECK(plan.encrypts_between(1, 2));
  CHECK(protected_addresses(plan) ==
        std::vector<std::string>{"tcp://127.0.0.1:7703", "tcp://127.0.0.1:7704", "", "", "", ""});
  CHECK(read_config(print_plan(plan, wrappers::all_kinds())).digest == plan.digest);
  CHECK(read_config("network: {port: 7700}\n" + three_clusters + links(", latency: 1ms")).digest !=
        plan.digest);
}

TEST_CASE("protected links: if all hosts have one port then the second port is the next") {
  const Plan plan = read_config(
      "network: {security: run}\nclusters: {a: {hosts: 1, threads: 1, address: "
      "\"tcp://10.0.0.1:7700\"}, b: {hosts: 1, threads: 1, address: \"tcp://10.0.0.2:7700\"}}\n"
      "links: {all: {security: network}}\n"
      "collectives: {sum: {operation: sum, template: f64}}\n");
  CHECK(protected_addresses(plan).front() == "tcp://10.0.0.1:7701");
}

TEST_CASE("protected links: the second port is above that of every switch") {
  const Plan plan = read_config(
      "network: {port: 7700}\nclusters: {a: {hosts: 1, threads: 1, uplink: switch}, b: {hosts: 1, "
      "threads: 1}}\nlinks: {all: {latency: 1ms, security: network}}\nlanes: {}\n");
  CHECK(protected_addresses(plan) == std::vector<std::string>{"tcp://127.0.0.1:7703",
                                                              "tcp://127.0.0.1:7704",
                                                              "tcp://127.0.0.1:7705", ""});
}

TEST_CASE("protected links: without encryption there is no second port") {
  for (const std::string network : {"{security: plain}", "{security: network}", "{transport: ipc}"})
    CHECK(protected_addresses(read_config("network: " + network + "\n" + three_clusters +
                                          links(", security: network")))
              .empty());
}

TEST_CASE("protected links: mistakes are reported with their positions") {
  const auto wrong = [](const std::string& config, const std::string& text) {
    CHECK_THROWS_WITH(read_config(config), Contains(text));
  };
  wrong(three_clusters + links(", security: networ"),
        "4:33: security: expected network, found 'networ'; did you mean 'network'?");
  wrong(three_clusters +
            "links:\n  - {from: a, to: b, security: network}\n  - {from: b, to: a}\n"
            "  - {between: [a, c]}\n  - {between: [b, c]}\n",
        "5:5: security: expected network for the link from b to a, as its other direction has");
  wrong("network: {protected: [[a, bb]]}\n" + three_clusters + links(""),
        "1:27: protected: expected the name of a cluster");
  wrong("network: {protected: [[a, a]]}\n" + three_clusters + links(""),
        "1:23: protected: expected two clusters, found a twice");
  wrong("network: {protected: foo}\n" + three_clusters + links(", security: network"),
        "1:22: protected: expected pairs of clusters such as [[alpha, beta]], found 'foo'");
  wrong("network: {protected: }\n" + three_clusters + links(", security: network"),
        "1:22: protected: expected pairs of clusters such as [[alpha, beta]], found nothing");
  wrong("network: {protected: [a]}\n" + three_clusters + links(""),
        "1:23: protected: expected pairs of clusters such as [[alpha, beta]], found 'a'");
  wrong("network: {port: 65533}\n" + three_clusters + links(", security: network"),
        "host a-0 needs a second port, for its links with `security: network`, but 65536 is "
        "beyond 65535");
}

TEST_CASE("protected links: the links of a file of measured links are protected together") {
  const test_support::Folder folder;
  const std::string file = folder.write("links.yaml",
                                        "clusters: {a: {}, b: {}}\nlinks:\n"
                                        "  - {from: a, to: b, latency: 1ms, bandwidth: 1Gbit}\n"
                                        "  - {from: b, to: a, latency: 1ms, bandwidth: 1Gbit}\n");
  const Plan plan = read_config(
      "clusters: {a: {hosts: 1, threads: 1}, b: {hosts: 1, threads: 1}}\n"
      "links: {from: " +
      file + ", security: network}\ncollectives: {sum: {operation: sum, template: f64}}\n");
  CHECK(plan.protected_links.size() == 1);
}

TEST_CASE("protected links: each connection is encrypted or not as its link says") {
  const int port = free_ports(6);
  const auto peers = peers_with_protected_link(port);
  REQUIRE(protected_peers(*peers, 2) == nullptr);
  on_steady_clock([&](runtime::Runtime& runtime) {
    Mailbox first, second, third;
    const auto a = make_transports(runtime, peers, 0);
    // Each of these two listens in one way only.
    const auto b = make_transport(runtime, protected_peers(*peers, 1), 1);
    const auto c = make_transport(runtime, peers, 2);
    a->start(first);
    b->start(second);
    c->start(third);
    a->send(a->connect(1), numbered(1));
    a->send(a->connect(2), numbered(2));
    CHECK(second.wait_for_frames(runtime, 1));
    CHECK(third.wait_for_frames(runtime, 1));
    b->send(b->connect(0), numbered(3));
    c->send(c->connect(0), numbered(4));
    CHECK(first.wait_for_frames(runtime, 2));
    CHECK(first.turned_away().empty());
    for (const auto& transport : {a.get(), b.get(), c.get()}) transport->stop();
  });
}

TEST_CASE("protected links: a peer without a key passes only as a host of such a link") {
  const int port = free_ports(6);
  const auto peers = peers_with_protected_link(port);
  on_steady_clock([&](runtime::Runtime& runtime) {
    Mailbox received;
    const auto a = make_transports(runtime, peers, 0);
    a->start(received);
    RawPeer encrypted(port);
    CHECK(encrypted.is_closed());
    REQUIRE(received.wait(runtime, 20s, [&] { return !received.turned_away().empty(); }));
    RawPeer impostor(port + 3);
    impostor.send_frame(raw_hello({.text = "c-0", .from_host = 2}, 1, 2));
    CHECK(impostor.next_header() == raw_refusal("place"));
    REQUIRE(received.wait(runtime, 20s, [&] { return received.turned_away().size() > 1; }));
    // A peer of another run gets the answer that it gets under any name.
    RawPeer stranger(port + 3);
    stranger.send_frame(raw_hello({.run_high = 1, .text = "c-0", .from_host = 2}, 1, 2));
    CHECK(received.wait_for_frames(runtime, 1));
    RawPeer true_one(port + 3);
    true_one.send_frame(raw_hello({.text = "b-0", .from_host = 1}, 1, 2));
    CHECK(received.wait_for_frames(runtime, 2));
    a->stop();
    REQUIRE(received.turned_away().size() == 2);
    CHECK_THAT(received.turned_away()[0], Contains("another `security`"));
    CHECK_THAT(received.turned_away()[1], Contains("'c-0', which has no protected link"));
  });
}

TEST_CASE("protected links: paths and lanes and switches use them next to encrypted links") {
  const bool has_switch = GENERATE(false, true);
  INFO(has_switch);
  const Sim sim(fmt::format(
      "network: {{port: {}}}\nshared_memory: false\nclusters:\n"
      "  a: {{hosts: 2, threads: 1, uplink: {}}}\n  b: {{hosts: 2, threads: 1}}\n"
      "  c: {{hosts: 1, threads: 1}}\nlinks:\n  - {{between: [a, b], latency: 1ms, security: "
      "network}}\n  - {{between: [a, c], latency: 1ms}}\n  - {{between: [b, c], latency: 1ms}}\n"
      "{}lanes: {{}}\n",
      free_ports(16), has_switch ? "switch" : "exit",
      has_switch ? "" : "collectives: {sum: {operation: sum, template: f64}}\n"));
  auto processes = start_hosts(sim, [has_switch](Thread& thread, const Say& say) {
    if (!has_switch)
      say(fmt::format("sum {}", thread.path("sum").move_value(1.0).payload.read<double>()));
    const std::uint32_t self = thread.host().index();
    const auto group = thread.host().lanes().group("all", {0, 1, 2, 3, 4});
    std::vector<runtime::Handle<void>> sent;
    for (const std::uint32_t peer : {0u, 1u, 2u, 3u, 4u})
      if (peer != self) sent.push_back(group->send(peer, 0, base::Payload::of(self)));
    std::uint32_t received = 0;
    for (const std::uint32_t peer : {0u, 1u, 2u, 3u, 4u})
      if (peer != self) received += group->receive(peer, 0).wait().payload.read<std::uint32_t>();
    for (auto& one : sent) one.wait();
    group->leave();
    say(fmt::format("all {}", received + self));
  });
  if (has_switch)
    processes.emplace("switch", HostProcess([&](const Say&) {
                        run_switch(sim.shared_plan(), 0, run_key().get());
                        return 0;
                      }));
  check_all_end_well(processes);
  for (auto& [name, process] : processes) {
    INFO(name << ": " << process.text());
    CHECK(process.lines("sum 5").size() == (has_switch ? 0 : 1));
    CHECK(process.lines("all 10").size() == (name == "switch" ? 0 : 1));
  }
}
