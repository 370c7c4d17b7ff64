// SPDX-License-Identifier: Apache-2.0
// tests/groups/decisions_test.cpp — groups and declared collectives that take their schedules from
// a table of decisions.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>

#include "base/usage_error.hpp"
#include "groups/selection/explanation.hpp"
#include "groups/selection/network_of.hpp"
#include "paths/config/config.hpp"
#include "tests/groups/members.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/thrown.hpp"
#include "tests/support/traced_run.hpp"
#include "wrappers/all.hpp"

namespace {

using collectives::Collective;
using test_support::Sim;
using test_support::Values;

const std::string four_hosts =
    "clusters:\n"
    "  a: {hosts: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
    "  b: {hosts: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
    "links: {all: {latency: 10ms, bandwidth: 100Mbit}}\nlanes:\n";

std::string table_of(const std::string& sections) {
  std::string text = "decisions:\n  decisions: 1\n";
  for (std::size_t at = 0; at < sections.size();) {
    const std::size_t end = sections.find('\n', at) + 1;
    text += "  " + sections.substr(at, end - at);
    at = end;
  }
  return text;
}

const std::string by_size =
    "allreduce:\n"
    "  - shape: {clusters: 2, hosts: 4}\n"
    "    rows:\n"
    "      - {up_to: 64B, use: recursive_doubling}\n"
    "      - {up_to: inf, use: \"tree:shape=chain\", segment: 1KiB, pinned: true}\n";

/// Returns the name of the schedule with which a group of all threads sums arrays of `count`
/// numbers.
std::string schedule_of(const Sim& sim, std::size_t count, const std::string& named = "") {
  std::string schedule;
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    const Values in(count, world.rank());
    Values out(count);
    groups::Call call = groups::allreduce(in, out, "sum");
    world.run(named.empty() ? call : groups::by(named, call));
    CHECK(out == Values(count, std::int64_t{world.size()} * (world.size() - 1) / 2));
    if (world.rank() == 0) schedule = world.last_algorithm();
  });
  return schedule;
}

/// Runs allreduces of 8 and of 4096 numbers by the given schedules, and returns their figures. All
/// members arrive at the same time.
std::vector<eventspace::GroupReport> reports_of(const std::string& config,
                                                const std::string& named = "") {
  const test_support::TracedRun run(config, [&](paths::Thread& thread) {
    groups::Group world(thread);
    for (int time = 1; time <= 3; ++time)
      for (const std::size_t count : {8, 4096}) {
        const Values in(count, 1);
        Values out(count);
        const auto begin = std::chrono::seconds(2 * time) + std::chrono::milliseconds(count / 8);
        thread.sleep_for(begin - thread.now());
        const groups::Call call = groups::allreduce(in, out, "sum");
        world.run(named.empty() ? call : groups::by(named, call));
      }
  });
  return run.report().report.groups.operations;
}

/// Returns the key of an allreduce of `count` numbers.
groups::SelectionKey key_of(const groups::Selector& selector, std::size_t count) {
  groups::Call call;
  call.collective = Collective::allreduce;
  call.operation = "sum";
  call.scalar = base::Scalar::i64;
  return groups::key_of(call, make_spec(Collective::allreduce, selector.network().topology, count),
                        8);
}

groups::Explanation explained(const Sim& sim, std::size_t count) {
  groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
  return groups::explain(selector, key_of(selector, count));
}

}  // namespace

TEST_CASE("decisions: a group takes the schedule of the table and a named one overrides it") {
  const Sim sim(four_hosts + table_of(by_size));
  CHECK(schedule_of(sim, 8) == "recursive_doubling");
  // segment=0: the whole array is one segment.
  CHECK_THAT(schedule_of(sim, 9), Catch::Contains("segment=0,shape=chain"));
  CHECK_THAT(schedule_of(sim, 4096), Catch::Contains("segment=128,shape=chain"));
  CHECK_THAT(schedule_of(sim, 8, "clusters"), Catch::StartsWith("clusters"));
  const Sim without(four_hosts);
  CHECK(schedule_of(sim, 4096, "best") == schedule_of(without, 4096));
  CHECK(schedule_of(without, 4096, "tuned") == schedule_of(without, 4096));
}

TEST_CASE("decisions: a collective of the config takes the schedule of the table if it is tuned") {
  const std::string rows =
      "allreduce:\n"
      "  - {order: canonical, rows: [{up_to: inf, use: clusters}]}\n";
  const auto taken = [&](const std::string& algorithm) {
    const Sim sim(
        four_hosts + table_of(rows) +
        "collectives: {sum: {kind: allreduce, operation: sum, template: f64, algorithm: " +
        algorithm + "}}\n");
    sim.run_well([&](paths::Thread& thread) {
      CHECK(thread.path("sum").move(base::Payload::of(double{1})).payload.read<double>() == 4);
    });
    groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
    groups::Call call;
    call.collective = Collective::allreduce;
    call.operation = "sum";
    call.scalar = base::Scalar::f64;
    call.is_canonical = true;
    call.algorithm = algorithm;
    return selector
        .answer(groups::key_of(call,
                               make_spec(Collective::allreduce, selector.network().topology, 1), 8))
        ->reason;
  };
  CHECK(taken("tuned") == groups::Reason::tuned);
  CHECK(taken("best") == groups::Reason::priced);
}

TEST_CASE("decisions: the table is a part of the plan and of its digest") {
  const test_support::Folder folder;
  const std::string file = folder.write("decisions.yaml", "decisions: 1\n" + by_size);
  const auto plan_of = [&](const std::string& config) {
    return paths::load_plan(folder.write("config.yaml", config), wrappers::all_kinds());
  };
  const paths::Plan by_name = plan_of(four_hosts + "decisions: decisions.yaml\n");
  const paths::Plan in_place = plan_of(four_hosts + table_of(by_size));
  CHECK(by_name.digest == in_place.digest);
  CHECK(by_name.digest != plan_of(four_hosts).digest);
  std::string changed = by_size;
  changed.replace(changed.find("64B"), 3, "65B");
  CHECK(by_name.digest != plan_of(four_hosts + table_of(changed)).digest);
  CHECK_THROWS_WITH(plan_of(four_hosts + "decisions: nothing.yaml\n"),
                    Catch::Contains(":6:12: decisions: ") && Catch::Contains("nothing.yaml"));
  folder.write("decisions.yaml",
               "decisions: 1\nallreduce: [{rows: [{up_to: inf, use: nothing}]}]\n");
  CHECK_THROWS_WITH(plan_of(four_hosts + "decisions: decisions.yaml\n"),
                    Catch::Contains("decisions.yaml:2:") && Catch::Contains("nothing"));
}

TEST_CASE("decisions: a schedule that the group or its sums forbid is refused on every member") {
  const Sim sim(four_hosts + table_of("allreduce:\n"
                                      "  - rows: [{up_to: inf, use: \"rabenseifner:reduce_scatter="
                                      "ring\"}]\n"));
  std::size_t refused = 0;
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    Values in(64), out(64);
    try {
      world.run(groups::allreduce(in, out, "sum"));
    } catch (const base::UsageError& error) {
      CHECK_THAT(error.what(), Catch::Contains("it sums up as 'by block'"));
      ++refused;
    }
    // Any order of combination gives the same result, because a maximum is exact.
    world.run(groups::allreduce(in, out, "max"));
  });
  CHECK(refused == 4);
}

TEST_CASE("decisions: a row for other groups is ignored and a borrowed row is checked first") {
  const std::string three =
      "allreduce:\n  - {shape: {hosts: 3}, rows: [{up_to: inf, use: \"tree:"
      "shape=chain\"}]}\n";
  CHECK(explained(Sim(four_hosts + table_of(three)), 64).selection->reason ==
        groups::Reason::borrowed);
  const std::string nine =
      "allreduce:\n  - {shape: {hosts: 9}, rows: [{up_to: inf, use: \"tree:"
      "shape=chain\"}]}\n";
  CHECK(explained(Sim(four_hosts + table_of(nine)), 64).selection->reason ==
        groups::Reason::priced);
  const Sim unstated("clusters: {a: {hosts: 4}}\nlanes:\n");
  CHECK(explained(unstated, 64).selection->reason == groups::Reason::assumed);
}

TEST_CASE("decisions: an explanation has the row and the limits of the row") {
  const Sim sim(four_hosts + table_of(by_size));
  const groups::Explanation small = explained(sim, 4);
  REQUIRE(small.selection->decision != nullptr);
  CHECK(small.selection->reason == groups::Reason::tuned);
  CHECK(small.selection->decision->position.line > 0);
  REQUIRE(small.sizes.size() == 1);
  CHECK(small.sizes[0].is_more);
  CHECK(small.sizes[0].factor == 2);
  CHECK(small.sizes[0].schedule == "tree:shape=chain");
  const groups::Explanation large = explained(sim, 4096);
  CHECK(large.selection->reason == groups::Reason::pinned);
  REQUIRE(large.sizes.size() == 1);
  CHECK(!large.sizes[0].is_more);
  CHECK(large.taken().candidate.parameters.word("segment") == "128");
}

TEST_CASE("decisions: the limits of an explanation are where the table names another schedule") {
  std::mt19937_64 random(test_support::from_environment("PATHS_SEED", 1));
  const auto pick = [&](std::vector<std::string> from) { return from[random() % from.size()]; };
  constexpr std::size_t count_max = 40;
  std::size_t limits = 0;
  for (int round = 0; round < 20; ++round) {
    std::string sections = "allreduce:\n";
    std::vector<std::string> shapes{"{hosts: 4}", "{clusters: 2, hosts: 4}", "{hosts: 3..5}"};
    std::shuffle(shapes.begin(), shapes.end(), random);
    for (std::size_t section = 0; section < 1 + random() % shapes.size(); ++section) {
      sections += fmt::format("  - shape: {}\n    rows:\n", shapes[section]);
      for (std::size_t up_to = random() % 100; up_to < 8 * count_max; up_to += 1 + random() % 200)
        sections +=
            fmt::format("      - {{up_to: {}B, use: {}, pinned: {}}}\n", up_to + 1,
                        pick({"recursive_doubling", "\"tree:shape=chain\""}), random() % 4 == 0);
      sections += "      - {up_to: inf, use: recursive_doubling}\n";
    }
    INFO(sections);
    const Sim sim(four_hosts + table_of(sections));
    groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
    std::vector<std::string> uses{""};
    for (std::size_t count = 1; count <= count_max; ++count)
      uses.push_back(selector.answer(key_of(selector, count))->decision->use());
    for (std::size_t count = 1 + random() % 8; count <= count_max; count += 1 + random() % 8) {
      INFO(count);
      std::size_t above = count, below = count;  // the nearest counts with other schedules
      while (above <= count_max && uses[above] == uses[count]) ++above;
      while (below > 0 && uses[below] == uses[count]) --below;
      std::map<bool, groups::Crossover> found;
      for (const groups::Crossover& size : groups::explain(selector, key_of(selector, count)).sizes)
        found[size.is_more] = size;
      const double bytes = 8.0 * static_cast<double>(count);
      CHECK(found.contains(false) == (below > 0));
      if (below > 0) {
        CHECK(std::llround(found[false].factor * bytes) == 8 * static_cast<long>(below + 1));
        CHECK(found[false].schedule == uses[below]);
      }
      if (above > count_max) continue;
      REQUIRE(found.contains(true));
      CHECK(std::llround(found[true].factor * bytes) == 8 * static_cast<long>(above - 1));
      CHECK(found[true].schedule == uses[above]);
      ++limits;
    }
  }
  CHECK(limits > 40);
}

TEST_CASE("decisions: a lookup allocates nothing") {
  const Sim sim(four_hosts + table_of(by_size));
  const tuner::Shape shape{.clusters = 2, .hosts = 4, .machines = 1, .transport = "tcp"};
  const tuner::DecisionTable& table = *sim.plan().decisions;
  const std::uint64_t before = test_support::allocations();
  bool is_found = true;
  for (tuner::Bytes size = 1; size < 1'000'000; size *= 3)
    is_found =
        is_found && table.find(Collective::allreduce, shape, collectives::Order::in_order, size);
  const std::uint64_t after = test_support::allocations();
  CHECK(is_found);
  CHECK(after == before);
}

TEST_CASE("decisions: a group takes a table during the run, and links keep it") {
  const test_support::Folder folder;
  const std::string table = folder.write("decisions.yaml", "decisions: 1\n" + by_size);
  const std::string links = folder.write("network.yaml",
                                         "clusters: {a: {}, b: {}}\nlinks:\n"
                                         "  - {from: a, to: b, latency: 1ms, bandwidth: 1Gbit}\n"
                                         "  - {from: b, to: a, latency: 1ms, bandwidth: 1Gbit}\n");
  const Sim sim(four_hosts);
  const std::string before = schedule_of(sim, 4096);
  std::vector<std::string> taken;
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    const auto sum = [&] {
      const Values in(4096, 1);
      Values out(4096);
      world.run(groups::allreduce(in, out, "sum"));
      CHECK(out == Values(4096, world.size()));
      if (world.rank() == 0) taken.push_back(world.last_algorithm());
    };
    sum();
    world.take_decisions(table, 1);
    sum();
    world.take_links(links, 2);
    sum();
  });
  REQUIRE(taken.size() == 3);
  CHECK(taken[0] == before);
  CHECK_THAT(taken[1], Catch::Contains("segment=128,shape=chain"));
  CHECK(taken[2] == taken[1]);
}

TEST_CASE("decisions: a wrong table is refused on every member alike and the group continues") {
  const test_support::Folder folder;
  const std::string wrong =
      folder.write("wrong.yaml", "decisions: 1\nallreduce: [{rows: [{up_to: inf, use: rings}]}]\n");
  const Sim sim(four_hosts);
  std::map<std::string, int> refused;
  std::int64_t sum = 0;
  sim.run([&](paths::Thread& thread) {
    groups::Group world(thread);
    for (const std::string& file : {wrong, folder.file("missing.yaml")})
      ++refused[test_support::mistake_of([&] { world.take_decisions(file, 3); })];
    const Values in{1};
    Values out(1);
    world.run(groups::allreduce(in, out, "sum"));
    sum += out.front();
  });
  CHECK(sum == 16);
  REQUIRE(refused.size() == 2);
  for (const auto& [message, times] : refused) {
    CAPTURE(message);
    CHECK(times == 4);
    CHECK_THAT(message, Catch::StartsWith("group world: decisions to take: "));
  }
}

TEST_CASE("decisions: on the virtual clock an operation takes its predicted time") {
  const std::string named = GENERATE("", "clusters", "tree:shape=chain,segment=64", "rabenseifner");
  std::uint64_t operations = 0;
  for (const eventspace::GroupReport& report : reports_of(four_hosts, named)) {
    CAPTURE(report.algorithm);
    CHECK(report.predicted.count == report.operations);
    CHECK(report.compared == report.operations);
    CHECK(report.per_predicted == 1);
    CHECK(report.per_tuned == 0);
    CHECK_FALSE(report.is_stale());
    operations += report.operations;
  }
  CHECK(operations == 6);
}

TEST_CASE("decisions: a report names the row of an operation and tells whether it is stale") {
  const auto [tuned, took, is_stale] =
      GENERATE(std::tuple("12ms", 0.833, false), std::tuple("16ms", 0.625, true),
               std::tuple("7ms", 1.429, true));
  const auto reports =
      reports_of(four_hosts + table_of("allreduce:\n"
                                       "  - shape: {clusters: 2, hosts: 4}\n"
                                       "    rows:\n"
                                       "      - {up_to: 64B, use: recursive_doubling}\n"
                                       "      - {up_to: inf, use: clusters, why: {time: " +
                                       std::string(tuned) + ", predicted: 10ms}}\n"));
  REQUIRE(reports.size() == 2);  // sorted by the name of the algorithm
  const eventspace::GroupReport &with_why = reports[0], &without = reports[1];
  CHECK_THAT(with_why.algorithm, Catch::StartsWith("clusters"));
  CHECK(with_why.reason == "tuned");
  CHECK(with_why.per_tuned == Approx(took).margin(0.001));
  CHECK(with_why.is_stale() == is_stale);
  CHECK(without.algorithm == "recursive_doubling");
  CHECK(std::stoi(without.row) + 1 == std::stoi(with_why.row));
  CHECK(without.per_tuned == 0);
  CHECK_FALSE(without.is_stale());
}

TEST_CASE("decisions: an operation is compared only if its members arrive at the same time") {
  const test_support::TracedRun run(four_hosts, [&](paths::Thread& thread) {
    groups::Group world(thread);
    const Values in(8, 1);
    Values out(8);
    thread.sleep_for(std::chrono::milliseconds(10 * world.rank()));
    world.run(groups::allreduce(in, out, "sum"));
  });
  const auto reports = run.report().report.groups.operations;
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].predicted.count == 1);
  CHECK(reports[0].compared == 0);
}
