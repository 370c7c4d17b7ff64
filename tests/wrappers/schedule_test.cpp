// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/schedule_test.cpp — declared collectives that use schedules: bits of results,
// failures and mistakes.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

constexpr std::size_t size = 1000;

std::string config(const std::string& algorithm, const std::string& more = "") {
  return fmt::format(
      "clusters:\n"
      "  a: {{hosts: 3, threads: 2, network: {{latency: 50us, bandwidth: 100Mbit}}}}\n"
      "  b: {{hosts: 2, network: {{latency: 50us, bandwidth: 100Mbit}}}}\n"
      "  c: {{hosts: 1, threads: 3, gateway: gate}}\n"
      "links: {{all: {{latency: 5ms, bandwidth: 1Gbit}}}}\n"
      "collectives:\n"
      "  sum: {{operation: sum, template: \"f64[{}]\", algorithm: \"{}\"{}}}\n",
      size, algorithm, more);
}

/// Returns the results of each thread after each of three rounds.
std::vector<std::vector<double>> results_of(const std::string& algorithm) {
  const Sim sim(config(algorithm));
  std::vector<std::vector<double>> results(3 * sim.plan().thread_count());
  sim.run_well([&](paths::Thread& thread) {
    for (std::size_t round = 0; round < 3; ++round) {
      std::vector<double> mine(size), sums(size);
      for (std::size_t i = 0; i < size; ++i)
        mine[i] = 1.0 / static_cast<double>(1 + i + 7 * thread.rank() + 100 * round);
      thread.path("sum").move(base::Payload::of(std::move(mine)), std::span(sums));
      results[3 * thread.rank() + round] = sums;
    }
  });
  return results;
}

}  // namespace

TEST_CASE(
    "schedule: canonical schedules have the bits of one tree and others have equal bits at all "
    "threads") {
  const auto tree = results_of("sequential");
  for (const char* algorithm : {"best", "stretched", "stretched:stretch=100,exchange=two",
                                "clusters:segment=300", "gather_operate"}) {
    INFO(algorithm);
    CHECK(results_of(algorithm) == tree);
  }
  for (const char* algorithm : {"recursive_doubling", "multilevel:shapes=flat/binomial", "tree",
                                "rabenseifner:reduce_scatter=ring,allgather=ring"}) {
    INFO(algorithm);
    const auto results = results_of(algorithm);
    for (std::size_t one = 0; one < results.size(); ++one) {
      CHECK(results[one] == results[one % 3]);
      for (std::size_t i = 0; i < size; ++i)
        if (std::abs(results[one][i] - tree[one][i]) > 1e-12) FAIL("element " << i);
    }
  }
}

TEST_CASE(
    "schedule: a failed round fails at all threads with the reason and leaves other rounds "
    "intact") {
  const Sim sim(config("best"));
  std::vector<std::string> said(6 * sim.plan().thread_count());
  sim.run_well([&](paths::Thread& thread) {
    for (std::size_t round = 0; round < 6; ++round) {
      std::vector<double> mine(size, 1.0), sums(size);
      if (round == 3 && thread.rank() == 7) {
        thread.sleep_for(30ms);
        mine[17] = std::nan("");
      }
      try {
        thread.path("sum").move(base::Payload::of(std::move(mine)), std::span(sums));
        if (sums[17] != 11.0) said[6 * thread.rank() + round] = "wrong";
      } catch (const paths::TravelError& error) {
        said[6 * thread.rank() + round] = error.what();
      }
    }
  });
  for (std::size_t one = 0; one < said.size(); ++one) {
    INFO("thread " << one / 6 << ", round " << one % 6);
    if (one % 6 == 3)
      CHECK_THAT(said[one], Catch::Contains("NaN"));
    else
      CHECK(said[one] == "");
  }
}

TEST_CASE(
    "schedule: a round takes the predicted time of its schedule and its messages are counted") {
  const std::string text =
      "clusters: {a: {hosts: 1}, b: {hosts: 1}}\n"
      "links: {all: {latency: 10ms, bandwidth: 8Mbit}}\n"
      "lanes: {frame: unlimited}\n"
      "collectives:\n"
      "  sum: {operation: sum, template: \"f64[1000]\", algorithm: recursive_doubling}\n";
  const SimResult run = Sim(text).run_well([](paths::Thread& thread) {
    for (int round = 0; round < 5; ++round)
      thread.path("sum").move(base::Payload::of(std::vector<double>(1000, 1.0)));
    CHECK(thread.now() == 10ms + 5 * (10ms + 8ms));  // the first message waits for its grant
  });
  CHECK(run.wan_of("sum").messages == 10);
  CHECK(run.wan_of("sum").bytes == 80'000);
}

TEST_CASE("schedule: an ended thread is named in the errors of the others") {
  const Sim sim(config("stretched"));
  for (const bool throws : {false, true}) {
    std::vector<std::string> said(sim.plan().thread_count());
    const SimResult run = sim.run([&](paths::Thread& thread) {
      try {
        for (std::size_t round = 0; round < 6; ++round) {
          if (round == 3 && thread.rank() == 6) {
            if (throws) throw std::logic_error("its own fault");
            return;
          }
          thread.path("sum").move(base::Payload::of(std::vector<double>(size, 1.0)));
        }
      } catch (const paths::TravelError& error) {
        said[thread.rank()] = error.what();
      }
    });
    CHECK(run.broke == "");
    CHECK(run.failures.size() == (throws ? 1 : 0));
    for (std::size_t rank = 0; rank < said.size(); ++rank)
      if (rank != 6)
        CHECK_THAT(said[rank], Catch::Contains(throws ? "its own fault" : "host b-0 have ended"));
  }
}

TEST_CASE("schedule: errors about unknown words suggest similar ones") {
  const auto wrong = [](const std::string& algorithm, const std::string& more = "") {
    return thrown<base::ConfigError>([&] { Sim(config(algorithm, more)); });
  };
  CHECK_THAT(wrong("strechted"), Catch::Contains("did you mean 'stretched'?"));
  CHECK_THAT(wrong("pairwise"), Catch::Contains("an algorithm of allreduce"));
  CHECK_THAT(wrong("stretched:strecth=4"), Catch::Contains("stretch"));
  CHECK_THAT(wrong("best:4"), Catch::Contains("expected best, found 'best:4'"));
  CHECK_THAT(wrong("best", ", graph: tree"), Catch::Contains("found both"));
}
