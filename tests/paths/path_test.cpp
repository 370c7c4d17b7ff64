// SPDX-License-Identifier: Apache-2.0
// tests/paths/path_test.cpp — operations on an element from another host, over links.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "pastset/tuple.hpp"
#include "paths/host/deployment.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
using runtime::ClockKind;

/// Returns the config of an element on alpha-0 that all hosts reach. The link between the clusters
/// has a latency of 10 ms. With gateways, the networks inside the clusters have a latency of 1 ms.
std::string config(bool has_gateways, const std::string& element = "delta: 0, keep_newest: 0",
                   int threads = 1) {
  const std::string inside = "network: {latency: 1ms}";
  return fmt::format(R"(
clusters:
  alpha: {{hosts: 1, threads: {0}{1}}}
  beta: {{hosts: 1, threads: {0}{2}}}
links: [{{between: [alpha, beta], latency: 10ms}}]
elements:
  work: {{host: alpha-0, template: f64, {3}, reach: all}}
)",
                     threads, has_gateways ? ", gateway: alpha-gate, " + inside : "",
                     has_gateways ? ", gateway: beta-gate, " + inside : "", element);
}

bool is_at_beta(const paths::Thread& thread) { return thread.cluster() == "beta"; }
double value_of(const pastset::Stored& stored) { return stored.payload.read<double>(); }

}  // namespace

TEST_CASE("path: every operation on an element of another host works and takes one round trip") {
  const bool has_gateways = GENERATE(false, true);
  const Sim sim(config(has_gateways));
  sim.run_well([&](paths::Thread& thread) {
    if (!is_at_beta(thread)) return;
    const base::Nanos trip = has_gateways ? 2 * (10ms + 1ms + 1ms) : 20ms;
    paths::Path& work = thread.path("work");
    std::int64_t trips = 0;
    const auto one_trip_later = [&] { return thread.now() == ++trips * trip; };
    work.enter(*pastset::Template::parse("f64"));
    CHECK(one_trip_later());
    for (int i = 0; i < 3; ++i) {
      const paths::Result moved = work.move_value(1.5 + i);
      CHECK(moved.number == static_cast<std::uint64_t>(i));
      CHECK(moved.payload.read<double>() == 1.5 + i);
      CHECK(one_trip_later());
    }
    CHECK(work.first() == 0);
    CHECK(one_trip_later());
    CHECK(work.last() == 3);
    CHECK(one_trip_later());
    CHECK(value_of(work.observe()) == 1.5);
    CHECK(one_trip_later());
    CHECK(work.first() == 1);
    CHECK(one_trip_later());
    CHECK(value_of(work.observe(2)) == 3.5);
    CHECK(one_trip_later());
    const pastset::Stored newest = work.newest(1);
    CHECK(newest.number == 2);
    CHECK(value_of(newest) == 3.5);
    CHECK(one_trip_later());
    work.set_delta(5);
    CHECK(one_trip_later());
    CHECK(work.delta() == 5);
    CHECK(one_trip_later());
    work.axe(0);
    CHECK(one_trip_later());
    CHECK_THAT(thrown<paths::TravelError>([&] { work.observe(0); }),
               Catch::Contains("work") && Catch::Contains("0"));
    CHECK(one_trip_later());
    CHECK_THAT(thrown<paths::TravelError>([&] { work.enter(*pastset::Template::parse("i32")); }),
               Catch::Contains("f64") && Catch::Contains("i32"));
    CHECK(one_trip_later());
    work.delete_element();
    CHECK(one_trip_later());
    CHECK_THAT(thrown<paths::TravelError>([&] { work.first(); }), Catch::Contains("work"));
  });
}

TEST_CASE("path: a moved tuple does not travel back but is in the result") {
  // The tuple of 1000 bytes crosses a link of 1 byte per nanosecond once. The latency is 10 ms in
  // each direction.
  const bool has_gateways = GENERATE(false, true);
  const std::string gateway = has_gateways ? ", gateway: " : "";
  const Sim sim(fmt::format(R"(
clusters:
  alpha: {{hosts: 1, threads: 0{0}}}
  beta: {{hosts: 1, threads: 1{1}}}
links: [{{between: [alpha, beta], latency: 10ms, bandwidth: 8Gbit}}]
elements:
  work: {{host: alpha-0, template: "f64[125]", keep_newest: 0, reach: all}}
)",
                            has_gateways ? gateway + "a" : "", has_gateways ? gateway + "b" : ""));
  const SimResult run = sim.run_well([&](paths::Thread& thread) {
    std::vector<double> values(125, 0.5);
    values[7] = 7;
    const auto tuple = base::Payload::copy_of(std::as_bytes(std::span(values)));
    const paths::Result moved = thread.path("work").move(tuple);
    CHECK(moved.payload == tuple);
    CHECK(thread.now() == 20ms + 1000ns);
    CHECK(thread.path("work").observe().payload == tuple);
    CHECK(thread.now() == 2 * (20ms + 1000ns));
  });
  CHECK(run.wan_of("work").messages == 4);
  CHECK(run.wan_of("work").bytes == 2000);
  CHECK(run.all_of("work").bytes == (has_gateways ? 6000 : 2000));
}

TEST_CASE("path: a tuple that a join changed travels back to all including its mover") {
  const Sim sim(R"(
clusters: {alpha: {hosts: 1, threads: 1}, beta: {hosts: 1, threads: 1}}
links: [{between: [alpha, beta], latency: 10ms}]
collectives:
  sum: {operation: sum, template: "f64[10]", algorithm: sequential}
  news: {kind: broadcast, template: "f64[10]", root: beta/beta-0}
)");
  const SimResult run = sim.run_well([&](paths::Thread& thread) {
    const std::vector<double> ones(10, 1.0), twos(10, 2.0);
    const auto tuple = base::Payload::copy_of(std::as_bytes(std::span(ones)));
    const auto both = base::Payload::copy_of(std::as_bytes(std::span(twos)));
    CHECK(thread.path("sum").move(tuple).payload == both);
    CHECK(thread.path("news").move(is_at_beta(thread) ? both : tuple).payload == both);
  });
  CHECK(run.wan_of("sum").bytes == 160);
}

TEST_CASE("path: programs on two hosts share tuples and delta blocks a remote mover") {
  const Sim sim(config(false, "delta: 2, keep_newest: 0"));
  std::vector<double> observed;
  base::Nanos last_move{0};
  sim.run_well([&](paths::Thread& thread) {
    paths::Path& work = thread.path("work");
    if (is_at_beta(thread)) {
      for (int i = 0; i < 4; ++i) work.move_value(1.0 * i);
      last_move = thread.now();
      return;
    }
    thread.sleep_for(100ms);
    for (int i = 0; i < 4; ++i) {
      thread.sleep_for(1ms);
      observed.push_back(value_of(work.observe()));
    }
  });
  CHECK(observed == std::vector<double>{0, 1, 2, 3});
  // The third tuple arrives at 50 ms and waits until the first tuple is observed at 101 ms. Its
  // mover gets the result at 111 ms. The fourth tuple needs another round trip of 20 ms.
  CHECK(last_move == 131ms);
}

TEST_CASE("path: deleting an element ends blocked remote readers with an error that names it") {
  const bool has_gateways = GENERATE(false, true);
  const Sim sim(config(has_gateways, "keep_newest: 0", 3));
  std::vector<std::string> errors;
  const SimResult run = sim.run_well([&](paths::Thread& thread) {
    paths::Path& work = thread.path("work");
    if (is_at_beta(thread)) {
      errors.push_back(thrown<paths::TravelError>([&] {
        if (thread.index() == 0) work.observe();
        if (thread.index() == 1) work.observe(4);
        work.newest(0);
      }));
      return;
    }
    if (thread.index() > 0) return;
    thread.sleep_for(50ms);
    work.delete_element();
  });
  REQUIRE(errors.size() == 3);
  for (const std::string& error : errors)
    CHECK_THAT(error, Catch::Contains("alpha-0") && Catch::Contains("'work'"));
  CHECK(run.end == (has_gateways ? 62ms : 60ms));
}

TEST_CASE("path: started moves are under way together and arrive in order") {
  const Sim sim(config(false));
  sim.run_well([&](paths::Thread& thread) {
    if (!is_at_beta(thread)) return;
    paths::Path& work = thread.path("work");
    std::vector<paths::Started> started;
    for (int i = 0; i < 5; ++i) started.push_back(work.start(base::Payload::of(1.0 * i)));
    CHECK(thread.now() == 0ms);
    for (std::uint64_t i = 0; i < 5; ++i) {
      const paths::Result result = started[i].wait();
      CHECK(result.number == i);
      CHECK(result.sequence == i);
      CHECK(result.payload.read<double>() == static_cast<double>(i));
    }
    CHECK(thread.now() == 20ms);
  });
}

TEST_CASE("path: several rounds of a collective may be open at once and do not mix") {
  const Sim sim(R"(
clusters: {alpha: {hosts: 1, threads: 2}, beta: {hosts: 1, threads: 2}}
links: [{between: [alpha, beta], latency: 10ms}]
collectives: {sum: {operation: sum, template: f64, algorithm: sequential}}
)");
  sim.run_well([&](paths::Thread& thread) {
    paths::Path& sum = thread.path("sum");
    std::vector<paths::Started> started;
    // On each host, thread 1 starts its rounds after thread 0 has started all rounds of thread 0.
    if (thread.index() == 1) thread.sleep_for(5ms);
    for (int i = 0; i < 4; ++i) started.push_back(sum.start(base::Payload::of(1.0 + i)));
    for (std::uint64_t i = 0; i < 4; ++i) {
      const paths::Result result = started[i].wait();
      CHECK(result.payload.read<double>() == 4.0 * (1.0 + static_cast<double>(i)));
      CHECK(result.sequence == i);
    }
    CHECK(thread.now() == (is_at_beta(thread) ? 25ms : 15ms));
  });
}

TEST_CASE("path: an operation may travel in segments that are separate rounds") {
  const Sim sim(R"(
clusters: {alpha: {hosts: 1, threads: 2}, beta: {hosts: 1, threads: 1}}
links: [{between: [alpha, beta], latency: 10ms}]
collectives: {sum: {operation: sum, template: f64, algorithm: sequential}}
)");
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> sums;  // indexed by rank and segment
  sim.run_well([&](paths::Thread& thread) {
    paths::Deployment& deployment = thread.deployment();
    const auto& plan = deployment.plan();
    for (const std::uint32_t number : deployment.instance().paths()) {
      const auto& path = plan.paths[number];
      std::vector<runtime::Task> parts;
      for (std::uint32_t segment = 0; segment < 3; ++segment) {
        paths::Operation part;
        part.path = number;
        part.thread = thread.index();
        part.slot = path.slot + thread.index();
        part.segment = segment;
        part.segments = 3;
        part.payload = base::Payload::of(10.0 * segment + thread.rank());
        // Threads of odd rank begin with the last segment.
        const base::Nanos delay = 1ms * (thread.rank() % 2 == 0 ? segment : 3 - segment);
        parts.push_back(deployment.services().spawn("part", [&, part, delay, segment] {
          deployment.runtime().sleep_for(delay);
          sums[{thread.rank(), segment}] =
              paths::run_stage(deployment, *deployment.instance().stage(path.stage), part)
                  .payload.read<double>();
        }));
      }
      for (auto& part : parts) part.join();
    }
  });
  REQUIRE(sums.size() == 9);
  for (const auto& [key, sum] : sums) CHECK(sum == 30.0 * key.second + 3);
}

TEST_CASE("push: a push costs one frame over the link and no wait") {
  const ClockKind clock = GENERATE(ClockKind::virtual_time, ClockKind::steady);
  const bool has_gateways = GENERATE(false, true);
  const Sim sim(config(has_gateways));
  std::vector<double> observed;
  const SimResult run = sim.run_well(
      [&](paths::Thread& thread) {
        paths::Path& work = thread.path("work");
        if (is_at_beta(thread)) {
          for (int i = 0; i < 40; ++i) work.push(base::Payload::of(1.0 * i));
          if (clock == ClockKind::virtual_time) CHECK(thread.now() == 0ms);
          return;
        }
        for (int i = 0; i < 40; ++i) observed.push_back(value_of(work.observe()));
      },
      clock);
  REQUIRE(observed.size() == 40);
  for (int i = 0; i < 40; ++i) CHECK(observed[static_cast<std::size_t>(i)] == 1.0 * i);
  CHECK(run.wan_of("work").messages == 40);
  CHECK(run.wan_of("work").bytes == 40 * sizeof(double));
  // With gateways each push crosses three connections: to the sender's gateway, to the other
  // gateway, and to the element's host.
  CHECK(run.all_of("work").messages == (has_gateways ? 120 : 40));
  // Control messages: the release of the path on each connection.
  CHECK(run.all_of("work").control == (has_gateways ? 3 : 1));
}

TEST_CASE("push: a move costs two frames over the link and a push costs one") {
  const Sim sim(config(false));
  const SimResult run = sim.run_well([&](paths::Thread& thread) {
    if (!is_at_beta(thread)) return;
    for (int i = 0; i < 10; ++i) thread.path("work").move_value(1.0);
    thread.path("work").push(base::Payload::of(2.0));
  });
  CHECK(run.wan_of("work").messages == 21);
}

TEST_CASE("push: pushes beyond the window arrive in order because credits return") {
  const ClockKind clock = GENERATE(ClockKind::virtual_time, ClockKind::steady);
  const Sim sim(config(false));
  constexpr int count = 2000;
  std::vector<double> observed;
  sim.run_well(
      [&](paths::Thread& thread) {
        paths::Path& work = thread.path("work");
        if (is_at_beta(thread)) {
          for (int i = 0; i < count; ++i) work.push(base::Payload::of(1.0 * i));
          return;
        }
        do {
          observed.push_back(value_of(work.observe()));
        } while (observed.back() < count - 1);
      },
      clock);
  CHECK(std::is_sorted(observed.begin(), observed.end()));
  CHECK(observed.back() == count - 1);
}

TEST_CASE("send: everything that is sent arrives in order even if the link takes little at once") {
  const ClockKind clock = GENERATE(ClockKind::virtual_time, ClockKind::steady);
  const Sim sim(config(false));
  constexpr int count = 2000;
  std::vector<double> observed;
  sim.run_well(
      [&](paths::Thread& thread) {
        paths::Path& work = thread.path("work");
        if (is_at_beta(thread)) {
          for (int i = 0; i < count; ++i) work.send(base::Payload::of(1.0 * i));
          if (clock == ClockKind::virtual_time) CHECK(thread.now() == 0ms);
          return;
        }
        for (int i = 0; i < count; ++i) observed.push_back(value_of(work.observe()));
      },
      clock);
  REQUIRE(observed.size() == count);
  for (int i = 0; i < count; ++i) CHECK(observed[static_cast<std::size_t>(i)] == 1.0 * i);
}

TEST_CASE("path: more requests may wait for each other than a connection has credits") {
  // All contributors of a round wait in the join on the other host. The contributors share one
  // connection.
  const int threads = paths::CreditWindow::size + 50;
  const Sim sim(fmt::format(R"(
network: {{connection: shared}}
hosts:
  here: {{threads: {0}}}
  there: {{threads: 0}}
elements: {{sum: {{host: there, template: f64, keep_newest: 1}}}}
wrappers: {{all: {{kind: allreduce, host: there, operation: sum, template: f64}}}}
paths:
  - {{graph: sum, host: here, threads: 0-{1},
     through: [{{forward: {{to: there}}}}, all, {{store: {{element: sum}}}}]}}
)",
                            threads, threads - 1));
  sim.run_well([&](paths::Thread& thread) {
    for (int round = 0; round < 3; ++round)
      CHECK(thread.path("sum").move_value(1.0).payload.read<double>() == threads);
  });
}
