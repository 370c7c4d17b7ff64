// SPDX-License-Identifier: Apache-2.0
// tests/groups/planned_test.cpp — allgathers of groups by plans, from planners or from files.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/usage_error.hpp"
#include "collectives/planner/schedule_file.hpp"
#include "groups/group.hpp"
#include "groups/selection/network_of.hpp"
#include "groups/selection/selection.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/thrown.hpp"

namespace {

using test_support::mistake_of;
using test_support::Sim;
using test_support::thrown;
using test_support::WrittenFile;
using namespace std::chrono_literals;

/// Returns the config of three sites, of which the third is near the second. Each link has
/// `streams` streams.
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

/// Returns the duration of an allgather of all threads' ranks. Checks the received values.
base::Nanos time_of(const Sim& sim, const std::string& algorithm) {
  base::Nanos end{0};
  std::uint64_t wrong = 0;
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    const std::vector<std::uint64_t> mine(words, world.rank());
    std::vector<std::uint64_t> all(words * world.size());
    thread.sleep_for(begin - thread.now());
    world.run(groups::by(algorithm, groups::allgather(mine, all)));
    end = std::max(end, thread.now());
    for (std::size_t word = 0; word < all.size(); ++word) wrong += all[word] != word / words;
  });
  CHECK(wrong == 0);
  return end - begin;
}

/// Returns the schedule that a group with a member on each host selects for the allgather.
auto selected(const Sim& sim, const std::string& algorithm) {
  groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
  groups::SelectionKey question;
  question.collective = collectives::Collective::allgather;
  question.counts = collectives::Counts::each(words, selector.hosts().size());
  question.element_bytes = 8;
  question.algorithm = algorithm;
  return selector.answer(question);
}

/// Returns the predicted time of the schedule that selected() returns.
base::Nanos predicted(const Sim& sim, const std::string& algorithm) {
  const auto choice = selected(sim, algorithm);
  REQUIRE(choice->planned);
  return choice->planned->time;
}

/// Starts an allgather with each schedule in `algorithms` on member 0. Returns the error for each
/// refused schedule, and "nothing" for each accepted schedule.
std::vector<std::string> refused(const Sim& sim, const std::vector<std::string>& algorithms) {
  std::vector<std::string> all;
  sim.run([&](paths::Thread& thread) {
    groups::Group world(thread);
    const std::vector<std::uint64_t> in(6);
    std::vector<std::uint64_t> out(36);
    for (const std::string& algorithm : algorithms) {
      const std::string told = thrown<base::UsageError>(
          [&] { world.run(groups::by(algorithm, groups::allgather(in, out))); });
      if (world.rank() == 0) all.push_back(told);
    }
  });
  REQUIRE(all.size() == algorithms.size());
  return all;
}

}  // namespace

TEST_CASE("planned groups: hosts follow the plan and take its predicted time", "[without_tsan]") {
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

TEST_CASE("planned groups: calls without a suitable plan are refused with the reason",
          "[without_tsan]") {
  const Sim sim(sites(2));
  std::string of_alltoall;
  sim.run([&](paths::Thread& thread) {
    groups::Group world(thread);
    const std::vector<std::uint64_t> in(6);
    std::vector<std::uint64_t> out(6);
    const std::string told =
        thrown<base::UsageError>([&] { world.run(groups::by("min3", groups::alltoall(in, out))); });
    if (world.rank() == 0) of_alltoall = told;
  });
  CHECK_THAT(of_alltoall, Catch::Contains("min3 plans allgathers, and that is alltoall"));
  const auto told = refused(sim, {"min3:streams=2", "min3:pool=declared", "min3:ports=half"});
  CHECK_THAT(told[0], Catch::Contains("expected streams=1") && Catch::Contains("striping: 1"));
  CHECK_THAT(told[1], Catch::Contains("pool"));
  CHECK_THAT(told[2], Catch::Contains("can be priced, not run"));
}

TEST_CASE("planned groups: a planner with limits in bytes receives the size of an element",
          "[without_tsan]") {
  const Sim sim(sites(2));
  CHECK(selected(sim, "mpich")->text() == "mpich:element=8");
  CHECK(selected(sim, "mpich:element=2")->text() == "mpich:element=2");
}

namespace {

/// Returns the config of three sites that are equally near to each other.
std::string near_sites(const std::string& last_cluster) {
  std::string text = "clusters: {a: {}, b: {}, " + last_cluster + ": {}}\nlinks:\n";
  for (const std::string from : {"a", "b", "c"})
    for (const std::string to : {"a", "b", "c"})
      if (from != to)
        text +=
            fmt::format("  - {{from: {}, to: {}, latency: 10us, bandwidth: 10Gbit}}\n", from, to);
  return text;
}

}  // namespace

TEST_CASE("planned groups: a schedule from a file runs like the one from which it was written",
          "[without_tsan]") {
  const Sim sim(sites(2));
  const std::vector<std::uint32_t> all = groups::participants_of(sim.plan());
  std::vector<std::string> names;
  for (const std::uint32_t host : all) names.push_back(sim.plan().hosts[host].name);
  const auto counts = collectives::Counts::each(words, all.size());
  for (const std::string algorithm : {"min3", "min3_plus"}) {
    const auto choice = selected(sim, algorithm);
    const WrittenFile file(planning::print(*choice->planned, {names, counts, 8}));
    CHECK(time_of(sim, "file:" + file.path()) == time_of(sim, algorithm));
  }
}

TEST_CASE("planned groups: a file for another allgather is refused with its place",
          "[without_tsan]") {
  const Sim sim(sites(2));
  const WrittenFile file("name: x\nblocks: {a-0: 4}\nschedule: ring\n");
  const auto told = refused(sim, {"file:" + file.path(), "file:/nowhere", "min_3"});
  CHECK_THAT(told[0], Catch::Contains("file.yaml:2:") && Catch::Contains("expected 48 bytes") &&
                          Catch::Contains("expected 6 hosts, found 1"));
  CHECK_THAT(told[1], Catch::Contains("/nowhere"));
  CHECK_THAT(told[2], Catch::Contains("did you mean 'min3'?"));
}

TEST_CASE("groups: operations are planned for measured links once all members have them") {
  const Sim sim(sites(2));
  const WrittenFile file(near_sites("c"));
  const tuning::MeasuredNetwork measured = tuning::load_measured_network(file.path());
  groups::Selector believed(sim.plan(), groups::participants_of(sim.plan()),
                            {.links = std::make_shared<const tuning::MeasuredNetwork>(measured)});
  for (std::size_t from = 0; from < 3; ++from)
    for (std::size_t to = 0; to < 3; ++to)
      if (from != to) CHECK(believed.network().links[3 * from + to].model.at(0ns).latency == 10us);
  groups::Selector declared(sim.plan(), believed.hosts());
  groups::SelectionKey question;
  question.collective = collectives::Collective::broadcast;
  question.counts = collectives::Counts::each(words, 1);
  question.element_bytes = 8;
  question.worst = collectives::Order::differs;
  const std::string before = declared.answer(question)->text();
  const std::string after = believed.answer(question)->text();
  REQUIRE(before != after);
  std::set<std::string> taken_before, taken_after;
  std::uint64_t wrong = 0;
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    const auto values = [&](std::uint64_t value) {
      return std::vector<std::uint64_t>(words, world.rank() == 0 ? value : 0);
    };
    std::vector<std::uint64_t> first = values(1), second = values(2), third = values(3);
    world.run(groups::broadcast(first, 0));
    taken_before.insert(world.last_algorithm());
    groups::Started under_way = world.start(groups::broadcast(second, 0));
    world.take_links(file.path(), 1);
    under_way.wait();
    world.run(groups::broadcast(third, 0));
    taken_after.insert(world.last_algorithm());
    wrong += first.back() != 1 || second.back() != 2 || third.back() != 3;
  });
  CHECK(wrong == 0);
  CHECK(taken_before == std::set{before});
  CHECK(taken_after == std::set{after});
}

TEST_CASE("groups: measured networks equal those of a config that declares them") {
  const auto config = [](const std::string& a, const std::string& b, const std::string& latency) {
    return "clusters:\n  a: {hosts: 3, gateway: {host: door, rate: 2Gbit}, network: " + a +
           "}\n  b: {hosts: 2, network: " + b +
           "}\n  idle: {hosts: 1, threads: 0}\nlinks: {all: {latency: " + latency +
           ", bandwidth: 10Gbit}}\nlanes:\n";
  };
  const Sim slow(config("{latency: 1ms, bandwidth: 1Mbit, receiving: true}",
                        "{latency: 1ms, bandwidth: 1Mbit}", "90ms"));
  const Sim fast(config("{latency: 10us, bandwidth: 5Gbit, receiving: true}",
                        "{latency: 20us, bandwidth: 4Gbit}", "7ms"));
  const WrittenFile file(R"(
clusters: {a: {latency: 10us, bandwidth: 5Gbit}, b: {latency: 20us, bandwidth: 4Gbit}}
links:
  - {from: a, to: b, latency: 7ms, bandwidth: 10Gbit}
  - {from: b, to: a, latency: 7ms, bandwidth: 10Gbit}
)");
  const tuning::MeasuredNetwork measured = tuning::load_measured_network(file.path());
  const pricing::Network found =
      groups::network_of(slow.plan(), groups::participants_of(slow.plan()), measured);
  const pricing::Network expected = groups::network_of(fast.plan());
  CHECK(found.outgoing == expected.outgoing);
  CHECK(found.receiving == expected.receiving);
  CHECK(found.exits == expected.exits);
  CHECK(found.links == expected.links);
}

TEST_CASE("groups: invalid link files are refused on every member alike and the group continues") {
  const Sim sim(sites(2));
  const WrittenFile other(near_sites("d"));
  const WrittenFile unknown([] {
    std::string text = near_sites("d");
    for (std::size_t at = 0; (at = text.find(": c,", at)) != std::string::npos;)
      text.replace(at, 4, ": d,");
    return text;
  }());
  std::map<std::string, int> refused;
  std::uint64_t sum = 0;
  sim.run([&](paths::Thread& thread) {
    groups::Group world(thread);
    for (const std::string& file : {other.path(), unknown.path(), std::string("/nowhere")}) {
      ++refused[mistake_of([&] { world.take_links(file); })];
    }
    const std::vector<std::uint64_t> one{1};
    std::vector<std::uint64_t> all(1);
    world.run(groups::allreduce(one, all, "sum"));
    sum += all.front();
  });
  CHECK(sum == 36);
  REQUIRE(refused.size() == 3);
  for (const auto& [message, times] : refused) {
    INFO(message);
    CHECK(times == 6);
    CHECK_THAT(message, Catch::Contains("group world: links to take: /"));
  }
}
