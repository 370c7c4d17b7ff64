// SPDX-License-Identifier: Apache-2.0
// tests/paths/deployment_test.cpp — further plans on the hosts of a run, which are deployed and
// ended during the run.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/usage_error.hpp"
#include "paths/host/host.hpp"
#include "tests/support/deployment_scene.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace std::chrono_literals;
using namespace test_support;

std::shared_ptr<const paths::Plan> plan_of(const std::set<std::uint32_t>& hosts,
                                           const std::string& more = "") {
  return Sim(config_of(hosts, more)).shared_plan();
}

/// Makes a deployment on this thread's host, uses it for some rounds and ends it. Returns the last
/// sum.
double use(paths::Thread& thread, const std::string& label,
           const std::shared_ptr<const paths::Plan>& plan, int rounds = 3) {
  const auto deployment = thread.host().deploy(label, plan);
  double sum = 0;
  {
    paths::Thread member(*deployment, 0, 1);
    for (int round = 0; round < rounds; ++round)
      sum = member.path("sum").move_value(double(thread.rank())).payload.read<double>();
  }
  const std::string wrong = deployment->finish();
  if (!wrong.empty()) throw std::runtime_error(wrong);
  return sum;
}

/// Throws if the values differ. Catch2 must not be called by several OS threads at the same time.
void expect(double found, double expected) {
  if (found != expected)
    throw std::runtime_error(fmt::format("found {}, expected {}", found, expected));
}

std::size_t elements_of(paths::Thread& thread) { return thread.host().space().names().size(); }

constexpr auto clocks = {runtime::ClockKind::virtual_time, runtime::ClockKind::steady};

}  // namespace

TEST_CASE(
    "deployment: hosts deploy and use and end a further plan while their own paths continue") {
  for (const auto clock : clocks) {
    const Sim sim(config_of(first_hosts(4)));
    const auto some = plan_of({1, 3});
    sim.run_well(
        [&](paths::Thread& thread) {
          auto& path = thread.path("sum");
          expect(path.move_value(1.0).payload.read<double>(), 4);
          if (thread.rank() % 2 == 1)
            for (int again = 0; again < 3; ++again) expect(use(thread, "odd", some), 4);
          expect(path.move_value(1.0).payload.read<double>(), 4);
          // The elements of the deployment are gone. The element of the config's plan remains.
          expect(elements_of(thread) > 1, false);
        },
        clock);
  }
}

TEST_CASE("deployment: its elements are in the host's space under its label until it ends") {
  const Sim sim(config_of(first_hosts(2)));
  const auto plan = plan_of({0, 1});
  std::set<std::string> seen;
  sim.run_well([&](paths::Thread& thread) {
    const auto deployment = thread.host().deploy("again", plan);
    for (const auto& name : thread.host().space().names()) seen.insert(name);
    for (const auto& element : plan->elements)
      if (element.host == deployment->index()) CHECK(deployment->element(element.name) != nullptr);
    { paths::Thread member(*deployment, 0, 1); }
    deployment->finish();
    for (const auto& name : thread.host().space().names())
      CHECK(name.find('/') == std::string::npos);
    CHECK_THROWS_AS(deployment->finish(), base::UsageError);
  });
  for (const auto& element : plan->elements) CHECK(seen.contains("again/" + element.name));
}

TEST_CASE("deployment: a host that skips a call fails it for its peers and a later call succeeds") {
  const Sim sim(config_of(first_hosts(2)));
  const auto plan = plan_of({0, 1});
  for (const std::uint32_t skips : {0u, 1u}) {
    std::string failure;
    sim.run_well([&](paths::Thread& thread) {
      if (thread.rank() != skips)
        failure = thrown<paths::TravelError>([&] { use(thread, "both", plan); });
      else
        thread.sleep_for(3s);
      // A host that only connects learns the number of the next deployment in its first call.
      double sum = 0;
      for (int tries = 0; tries < 2 && sum == 0; ++tries)
        thrown<paths::TravelError>([&] { sum = use(thread, "both", plan); });
      CHECK(sum == 1);
    });
    CHECK_THAT(failure, Catch::Contains(fmt::format("host h{}", skips)) &&
                            Catch::Contains("did not connect within 2s"));
  }
}

TEST_CASE(
    "deployment: unequal plans under one label fail both sides, with both plans on the side that "
    "refuses") {
  const Sim sim(config_of(first_hosts(2)));
  const auto one = plan_of({0, 1}), other = plan_of({0, 1}, "stack: 1MiB\n");
  REQUIRE_FALSE(one->digest == other->digest);
  std::vector<std::string> failures(2);
  sim.run_well([&](paths::Thread& thread) {
    failures[thread.rank()] =
        thrown<paths::TravelError>([&] { use(thread, "both", thread.rank() == 0 ? one : other); });
    CHECK(use(thread, "both", one) == 1);
  });
  CHECK_THAT(failures[0],
             Catch::Contains(one->digest.text()) && Catch::Contains(other->digest.text()));
  CHECK_THAT(failures[1],
             Catch::Contains(other->digest.text()) && Catch::Contains("host h0 refused: plan"));
}

TEST_CASE("deployment: a watcher of one that could not be made learns that it has ended") {
  struct Watcher final : paths::DeploymentWatcher {
    std::vector<std::string> calls;
    void made(paths::Deployment&) override { calls.emplace_back("made"); }
    void wired(paths::Deployment&) override { calls.emplace_back("wired"); }
    void ended(paths::Deployment&) noexcept override { calls.emplace_back("ended"); }
  };
  const Sim sim(config_of(first_hosts(1)));
  auto wrong = std::make_shared<paths::Plan>(*plan_of({0}));
  for (auto& wrapper : wrong->wrappers)
    wrapper.settings = base::parse_settings("{no_such_setting: 1}", "plan");
  sim.run_well([&](paths::Thread& thread) {
    Watcher watcher;
    thread.host().watch_deployments(&watcher);
    CHECK_THROWS_AS(thread.host().deploy("wrong", wrong), base::ConfigError);
    CHECK(watcher.calls == std::vector<std::string>{"made", "ended"});
    thread.host().watch_deployments(nullptr);
    thread.path("sum").move_value(1.0);
  });
}

TEST_CASE("deployment: a wrapper that throws a number while it is made leaves the label free") {
  paths::WrapperKind kind;
  kind.name = "number_thrower";
  kind.read = [](base::MapReader&, const paths::WrapperPlace&) -> paths::MakeWrapper {
    return [](paths::Deployment&) -> std::unique_ptr<paths::Wrapper> { throw 7; };
  };
  const Sim sim(config_of(first_hosts(1)), {}, {kind});
  const auto right = plan_of({0});
  auto wrong = std::make_shared<paths::Plan>(*right);
  for (auto& wrapper : wrong->wrappers) {
    wrapper.kind = kind.name;
    wrapper.settings = base::parse_settings("{}", "plan");
  }
  sim.run_well([&](paths::Thread& thread) {
    CHECK_THROWS_AS(thread.host().deploy("label", wrong), int);
    CHECK(use(thread, "label", right) == 0);
  });
}

TEST_CASE("deployment: misuse throws a usage error and the run continues") {
  const Sim sim(config_of(first_hosts(2)));
  const auto both = plan_of({0, 1});
  sim.run_well([&](paths::Thread& thread) {
    paths::Host& host = thread.host();
    CHECK_THAT(thrown<base::UsageError>([&] { host.deploy("", both); }),
               Catch::Contains("a label has 1 to 255 letters"));
    CHECK_THAT(thrown<base::UsageError>([&] { host.deploy("a/b", both); }),
               Catch::Contains("'a/b'"));
    CHECK_THAT(thrown<base::UsageError>([&] {
                 host.deploy("more", plan_of({0, 1, 7}));
               }),
               Catch::Contains("hosts that the run does not have: h7"));
    CHECK_THAT(
        thrown<base::UsageError>([&] { host.deploy("more", plan_of({1u - thread.rank()})); }),
        Catch::Contains("no part for host " + host.name()));
    const auto deployment = host.deploy("used", both);
    CHECK_THAT(thrown<base::UsageError>([&] { host.deploy("used", both); }),
               Catch::Contains("'used' is in use here"));
    { paths::Thread member(*deployment, 0, 1); }
    deployment->finish();
    CHECK(thread.path("sum").move_value(1.0).payload.read<double>() == 2);
  });
}

TEST_CASE(
    "deployment: a deployment that a host leaves behind when it ends is lost with that host") {
  const Sim sim(config_of(first_hosts(2)));
  const auto both = plan_of({0, 1});
  std::string failure;
  const SimResult result = sim.run([&](paths::Thread& thread) {
    const auto deployment = thread.host().deploy("left", both);
    thread.path("sum").move_value(1.0);  // after this round both hosts have made the deployment
    if (thread.rank() == 1) return;
    paths::Thread member(*deployment, 0, 1);
    failure = thrown<paths::TravelError>([&] { member.path("sum").move_value(1.0); });
  });
  CHECK_THAT(failure, Catch::Contains("ended without ending deployment 'left'"));
  CHECK(result.broke == "");
}

TEST_CASE(
    "deployment: a hundred deployments on changing hosts work with some failed and some skipped") {
  for (const auto clock : clocks) {
    constexpr std::uint32_t host_count = 12, deployments = 100;
    const Sim sim(config_of(first_hosts(host_count), "", "600s"));
    const bool is_virtual = clock == runtime::ClockKind::virtual_time;
    const auto all =
        many_deployments(deployments, host_count, is_virtual ? 5 : 25, is_virtual ? "2s" : "300ms");
    runtime::Mutex mutex;
    std::uint32_t worked = 0, failed = 0;
    sim.run_well(
        [&](paths::Thread& thread) {
          for (const PlannedDeployment& one : all) {
            thread.path("sum").move_value(1.0);
            if (!one.hosts.contains(thread.rank()) || one.skips == thread.rank()) continue;
            const bool has_worked = take_part(thread, one);
            const runtime::Lock lock(mutex);
            ++(has_worked ? worked : failed);
          }
          expect(elements_of(thread) > 1, false);
          expect(thread.path("sum").move_value(1.0).payload.read<double>(), host_count);
        },
        clock);
    INFO(worked << " worked, " << failed << " failed");
    CHECK(worked > deployments);
    CHECK(failed > 0);
  }
}
