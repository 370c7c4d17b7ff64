// SPDX-License-Identifier: Apache-2.0
// tests/paths/lanes_run_test.cpp — programs whose threads exchange messages over lanes.
#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "paths/host/host.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace std::chrono_literals;
using runtime::ClockKind;
using test_support::Sim;
using test_support::SimResult;

/// Two clusters. The gateway of alpha and the first host of beta are the exits.
const std::string clusters = R"(
clusters:
  alpha: {hosts: 2, gateway: gate, network: {latency: 50us, bandwidth: 800Mbit}}
  beta: {hosts: 2, network: {latency: 50us, bandwidth: 800Mbit}}
links: [{between: [alpha, beta], latency: 10ms, bandwidth: 800Mbit}]
)";

const std::vector<std::string> everybody = {"alpha-0", "alpha-1", "beta-0", "beta-1"};

std::uint32_t number(const paths::Thread& thread, const std::string& host) {
  return *thread.host().plan().host_named(host);
}

/// Sends this host's number to every other host, and receives the numbers of the other hosts. A
/// thread ends as soon as it has all numbers, so threads may end at different times.
void greet_all(paths::Thread& thread) {
  const auto group = thread.host().lanes().group_of("all", everybody);
  for (const std::uint32_t peer : group->hosts())
    if (peer != thread.host().index())
      group->send(peer, 0, base::Payload::of(std::uint64_t{thread.host().index()}));
  for (const std::uint32_t peer : group->hosts())
    if (peer != thread.host().index() &&
        group->receive(peer, 0).wait().payload.read<std::uint64_t>() != peer)
      // Not CHECK, which only one thread is permitted to use.
      throw std::runtime_error("a wrong number arrived");
  group->leave();
}

}  // namespace

TEST_CASE("lanes in a program: every host reaches every other on both clocks") {
  for (const std::string lanes :
       {"lanes:\n", "lanes: {inbox: 0B}\n", "lanes: {frame: unlimited}\n"})
    for (const ClockKind clock : {ClockKind::virtual_time, ClockKind::steady}) {
      Sim(clusters + lanes).run_well(greet_all, clock);
    }
}

TEST_CASE("lanes in a program: a message passes the gateway and the links of the config") {
  const SimResult result = Sim(clusters + "lanes:\n").run([](paths::Thread& thread) {
    const auto group = thread.host().lanes().group_of("two", {"alpha-0", "beta-1"});
    thread.sleep_for(100ms - thread.now());
    if (thread.rank() == 0) group->send(number(thread, "beta-1"), 0, base::Payload::of(7)).wait();
    if (thread.rank() != 3) return;
    CHECK(group->receive(number(thread, "alpha-0"), 0).wait().payload.read<int>() == 7);
    // The 4 bytes take 40 ns on each of three links. They are forwarded while they arrive, so the
    // 40 ns count once. The latencies are 50 us, 10 ms and 50 us.
    CHECK(thread.now() == 100ms + 50us + 10ms + 50us + 40ns);
  });
  // Only the two threads outside the group get errors.
  CHECK(result.failures.size() == 2);
}

TEST_CASE("lanes in a program: hosts whose threads have ended forward messages of others") {
  for (const ClockKind clock : {ClockKind::virtual_time, ClockKind::steady}) {
    Sim(clusters + "lanes:\n")
        .run_well(
            [](paths::Thread& thread) {
              if (thread.rank() == 0 || thread.rank() == 2)
                return;  // these threads (alpha-0 and beta-0, which is an exit) take no part
              const auto group = thread.host().lanes().group_of("far", {"alpha-1", "beta-1"});
              thread.sleep_for(30ms);
              const std::uint32_t peer = number(thread, thread.rank() == 1 ? "beta-1" : "alpha-1");
              group->send(peer, 3, base::Payload::of(thread.rank()));
              if (group->receive(peer, 3).wait().payload.read<std::uint32_t>() != 4 - thread.rank())
                // Not CHECK, which only one thread is permitted to use.
                throw std::runtime_error("a wrong number arrived");
              group->leave();
            },
            clock);
  }
}

TEST_CASE("lanes in a program: without the key they work where no host forwards messages") {
  Sim("clusters: {alpha: {hosts: 3, network: {latency: 50us}}}\n").run_well([](paths::Thread& one) {
    const auto group = one.host().lanes().group("all", {0, 1, 2});
    for (const std::uint32_t peer : group->hosts())
      if (peer != one.host().index()) group->send(peer, 0, base::Payload::of(peer));
    for (const std::uint32_t peer : group->hosts())
      if (peer != one.host().index())
        CHECK(group->receive(peer, 0).wait().payload.read<std::uint32_t>() == one.host().index());
  });
}

// The tree has its root in beta, so no path leads from beta to the gateway of alpha. The paths of
// alpha are released before the message has reached this gateway, which takes 50 us.
TEST_CASE("lanes in a program: without the key a gateway forwards the last message of a host") {
  Sim(clusters + "collectives: {sum: {template: i64, root: beta/beta-0}}\n")
      .run_well([](paths::Thread& thread) {
        if (thread.rank() == 1 || thread.rank() == 2) return;
        const auto group = thread.host().lanes().group_of("far", {"alpha-0", "beta-1"});
        if (thread.rank() == 0)
          group->send(number(thread, "beta-1"), 0, base::Payload::of(7)).wait();
        else
          CHECK(group->receive(number(thread, "alpha-0"), 0).wait().payload.read<int>() == 7);
      });
}

TEST_CASE("lanes in a program: declared paths and lanes share the links and both end") {
  Sim(clusters + "lanes:\ncollectives: {sum: {template: i64}}\n")
      .run_well([](paths::Thread& thread) {
        const auto group = thread.host().lanes().group_of("all", everybody);
        const std::uint32_t next = group->hosts()[(thread.rank() + 1) % 4];
        const std::uint32_t previous = group->hosts()[(thread.rank() + 3) % 4];
        for (std::int64_t round = 0; round < 10; ++round) {
          group->send(next, 0, base::Payload::of(round));
          CHECK(thread.path("sum").move_value(round).payload.read<std::int64_t>() == 4 * round);
          CHECK(group->receive(previous, 0).wait().payload.read<std::int64_t>() == round);
        }
        group->leave();
      });
}

TEST_CASE("lanes in a program: a receive from a thread that has ended fails") {
  Sim(clusters + "lanes:\n").run_well([](paths::Thread& thread) {
    const auto group = thread.host().lanes().group_of("all", everybody);
    if (thread.rank() != 0) return;
    CHECK_THROWS_WITH(group->receive(number(thread, "beta-1"), 0).wait(),
                      Catch::Contains("lane with host beta-1: it has left the group"));
  });
}

TEST_CASE("lanes in a program: a receive from a host that has left fails with its reason") {
  Sim(clusters + "lanes:\n").run_well([](paths::Thread& thread) {
    const auto group = thread.host().lanes().group_of("all", everybody);
    if (thread.host().name() == "beta-1") group->leave_after({.text = "its own fault"});
    if (thread.rank() != 0) return;
    thread.sleep_for(1s);
    CHECK_THROWS_WITH(group->receive(number(thread, "beta-1"), 0).wait(),
                      Catch::Contains("its own fault"));
  });
}

TEST_CASE("lanes in a program: a message on a closed channel fails with the name of its work") {
  Sim(clusters + "lanes:\n").run_well([](paths::Thread& thread) {
    const auto group = thread.host().lanes().group_of("all", everybody);
    if (thread.host().name() == "alpha-1")
      group->close(0, std::make_shared<const std::string>("its work"));
    thread.sleep_for(1s);
    if (thread.rank() != 0) return thread.sleep_for(2s);
    const std::uint32_t peer = number(thread, "alpha-1");
    group->send(peer, 0, base::Payload::of(1));
    CHECK_THROWS_WITH(
        group->receive(peer, 1).wait(),
        Catch::Contains("on channel 0 of group all, which is closed after 'its work'"));
  });
}

TEST_CASE("lanes in a program: through switches every host reaches every other and all end") {
  std::string text = clusters;
  text.replace(text.find("gateway: gate"), std::string("gateway: gate").size(), "uplink: switch");
  text.replace(text.find("beta: {hosts: 2,"), 16, "beta: {hosts: 2, uplink: switch,");
  Sim(text + "lanes:\n").run_well(greet_all, ClockKind::steady);
  Sim(text + "lanes:\n").run_well([](paths::Thread& thread) {
    greet_all(thread);
    const auto group = thread.host().lanes().group_of("again", everybody);
    thread.sleep_for(100ms - thread.now());
    // Both hosts of alpha send 64,000 bytes to beta-1 at the same time. Each message takes 640 us
    // on a network. The link between the clusters has the same rate, and carries one message after
    // the other: 2 * 640 us.
    const std::uint32_t beta = number(thread, "beta-1");
    if (thread.rank() < 2)
      group->send(beta, 0, base::Payload::of(std::array<std::byte, 64'000>())).wait();
    if (thread.host().index() == beta) {
      group->receive(0, 0).wait();
      group->receive(1, 0).wait();
      CHECK(thread.now() == 100ms + 50us + 2 * 640us + 10ms);
    }
    group->leave();
  });
}
