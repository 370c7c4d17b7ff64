// SPDX-License-Identifier: Apache-2.0
// tests/groups/planned_test.cpp — allgathers of groups by plans.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/usage_error.hpp"
#include "groups/choice.hpp"
#include "groups/group.hpp"
#include "groups/network_of.hpp"
#include "tests/support/sim.hpp"

namespace {

using test_support::Sim;
using namespace std::chrono_literals;

/// Two sites and a third one that is near the second; a stream each for so many messages.
std::string sites(int streams) {
  return fmt::format(R"(
clusters:
  a: {{hosts: 3, uplink: switch, network: {{latency: 60us, bandwidth: 80Mbit, receiving: true}}}}
  b: {{hosts: 1, uplink: switch, network: {{latency: 70us, bandwidth: 90Mbit, receiving: true}}}}
  c: {{hosts: 2, uplink: switch, network: {{latency: 50us, bandwidth: 100Mbit, receiving: true}}}}
links:
  - {{between: [a, b], latency: 50ms, stream_rate: 1Mbit, streams: {0}}}
  - {{between: [a, c], latency: 52ms, stream_rate: 1.2Mbit, streams: {0}}}
  - {{between: [b, c], latency: 10ms, stream_rate: 9Mbit, streams: {0}}}
lanes: {{frame: unlimited}}
)",
                     streams);
}

constexpr base::Nanos begin = 100ms;
constexpr std::size_t words = 4096;

/// How long all threads take, who give their ranks; values that come are looked at.
base::Nanos time_of(const Sim& sim, const std::string& algorithm) {
  base::Nanos end{0};
  std::uint64_t wrong = 0;
  const auto result = sim.run([&](paths::Thread& thread) {
    groups::Group world(thread);
    const std::vector<std::uint64_t> mine(words, world.rank());
    std::vector<std::uint64_t> all(words * world.size());
    thread.sleep_for(begin - thread.now());
    world.run(groups::by(algorithm, groups::allgather(mine, all)));
    end = std::max(end, thread.now());
    for (std::size_t word = 0; word < all.size(); ++word) wrong += all[word] != word / words;
  });
  CHECK(result.failures == std::vector<std::string>());
  CHECK(result.broke == "");
  CHECK(wrong == 0);
  return end - begin;
}

/// What the plan that a group takes says of itself.
base::Nanos predicted(const Sim& sim, const std::string& algorithm) {
  groups::Choices choices(sim.plan(), groups::participants_of(sim.plan()));
  groups::Question question;
  question.collective = collectives::Collective::allgather;
  question.counts = collectives::Counts::each(words, choices.hosts().size());
  question.element_bytes = 8;
  question.algorithm = algorithm;
  const auto choice = choices.answer(question);
  REQUIRE(choice->planned);
  return choice->planned->time;
}

}  // namespace

TEST_CASE("planned groups: hosts keep to the plan, and take what it says") {
  for (const int streams : {1, 2, 8})
    for (const std::string algorithm :
         {"min3", "min3:pools=bandwidth", "min3_plus", "mateescu", "clustered_sa"}) {
      const Sim sim(sites(streams));
      const double time = static_cast<double>(time_of(sim, algorithm).count());
      const double plan = static_cast<double>(predicted(sim, algorithm).count());
      INFO(algorithm << " with " << streams << " streams: " << time << " ns, planned " << plan);
      CHECK(std::abs(time / plan - 1) < 0.03);
    }
}

TEST_CASE("planned groups: what no plan is for is refused, with the reason") {
  const Sim sim(sites(2));
  std::vector<std::string> refused;
  sim.run([&](paths::Thread& thread) {
    groups::Group world(thread);
    const std::vector<std::uint64_t> in(6);
    std::vector<std::uint64_t> out(36);
    for (const std::string algorithm :
         {"min3", "min3:streams=2", "min3:pool=declared", "min3:ports=half"}) {
      try {
        if (algorithm == "min3")
          world.run(groups::by(algorithm, groups::alltoall(in, std::span(out).first(6))));
        else
          world.run(groups::by(algorithm, groups::allgather(in, out)));
      } catch (const base::UsageError& error) {
        if (world.rank() == 0) refused.emplace_back(error.what());
      }
    }
  });
  REQUIRE(refused.size() == 4);
  CHECK_THAT(refused[0], Catch::Contains("min3 plans allgathers, and that is alltoall"));
  CHECK_THAT(refused[1], Catch::Contains("expected streams=1") && Catch::Contains("striping: 1"));
  CHECK_THAT(refused[2], Catch::Contains("pool"));
  CHECK_THAT(refused[3], Catch::Contains("can be priced, not run"));
}

TEST_CASE("planned groups: whose limits are in bytes is told how many an element has") {
  const Sim sim(sites(2));
  groups::Choices choices(sim.plan(), groups::participants_of(sim.plan()));
  groups::Question question;
  question.collective = collectives::Collective::allgather;
  question.counts = collectives::Counts::each(words, choices.hosts().size());
  question.element_bytes = 8;
  question.algorithm = "mpich";
  CHECK(choices.answer(question)->text() == "mpich:element=8");
  question.algorithm = "mpich:element=2";
  CHECK(choices.answer(question)->text() == "mpich:element=2");
}
