// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/forward_test.cpp — paths that cross hosts, with and without emulated links.
#include "wrappers/forward.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "tests/support/sim.hpp"
#include "tests/support/thrown.hpp"

namespace {

using base::Payload;
using namespace std::chrono_literals;
using namespace test_support;

/// Returns a program in which alpha-0 has the element `work`. Operations of beta-0 take 3 ms to the
/// element, and their results 7 ms back. The thread of alpha-0 reaches the element without delay.
/// The wrapper of each direction of the link runs on the host that sends in this direction.
Sim two_clusters(const std::string& element_options = "") {
  return Sim(fmt::format(
      "hosts:\n"
      "  alpha-0: {{cluster: alpha, threads: 1}}\n"
      "  beta-0: {{cluster: beta, threads: 2}}\n"
      "elements:\n"
      "  work: {{host: alpha-0, template: u64{0}}}\n"
      "wrappers:\n"
      "  there: {{kind: emulate_link, host: beta-0, latency: 3ms}}\n"
      "  back: {{kind: emulate_link, host: alpha-0, latency: 7ms}}\n"
      "paths:\n"
      "  - {{graph: work, host: alpha-0, threads: 0, through: [store: {{element: work}}]}}\n"
      "  - {{graph: work, host: beta-0, threads: 0-1,\n"
      "     through: [there: down, forward: {{to: alpha-0}}, back: up,\n"
      "               store: {{element: work}}]}}\n",
      element_options));
}

/// Runs two_clusters(). Returns the number of messages that each host sent to the other cluster.
std::map<std::string, std::uint64_t> messages_of(
    const std::function<void(paths::Thread&)>& thread) {
  const auto report = two_clusters().run_well(thread);
  std::map<std::string, std::uint64_t> messages;
  for (const auto& [host, traffic] : report.wan.at("work")) messages[host] = traffic.messages;
  return messages;
}

std::uint64_t value(const pastset::Stored& stored) { return stored.payload.read<std::uint64_t>(); }

}  // namespace

TEST_CASE("forward: every operation of an element crosses and its result returns") {
  two_clusters().run_well([](paths::Thread& thread) {
    if (thread.rank() != 1) return;
    paths::Path& work = thread.path("work");
    work.enter(*pastset::Template::parse("u64"));
    for (std::uint64_t i = 0; i < 3; ++i) {
      const paths::Result moved = work.move_value(10 + i);
      CHECK(moved.number == i);
      CHECK(moved.payload.read<std::uint64_t>() == 10 + i);
    }
    CHECK(work.first() == 0);
    CHECK(work.last() == 3);
    CHECK(value(work.observe()) == 10);
    CHECK(work.first() == 1);
    CHECK(value(work.observe(2)) == 12);
    CHECK(work.newest(0).number == 2);
    work.set_delta(9);
    CHECK(work.delta() == 9);
    work.axe(0);
    const auto expired = thrown<paths::TravelError>([&] { work.observe(0); });
    CHECK_THAT(expired, Catch::Contains("tuple 0 is gone"));
    CHECK_THAT(expired, Catch::Contains("alpha-0"));
    work.delete_element();
    const auto deleted = thrown<paths::TravelError>([&] { work.first(); });
    CHECK_THAT(deleted, Catch::Contains("element 'work' was deleted"));
    CHECK(thread.now() == 16 * 10ms);  // 16 operations, of 3 ms + 7 ms each
  });
}

TEST_CASE("forward: an operation that blocks on the other host does not delay other threads") {
  two_clusters().run_well([](paths::Thread& thread) {
    paths::Path& work = thread.path("work");
    if (thread.rank() == 0) {
      thread.sleep_for(50ms);
      work.move_value(std::uint64_t{10});
    } else if (thread.rank() == 1) {
      CHECK(value(work.observe()) == 10);
      CHECK(thread.now() == 57ms);
    } else {
      CHECK(work.last() == 0);
      CHECK(thread.now() == 10ms);
    }
  });
}

TEST_CASE("forward: delta also blocks moves from other hosts") {
  two_clusters(", delta: 1").run_well([](paths::Thread& thread) {
    paths::Path& work = thread.path("work");
    if (thread.rank() == 0) {
      thread.sleep_for(50ms);
      CHECK(value(work.observe()) == 10);
    } else if (thread.rank() == 1) {
      work.move_value(std::uint64_t{10});
      CHECK(thread.now() == 10ms);
      // The move arrives at 13 ms, and the element has room at 50 ms.
      work.move_value(std::uint64_t{11});
      CHECK(thread.now() == 57ms);
    }
  });
}

TEST_CASE("forward: a call is one message each way and a push is one message") {
  const auto calls = messages_of([](paths::Thread& thread) {
    if (thread.rank() == 0) return;
    for (std::uint64_t i = 0; i < 10; ++i) thread.path("work").move_value(i);
  });
  CHECK(calls == std::map<std::string, std::uint64_t>{{"alpha-0", 20}, {"beta-0", 20}});
  const auto pushes = messages_of([](paths::Thread& thread) {
    if (thread.rank() == 0) return;
    for (std::uint64_t i = 0; i < 10; ++i) thread.path("work").push(Payload::of(i));
    CHECK(thread.now() == 0ms);
  });
  CHECK(pushes == std::map<std::string, std::uint64_t>{{"alpha-0", 0}, {"beta-0", 20}});
}

TEST_CASE("forward: all pushes arrive in order after their thread has ended") {
  two_clusters().run_well([](paths::Thread& thread) {
    paths::Path& work = thread.path("work");
    if (thread.rank() == 1) {
      for (std::uint64_t i = 0; i < 100; ++i) work.push(Payload::of(i));
    }
    if (thread.rank() != 0) return;
    for (std::uint64_t i = 0; i < 100; ++i) CHECK(value(work.observe()) == i);
    CHECK(thread.now() == 3ms);
  });
}

TEST_CASE("forward: its host must exist and be another one") {
  const auto mistakes = [](const std::string& to) {
    const std::string config = fmt::format(
        "hosts:\n"
        "  alpha-0: {{threads: 1}}\n"
        "  beta-0: {{}}\n"
        "elements: {{work: {{host: beta-0, template: u64}}}}\n"
        "paths:\n"
        "  - {{graph: work, host: alpha-0, threads: 0,\n"
        "     through: [forward: {{to: {}}}, store: {{element: work}}]}}\n",
        to);
    return thrown<base::ConfigError>([&] { Sim sim(config); });
  };
  CHECK(mistakes("beta-0") == "nothing");
  CHECK_THAT(mistakes("bata-0"),
             Catch::Contains("test:7:30: to: expected the name of a host, found 'bata-0'; did you "
                             "mean 'beta-0'?"));
  CHECK_THAT(mistakes("alpha-0"), Catch::Contains("to: expected another host, found 'alpha-0'"));
}

TEST_CASE("store and observe: their element must be on their own host") {
  const auto mistakes = [](const std::string& end) {
    const std::string config = fmt::format(
        "hosts:\n"
        "  alpha-0: {{threads: 1}}\n"
        "  beta-0: {{}}\n"
        "elements:\n"
        "  work: {{host: alpha-0, template: u64}}\n"
        "  other: {{host: beta-0, template: u64}}\n"
        "paths:\n"
        "  - {{graph: work, host: alpha-0, threads: 0, through: [{}]}}\n",
        end);
    return thrown<base::ConfigError>([&] { Sim sim(config); });
  };
  for (const std::string kind : {"store", "observe"}) {
    CHECK(mistakes(kind + ": {element: work}") == "nothing");
    CHECK_THAT(mistakes(kind + ": {element: wrok}"),
               Catch::Contains("element: expected an element of host 'alpha-0', found 'wrok'; did "
                               "you mean 'work'?"));
    CHECK_THAT(mistakes(kind + ": {element: other}"),
               Catch::Contains("found 'other', which is on host 'beta-0'"));
    CHECK_THAT(mistakes(kind + ": {}"), Catch::Contains("element: missing"));
  }
}
