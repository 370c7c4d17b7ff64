// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/evaluator_test.cpp — execution rules of the evaluator, checked with
// hand-written schedules.
#include "collectives/cost/evaluator.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "collectives/algorithms/all.hpp"
#include "collectives/schedule/verifier.hpp"

using namespace collectives;
using namespace pricing;
using namespace std::chrono_literals;

namespace {

/// Returns a network of hosts that send one byte per ns in frames of 100 bytes. The latency is 100
/// ns in a cluster and 1100 ns between clusters.
Network nanoseconds(const std::vector<std::size_t>& clusters) {
  Network network = uniform_network(std::make_shared<const Topology>(Topology::clustered(clusters)),
                                    {100ns, 8e9}, {1100ns, 8e9});
  network.frame = 100;
  return network;
}

using Part = std::function<void(Steps&)>;

Program program_of(const Part& part) {
  return {1, [part](Count, Steps& steps) { part(steps); }};
}
void idle(Steps&) {}

std::int64_t time_of(const std::vector<Part>& parts, const Network& network,
                     const Execution& execution = {}) {
  std::vector<Program> programs;
  for (const Part& part : parts) programs.push_back(program_of(part));
  return evaluate(std::move(programs), 1, network, execution)->time.count();
}

Block cells(Count from, Count count) { return {out, {from, count}}; }
Part sends(Rank to, Block what) {
  return [=](Steps& steps) { steps.send(to, what); };
}
Part receives(Rank from, Block what) {
  return [=](Steps& steps) { steps.receive(from, what); };
}

Part in_turn(const std::vector<Part>& parts) {
  return [=](Steps& steps) {
    for (const Part& part : parts) part(steps);
  };
}

}  // namespace

TEST_CASE("evaluator: frames of two senders share the receiving side") {
  // The heads of both messages arrive after 100 ns. Then 800 bytes pass in 800 ns.
  const std::vector<Part> parts{
      sends(2, cells(0, 400)), sends(2, cells(0, 400)),
      in_turn({receives(0, cells(0, 400)), receives(1, cells(400, 400))})};
  CHECK(time_of(parts, nanoseconds({3})) == 900);
}

TEST_CASE("evaluator: an older step that is ready goes before the next frame of a younger one") {
  // At 200 ns host 0 has received 100 bytes of host 1. Host 0 must forward these bytes to host 2,
  // and host 2 forwards them to host 1. At 200 ns, host 0 is already sending 1000 bytes to host 3.
  const std::vector<Part> parts{
      in_turn({receives(1, cells(0, 100)), sends(2, cells(0, 100)), sends(3, cells(1000, 1000))}),
      in_turn({sends(0, cells(0, 100)), receives(2, cells(500, 100))}),
      in_turn({receives(0, cells(0, 100)), sends(1, cells(0, 100))}),
      receives(0, cells(1000, 1000))};
  CHECK(time_of(parts, nanoseconds({4})) == 1200);
}

TEST_CASE("evaluator: a step waits for room in the window and for the cells of earlier steps") {
  const auto parts = [](Count from) {
    return std::vector<Part>{in_turn({receives(1, cells(0, 100)), sends(2, cells(from, 100))}),
                             sends(0, cells(0, 100)), receives(0, cells(0, 100))};
  };
  CHECK(time_of(parts(100), nanoseconds({3})) == 200);
  CHECK(time_of(parts(100), nanoseconds({3}), {.window = 1}) == 400);
  CHECK(time_of(parts(50), nanoseconds({3})) == 400);
}

TEST_CASE("evaluator: a message without credit waits one latency for its grant") {
  const std::vector<Part> parts{sends(1, cells(0, 1000)), receives(0, cells(0, 1000))};
  const Network network = nanoseconds({2});
  CHECK(time_of(parts, network) == 1100);
  CHECK(time_of(parts, network, {.credit = 0}) == 1200);
  // A frame of 100 bytes uses 228 bytes of credit, because its overhead is 128 bytes. If the credit
  // suffices for one frame, the grant for the rest arrives while that frame is sent.
  CHECK(time_of(parts, network, {.credit = 227}) == 1200);
  CHECK(time_of(parts, network, {.credit = 228}) == 1100);
  CHECK(time_of(parts, network, {.credit = 100'000}) == 1100);
}

TEST_CASE("evaluator: credit returns only when a step takes the bytes") {
  // Host 1 receives the bytes of host 0 only after all bytes of host 2. Host 1 grants no bytes of
  // host 0 beyond the credit until it begins to receive these bytes.
  const std::vector<Part> parts{sends(1, cells(0, 300)),
                                in_turn({receives(2, cells(0, 900)), receives(0, cells(0, 300))}),
                                sends(1, cells(0, 900))};
  const Network network = nanoseconds({3});
  // With much credit, all bytes of host 0 already wait at host 1. All 900 + 300 bytes pass without
  // a pause, after a latency of 100 ns.
  CHECK(time_of(parts, network, {.credit = 10'000}) == 1300);
  // One frame of host 0 arrives before all frames of host 2, so these 100 + 900 bytes pass until
  // 1100 ns. Then host 1 grants the other bytes of host 0. The grant takes 100 ns, the other bytes
  // take 200 ns, and their latency is 100 ns.
  CHECK(time_of(parts, network, {.credit = 228}) == 1100 + 100 + 200 + 100);
}

TEST_CASE("evaluator: a message without credit yields to one that has a grant") {
  // Host 1 receives message A of host 0 only after message C of host 2. Host 2 sends C only after
  // it has received message B of host 0.
  const std::vector<Part> parts{in_turn({sends(1, cells(0, 100)), sends(2, cells(100, 100))}),
                                in_turn({receives(2, cells(0, 100)), receives(0, cells(0, 100))}),
                                in_turn({receives(0, cells(0, 100)), sends(1, cells(0, 100))})};
  // B takes 300 ns including its grant. Then C takes only 200 ns, because the grant of C was sent
  // early. Then A takes 300 ns including its grant.
  CHECK(time_of(parts, nanoseconds({3}), {.credit = 0}) == 800);
}

TEST_CASE(
    "evaluator: without credit a schedule ends with its least window and blocks with a smaller "
    "one") {
  const auto check = [](const std::string& name, const std::vector<std::size_t>& clusters) {
    Network network = nanoseconds(clusters);
    const Algorithm& algorithm = algorithm_named(name);
    const CollectiveSpec task = make_spec(Collective::allreduce, network.topology, 40);
    const Parameters parameters = algorithm.read("");
    const std::size_t least = verify(algorithm, task, parameters).least_window;
    INFO(name << ", least window " << least);
    REQUIRE(least > 1);
    Execution execution{.window = least, .credit = 0};
    CHECK(price(algorithm, task, parameters, 1, network, execution).all.messages > 0);
    execution.window = least - 1;
    CHECK_THROWS_AS(price(algorithm, task, parameters, 1, network, execution),
                    std::invalid_argument);
  };
  check("recursive_doubling", {2});
  check("recursive_doubling", {4, 3});
  check("stretched", {1, 1, 1, 1, 1, 1});
  check("stretched", {3, 4});
}

TEST_CASE("evaluator: frames wait for a stream of their hosts and streams take turns") {
  const std::vector<Part> one{sends(1, cells(0, 400)), receives(0, cells(0, 400))};
  Network network = nanoseconds({1, 1});
  CHECK(time_of(one, network) == 1500);
  for (Link& link : network.links) link.stream_rate = 4e9;
  // Each frame holds a stream for 200 ns: frames start at 100, 300, 500 and 700 ns.
  CHECK(time_of(one, network) == 700 + 200 + 1000);
  network.striping = 2;
  CHECK(time_of(one, network) == 400 + 200 + 1000);
  // Two hosts send over a link at the same time. At first, each host has a stream of its own.
  // Later, the link has only one stream for both hosts.
  const std::vector<Part> two{sends(2, cells(0, 200)), sends(3, cells(0, 200)),
                              receives(0, cells(0, 200)), receives(1, cells(0, 200))};
  Network pairs = nanoseconds({2, 2});
  for (Link& link : pairs.links) link.stream_rate = 4e9;
  CHECK(time_of(two, pairs) == 400 + 200 + 1000);
  for (Link& link : pairs.links) link.streams = 1;
  CHECK(time_of(two, pairs) == 700 + 200 + 1000);
}

TEST_CASE("evaluator: messages cost their hosts processor time one after the other") {
  Network network = nanoseconds({3});
  network.message_cost = 10ns;
  CHECK(time_of({sends(1, cells(0, 1000)), receives(0, cells(0, 1000)), idle}, network) == 1120);
  // Two messages arrive at host 2, at 150 + 200 and 150 + 300 ns. Host 2 spends 150 ns on each
  // message, one after the other.
  network.message_cost = 150ns;
  const std::vector<Part> parts{
      sends(2, cells(0, 100)), sends(2, cells(0, 100)),
      in_turn({receives(0, cells(0, 100)), receives(1, cells(100, 100))})};
  CHECK(time_of(parts, network) == 150 + 200 + 150 + 150);
}

TEST_CASE("evaluator: a host whose folds take time folds one block after the other") {
  // 100 bytes arrive from each of two hosts, at 200 and 300 ns. A fold accesses 300 bytes. At 10
  // bytes per ns, a fold takes 30 ns.
  Network network = nanoseconds({3});
  const std::vector<Part> parts{[](Steps& steps) {
                                  steps.receive(1, cells(0, 100));
                                  steps.receive(2, cells(100, 100));
                                  steps.reduce(cells(200, 100), cells(0, 100), cells(100, 100));
                                  steps.reduce(cells(300, 100), cells(100, 100), cells(0, 100));
                                  steps.send(1, cells(200, 100));
                                },
                                in_turn({sends(0, cells(0, 100)), receives(0, cells(0, 100))}),
                                sends(0, cells(0, 100))};
  CHECK(time_of(parts, network) == 300 + 200);
  network.fold_bytes_per_second = 10e9;
  CHECK(time_of(parts, network) == 300 + 30 + 200);
  network.fold_bytes_per_second = 1e9;
  // A fold takes 300 ns. The second fold waits for the end of the first fold.
  CHECK(time_of(parts, network) == 300 + 300 + 300);
}

TEST_CASE("evaluator: a barrier takes only latencies and stops at the time limit") {
  const Network network = nanoseconds({2});
  const Algorithm& algorithm = algorithm_named("tree");
  const CollectiveSpec task = make_spec(Collective::barrier, network.topology, 0);
  CHECK(price(algorithm, task, algorithm.read(""), 8, network).time == 200ns);
  CHECK_FALSE(evaluate(programs_of(algorithm, task, algorithm.read("")), 0, network, {}, 200ns));
  CHECK(evaluate(programs_of(algorithm, task, algorithm.read("")), 0, network, {}, 201ns));
}

TEST_CASE("evaluator: a message of too many frames is refused and not truncated") {
  const Count huge = Count{100} << 32;
  CHECK_THROWS_AS(
      time_of({sends(1, cells(0, huge)), receives(0, cells(0, huge))}, nanoseconds({2})),
      std::invalid_argument);
}

TEST_CASE("evaluator: messages and bytes are counted per host and per link") {
  const Network network = nanoseconds({2, 1});
  const Algorithm& algorithm = algorithm_named("tree");
  const CollectiveSpec task = make_spec(Collective::broadcast, network.topology, 100);
  const Price price =
      pricing::price(algorithm, task, algorithm.read("shape=flat,segment=50"), 2, network);
  CHECK(price.all == pricing::Flow{4, 400});
  CHECK(price.across == pricing::Flow{2, 200});
  CHECK(price.sent == std::vector<pricing::Flow>{{4, 400}, {}, {}});
  CHECK(price.received == std::vector<pricing::Flow>{{}, {2, 200}, {2, 200}});
  CHECK(price.links == std::vector<pricing::Flow>{{2, 200}, {2, 200}, {}, {}});
}

TEST_CASE(
    "evaluator: eight senders of Matsuda et al. 2006 compared with one sender and with stretches") {
  // 32 MiB between two clusters of 16 hosts at 1 Gbit, linked with 10 Gbit and 10 ms.
  const Network network = uniform_network(
      std::make_shared<const Topology>(Topology::clustered({16, 16})), {50us, 1e9}, {10ms, 10e9});
  const auto took = [&](Collective collective, const char* name, const char* parameters) {
    const Algorithm& algorithm = algorithm_named(name);
    const CollectiveSpec task = make_spec(collective, network.topology, 32 << 20);
    const Price price = pricing::price(algorithm, task, algorithm.read(parameters), 1, network);
    return static_cast<double>(price.time.count());
  };
  const auto broadcast = Collective::broadcast;
  const double far_first = took(broadcast, "farfirst", "allgather=doubling");
  const char* eight = "senders=8,allgather=doubling";
  CHECK(std::abs(far_first / took(broadcast, "modified_van_de_geijn", eight) - 1.36) <= 0.05);
  CHECK(far_first / took(broadcast, "stretched", "stretch=524288") >= 2.7);
  const auto allreduce = Collective::allreduce;
  const char* halving = "reduce_scatter=halving,allgather=doubling";
  const char* eight_halving = "senders=8,reduce_scatter=halving,allgather=doubling";
  const double two_tier = took(allreduce, "two_tier", halving);
  CHECK(std::abs(two_tier / took(allreduce, "modified_rabenseifner", eight_halving) - 2.30) <=
        0.07);
  CHECK(two_tier / took(allreduce, "stretched", "stretch=524288") >= 2.4);
}

TEST_CASE("evaluator: a receiving port grants one message at a time in the order of the steps") {
  const std::vector<Part> parts{
      sends(2, cells(0, 400)), sends(2, cells(0, 400)),
      in_turn({receives(0, cells(0, 400)), receives(1, cells(400, 400))})};
  const Network network = nanoseconds({3});
  CHECK(time_of(parts, network, {.ports = {.receiving = 2}}) == 900);
  CHECK(time_of(parts, network, {.ports = {.receiving = 1}}) == 1000);
  CHECK(time_of(parts, network, {.ports = {.receiving = 1, .are_grants_carried = true}}) == 1200);
  // Host 2 grants the message of host 1 first. Host 1 can send this message only after it has
  // received 300 bytes of host 0, at 400 ns. Host 2 grants the message of host 0 only after it has
  // received the message of host 1.
  const std::vector<Part> late{in_turn({sends(1, cells(0, 300)), sends(2, cells(0, 100))}),
                               in_turn({receives(0, cells(0, 300)), sends(2, cells(0, 300))}),
                               in_turn({receives(1, cells(0, 300)), receives(0, cells(300, 100))})};
  CHECK(time_of(late, network) == 800);
  CHECK(time_of(late, network, {.ports = {.receiving = 1}}) == 400 + 400 + 200);
}

TEST_CASE("evaluator: receiving ports for other clusters do not affect those of the own cluster") {
  const std::vector<Part> parts{in_turn({receives(2, cells(0, 100)), receives(1, cells(100, 100))}),
                                sends(0, cells(0, 100)), sends(0, cells(0, 100))};
  const Network network = nanoseconds({2, 1});
  CHECK(time_of(parts, network, {.ports = {.receiving = 1}}) == 1200 + 200);
  CHECK(time_of(parts, network, {.ports = {.receiving = 1, .are_apart = true}}) == 1200);
  // Two messages of 400 bytes arrive from another cluster. With one receiving port, they arrive one
  // after the other. With two ports, they arrive at the same time.
  const std::vector<Part> far{in_turn({receives(1, cells(0, 400)), receives(2, cells(400, 400))}),
                              sends(0, cells(0, 400)), sends(0, cells(400, 400))};
  const Network two = nanoseconds({1, 2});
  CHECK(time_of(far, two, {.ports = {.receiving = 1, .are_apart = true}}) == 2 * 1500);
  CHECK(time_of(far, two, {.ports = {.receiving = 1, .are_apart = true, .receiving_across = 2}}) ==
        1900);
}

TEST_CASE("evaluator: sending ports for other clusters do not affect those of the own cluster") {
  // Each message occupies its port for 1000 ns longer than its bytes need to leave the host.
  const std::vector<Part> parts{in_turn({sends(2, cells(0, 100)), sends(1, cells(0, 100))}),
                                receives(0, cells(0, 100)), receives(0, cells(0, 100))};
  const Network network = nanoseconds({2, 1});
  Ports ports{.sending = 1, .cost = 1000ns};
  CHECK(time_of(parts, network, {.ports = ports}) == 1100 + 200);
  ports.are_apart = true;
  CHECK(time_of(parts, network, {.ports = ports}) == 1200);
}

TEST_CASE("evaluator: a sending port is held until the message is sent and for its cost") {
  const std::vector<Part> parts{in_turn({sends(1, cells(0, 100)), sends(2, cells(0, 100))}),
                                receives(0, cells(0, 100)), receives(0, cells(0, 100))};
  const Network network = nanoseconds({3});
  CHECK(time_of(parts, network, {.ports = {.sending = 1}}) == 300);
  CHECK(time_of(parts, network, {.ports = {.sending = 1, .cost = 50ns}}) == 350);
  CHECK(time_of(parts, network, {.ports = {.sending = 2, .cost = 50ns}}) == 300);
  // With Ports::blocks, a message keeps its port until it has left the link. The link carries the
  // first 100 bytes from 100 to 300 ns.
  Network far = nanoseconds({1, 1, 1});
  for (Link& link : far.links) link.model = tuning::LinkModel(1000ns, 4e9);
  CHECK(time_of(parts, far, {.ports = {.sending = 1}}) == 100 + 100 + 1000 + 200);
  CHECK(time_of(parts, far, {.ports = {.sending = 1, .blocks = true}}) == 300 + 100 + 1000 + 200);
}

TEST_CASE("evaluator: with half duplex a host either sends or receives") {
  const std::vector<Part> parts{in_turn({receives(2, cells(0, 400)), sends(1, cells(400, 400))}),
                                receives(0, cells(0, 400)), sends(0, cells(0, 400))};
  const Network network = nanoseconds({3});
  Ports ports{.sending = 1, .receiving = 1};
  CHECK(time_of(parts, network, {.ports = ports}) == 500);
  ports.is_half_duplex = true;
  CHECK(time_of(parts, network, {.ports = ports}) == 1000);
  // Two hosts with half duplex exchange data by sending alternately. If each host executed its
  // steps in order, each host would wait for the message of the other host first.
  const std::vector<Part> exchange{
      in_turn({receives(1, cells(0, 100)), sends(1, cells(100, 100))}),
      in_turn({receives(0, cells(0, 100)), sends(0, cells(100, 100))})};
  CHECK(time_of(exchange, nanoseconds({2}), {.ports = ports}) == 400);
  ports.are_in_order = true;
  CHECK_THROWS_AS(time_of(exchange, nanoseconds({2}), {.ports = ports}), std::invalid_argument);
  CHECK(time_of(parts, network, {.ports = ports}) == 1000);
}

TEST_CASE("evaluator: in order a step that cannot proceed holds up the later ones") {
  // Host 2 must receive the message of host 1 before the message of host 0. Host 1 first sends 300
  // bytes to host 3, and then its message to host 2.
  const std::vector<Part> parts{
      in_turn({sends(2, cells(0, 100)), sends(3, cells(0, 100))}),
      in_turn({sends(3, cells(0, 300)), sends(2, cells(0, 300))}),
      in_turn({receives(1, cells(0, 300)), receives(0, cells(300, 100))}),
      in_turn({receives(0, cells(0, 100)), receives(1, cells(100, 300))})};
  const Network network = nanoseconds({4});
  Ports ports{.sending = 1, .receiving = 1};
  // Host 0 first sends to host 3, which has received this message at 200 ns. Host 1 sends to host 3
  // until 300 ns, and then to host 2. The message to host 2 takes 400 ns.
  CHECK(time_of(parts, network, {.ports = ports}) == 300 + 400);
  // Host 0 waits for host 2, host 2 for host 1, host 1 for host 3, and host 3 for host 0.
  ports.are_in_order = true;
  CHECK_THROWS_AS(time_of(parts, network, {.ports = ports}), std::invalid_argument);
}
