// SPDX-License-Identifier: Apache-2.0
// tests/paths/host_test.cpp — deadlines, deadlocks, threads that throw, hosts with different
// configs.
#include "paths/host/host.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "paths/wire/local/transport.hpp"
#include "tests/support/mortal_hosts.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

std::string config(const std::string& algorithm, const std::string& more = "") {
  return fmt::format(R"(
{1}
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: 1, threads: 2, gateway: beta-gate}}
links: [{{between: [alpha, beta], latency: 10ms}}]
collectives:
  sum: {{operation: sum, template: f64, algorithm: {0}, condition: {{greater: 1000}},
        contributions: non_negative}}
)",
                     algorithm, more);
}

using Outcomes = std::map<std::uint32_t, std::vector<RoundOutcome>>;

bool names(const RoundOutcome& outcome, const std::string& text) {
  return outcome.is_error && outcome.error.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "deadline: an error at a written deadline names the missing contributor to all at that time") {
  const Sim sim(config("sequential", "deadline: 2s"));
  Outcomes outcomes;
  sim.run_well([&](paths::Thread& thread) {
    if (thread.rank() == 1) {  // alpha-0/1 contributes long after the deadline
      thread.sleep_for(30s);
      return;
    }
    outcomes[thread.rank()].push_back(contribute(thread, "sum", 1));
  });
  REQUIRE(outcomes.size() == 5);
  // The join of host alpha-0 passes the failure down to the cluster's join. There the contribution
  // of alpha-1 has waited since 0 s.
  CHECK(names(outcomes[0][0], "round 0: missing at the deadline: thread alpha-0/1"));
  CHECK(outcomes[0][0].at == 2s);
  for (const std::uint32_t rank : {2u, 3u, 4u, 5u}) {
    INFO("rank " << rank << ": " << outcomes[rank][0].error);
    CHECK(names(outcomes[rank][0], "missing at the deadline: thread alpha-0/1"));
    const bool is_beta = rank >= 4;  // threads of beta get the error over the link
    CHECK(outcomes[rank][0].at == (is_beta ? 2s + 10ms : 2s));
  }
}

TEST_CASE("deadline: a host that ends first lets its last pushes through beyond the deadline") {
  const std::string gateway = GENERATE("", ", gateway: gate");
  INFO(gateway);
  const Sim sim(fmt::format(R"(
deadline: 1s
clusters:
  alpha: {{hosts: 1, threads: 1}}
  beta: {{hosts: 1, threads: 1{}}}
links: [{{between: [alpha, beta], latency: 10ms, bandwidth: 1Mbit}}]
elements:
  log: {{host: alpha-0, template: "f64[10000]", reach: all}}
)",
                            gateway));
  constexpr int tuples = 6;  // number of tuples, each of which occupies the link for 640 ms
  runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time, .stack_bytes = 64 * 1024});
  paths::LocalNetwork network(sim.plan().hosts.size());
  std::vector<std::string> wrong;
  int observed = 0;
  const auto use_log = [&](paths::Host& host) {
    if (sim.plan().hosts[host.index()].threads == 0) return;
    paths::Thread thread(host.deployment(), 0, 1);
    for (int i = 0; i < tuples; ++i) {
      if (thread.rank() == 1) {
        thread.path("log").send(base::Payload::copy_of(std::vector<std::byte>(10000 * sizeof 1.0)));
      } else {
        thread.path("log").observe();
        ++observed;
      }
    }
  };
  runtime.run([&] {
    const auto transport = [&](std::uint32_t host) { return network.transport(host); };
    wrong = run_hosts(runtime, sim, transport, use_log);
  });
  CHECK(observed == tuples);
  CHECK(wrong == std::vector<std::string>(sim.plan().hosts.size()));
}

TEST_CASE("deadline: a missing contributor is named in its cluster first and then everywhere") {
  const std::string algorithm = GENERATE("magpie", "conditional");
  const Sim sim(config(algorithm, "deadline: 2s"));
  Outcomes outcomes;
  sim.run_well([&](paths::Thread& thread) {
    if (thread.rank() == 5) {  // thread beta-0/1
      thread.sleep_for(30s);
      return;
    }
    outcomes[thread.rank()].push_back(contribute(thread, "sum", 1));
  });
  REQUIRE(outcomes.size() == 5);
  CHECK(names(outcomes[4][0], "round 0: missing at the deadline: thread beta-0/1"));
  CHECK(outcomes[4][0].at == 2s);
  for (const std::uint32_t rank : {0u, 1u, 2u, 3u}) {
    INFO("rank " << rank << ": " << outcomes[rank][0].error);
    CHECK(outcomes[rank][0].at > 2s);  // beta-0 fails at 2 s and sends its error over the link
    CHECK(outcomes[rank][0].at <= 3s);
    CHECK(names(outcomes[rank][0], "missing at the deadline: thread beta-0/1"));
  }
}

TEST_CASE("deadline: without a written one a deadlock reports all waits") {
  const std::string algorithm = GENERATE("sequential", "magpie", "conditional");
  INFO(algorithm);
  const Sim sim(config(algorithm) +
                "elements: {never: {host: alpha-0, template: f64, reach: all}}\n");
  const SimResult run = sim.run([&](paths::Thread& thread) {
    if (thread.rank() == 5) thread.path("never").observe();
    thread.path("sum").move_value(1.0);
  });
  INFO(run.broke);
  CHECK_THAT(run.broke, Catch::Contains("thread alpha-0/0") && Catch::Contains("thread beta-0/1"));
  CHECK_THAT(run.broke, Catch::Contains("contributions of round") && Catch::Contains("never"));
}

TEST_CASE("thread: an exception of a thread is an error for all waiters and names the thread") {
  const std::string algorithm = GENERATE("sequential", "magpie", "conditional");
  const std::uint32_t bad = GENERATE(0u, 1u, 3u, 4u);
  INFO(algorithm << ", rank " << bad);
  const Sim sim(config(algorithm));
  Outcomes outcomes;
  std::string name;
  const SimResult run = sim.run([&](paths::Thread& thread) {
    for (int round = 0; round < 4; ++round) {
      if (thread.rank() == bad && round == 2) {
        name = fmt::format("thread {}/{}", thread.host().name(), thread.index());
        throw std::runtime_error("the application's own fault");
      }
      outcomes[thread.rank()].push_back(contribute(thread, "sum", 1));
    }
  });
  CHECK(run.broke == "");
  REQUIRE(run.failures.size() == 1);
  CHECK(run.failures[0] == name + ": the application's own fault");
  for (const auto& [rank, of_thread] : outcomes) {
    if (rank == bad) continue;
    INFO("rank " << rank);
    CHECK(of_thread[0].value == 6);
    CHECK(of_thread[1].value == 6);
    CHECK(names(of_thread[2], name + " failed: the application's own fault"));
    CHECK(of_thread[3].is_error);
  }
}

TEST_CASE("thread: an exception after a thread released its paths affects no other thread") {
  const Sim sim(config("sequential"));
  const SimResult run = sim.run([&](paths::Thread& thread) {
    thread.path("sum").move_value(1.0);
    thread.path("sum").release();
    if (thread.rank() == 2) throw std::runtime_error("too late to matter");
  });
  CHECK(run.broke == "");
  CHECK(run.failures == std::vector<std::string>{"thread alpha-1/0: too late to matter"});
}

TEST_CASE(
    "thread: failures before a deadlock are reported before it and failures due to it are not") {
  const Sim sim(R"(
clusters: {alpha: {hosts: 2, threads: 1}}
elements: {work: {host: alpha-0, template: f64, reach: all}}
)");
  const SimResult run = sim.run([&](paths::Thread& thread) {
    if (thread.rank() == 1) thread.path("work").move_value(std::int32_t{1});
    thread.path("work").observe();  // waits for the tuple that rank 1 fails to move
  });
  CHECK(run.broke == "");
  REQUIRE(run.failures.size() == 2);
  CHECK_THAT(run.failures[0],
             Catch::StartsWith("thread alpha-1/0") && Catch::Contains("values of type i32"));
  CHECK_THAT(run.failures[1], Catch::StartsWith("deadlock at"));
}

TEST_CASE("thread: a thread that ends early fails the rounds of the others with its name") {
  const std::string algorithm = GENERATE("sequential", "magpie", "conditional");
  INFO(algorithm);
  const Sim sim(config(algorithm));
  const SimResult run = sim.run([&](paths::Thread& thread) {
    for (int round = 0; round < (thread.rank() == 3 ? 1 : 3); ++round)
      thread.path("sum").move_value(1.0);
  });
  CHECK(run.broke == "");
  REQUIRE(run.failures.size() == 5);
  for (const std::string& failure : run.failures)
    CHECK_THAT(failure, Catch::Contains("alpha-1/1 released its path before"));
}

TEST_CASE("host: a busy thread of another host is awaited beyond the deadline") {
  // beta-gate has no threads, so it only serves other hosts.
  const std::string algorithm = GENERATE("sequential", "magpie");
  const Sim sim(config(algorithm, "deadline: 2s"));
  sim.run_well([&](paths::Thread& thread) {
    thread.sleep_for(10s);
    CHECK(thread.path("sum").move_value(1.0).payload.read<double>() == 6);
    if (thread.cluster() == "beta") thread.sleep_for(10s);
  });
}

TEST_CASE("host: the error of a host with another config names its config and the other host") {
  const Sim ours(config("sequential"));
  const Sim theirs(config("sequential", "deadline: 3s"));
  REQUIRE_FALSE(ours.plan().digest == theirs.plan().digest);
  runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time, .stack_bytes = 64 * 1024});
  paths::LocalNetwork network(ours.plan().hosts.size());
  std::vector<std::unique_ptr<paths::Host>> hosts;
  std::string error;
  runtime.run([&] {
    for (std::uint32_t host = 0; host < ours.plan().hosts.size(); ++host) {
      const Sim& sim = host == 0 ? ours : theirs;
      hosts.push_back(std::make_unique<paths::Host>(runtime, sim.shared_plan(), host, sim.kinds(),
                                                    network.transport(host)));
      hosts.back()->start();
    }
    const std::uint32_t path = hosts[1]->deployment().instance().paths().front();
    paths::Owner owner(hosts[1]->deployment(), 0);
    paths::Path theirs_to_us(hosts[1]->deployment(), path, 0, owner);
    auto other = runtime.spawn(runtime::ContextRole::thread, {"thread", "alpha-1"}, [&] {
      paths::Owner other_owner(hosts[1]->deployment(), 1);
      paths::Path beside_it(hosts[1]->deployment(), path, 1, other_owner);
      thrown<paths::TravelError>([&] { beside_it.move_value(1.0); });
    });
    error = thrown<paths::TravelError>([&] { theirs_to_us.move_value(1.0); });
    other.join();
  });
  CHECK_THAT(error, Catch::Contains(theirs.plan().digest.text()) &&
                        !Catch::Contains(ours.plan().digest.text()) &&
                        Catch::Contains("host alpha-0 refused: plan"));
}
