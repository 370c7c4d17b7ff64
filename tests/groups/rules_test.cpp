// SPDX-License-Identifier: Apache-2.0
// tests/groups/rules_test.cpp — guarantees of groups if memory is short, and if members fail at any
// time.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "base/large_memory.hpp"
#include "collectives/algorithms/all.hpp"
#include "collectives/schedule/verifier.hpp"
#include "groups/selection/network_of.hpp"
#include "paths/host/host.hpp"
#include "tests/groups/members.hpp"

namespace {

using collectives::Collective;
using namespace test_support;
using namespace std::chrono_literals;

/// Returns a config with clusters whose inboxes accept only granted messages.
std::string without_inbox(std::size_t clusters, std::size_t hosts) {
  std::string config = "clusters:\n";
  for (std::size_t cluster = 0; cluster < clusters; ++cluster)
    config += fmt::format("  c{}: {{hosts: {}, network: {{latency: 50us, bandwidth: 100Mbit}}}}\n",
                          cluster, hosts);
  if (clusters > 1) config += "links: {all: {latency: 1ms, bandwidth: 1Gbit}}\n";
  return config + "lanes: {inbox: 0B}\n";
}

std::size_t least_window(const paths::Plan& plan, const collectives::Algorithm& algorithm,
                         const std::string& parameters) {
  const auto topology = std::make_shared<const collectives::Topology>(
      groups::topology_of(plan, groups::participants_of(plan)));
  const auto task = collectives::make_spec(Collective::allreduce, topology, 12, 0);
  return verify(algorithm, task, algorithm.read(parameters)).least_window;
}

}  // namespace

TEST_CASE("groups: every schedule of allreduce ends in its least window without any inbox",
          "[without_tsan]") {
  for (const auto& [clusters, hosts] : {std::pair(1, 5), std::pair(2, 3), std::pair(4, 1)}) {
    const Sim sim(without_inbox(clusters, hosts));
    const auto topology = std::make_shared<const collectives::Topology>(
        groups::topology_of(sim.plan(), groups::participants_of(sim.plan())));
    const auto task = collectives::make_spec(Collective::allreduce, topology, 12, 0);
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
      if (!algorithm.does(Collective::allreduce)) continue;
      const auto parameters = algorithm.read("");
      if (!algorithm.why_not(task, parameters).empty()) continue;
      if (algorithm.order(task, parameters) == collectives::Order::differs) continue;
      INFO(algorithm.name << " over " << clusters << " x " << hosts);
      const std::size_t window = least_window(sim.plan(), algorithm, "");
      sim.run_well([&](paths::Thread& thread) {
        groups::Group world(thread);
        sum_ranks(world, 20'000, algorithm.name, window);
      });
    }
  }
}

TEST_CASE("groups: an exchange of 66 clusters with all others ends without any inbox",
          "[without_tsan]") {
  const Sim sim(without_inbox(66, 1));
  CHECK(least_window(sim.plan(), collectives::algorithm_named("stretched"), "exchange=all") == 66);
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    sum_ranks(world, 100, "stretched:exchange=all");
  });
}

TEST_CASE("groups: operations without values take the same time and write nothing") {
  const Sim sim(
      "clusters:\n"
      "  a: {hosts: 2, threads: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
      "  b: {hosts: 3, network: {latency: 50us, bandwidth: 100Mbit}}\n"
      "links: {all: {latency: 10ms, bandwidth: 100Mbit}}\n"
      "lanes:\n");
  const auto times = [&](bool has_values, const std::vector<std::uint32_t>& order) {
    std::vector<base::Nanos> ends;
    sim.run_well([&](paths::Thread& thread) {
      groups::Group group(thread, "all", order);
      for (const Collective collective : collectives::all_collectives) {
        const std::size_t blocks =
            collective == Collective::reduce_scatter || collective == Collective::alltoall ? 7 : 1;
        const std::size_t counts = collective == Collective::barrier ? 0 : 5000;
        Values in(counts * 7, 1), out(counts * 7, -777);
        groups::Call call = groups::call_of(collective, in, out);
        const bool is_scattered = collective == Collective::scatter,
                   is_gathered =
                       collective == Collective::gather || collective == Collective::allgather;
        call.in = call.in.first(8 * counts * (is_scattered ? 7 : blocks));
        call.out = call.out.first(8 * counts *
                                  (is_gathered || collective == Collective::alltoall ? 7 : 1));
        if (is_reduction(collective)) call.operation = "sum";
        call.counts = {counts};
        call.root = 3;
        call.has_values = has_values;
        group.run(call);
        if (!has_values) CHECK(out == Values(counts * 7, -777));
        if (group.rank() == 0) ends.push_back(thread.now());
      }
    });
    return ends;
  };
  for (const std::vector<std::uint32_t>& order :
       {std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}, {6, 0, 5, 1, 4, 2, 3}}) {
    const auto with = times(true, order);
    CHECK(with.size() == 11);
    CHECK(times(false, order) == with);
  }
}

TEST_CASE("groups: data sent to several hosts is stored as a whole only at its members") {
  const Sim sim(one_cluster("hosts: 10"));
  const std::size_t before = base::large_memory().taken;
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    Values values(500'000, world.rank() == 3 ? 7 : 0);
    world.run(groups::by("tree:shape=flat", groups::broadcast(values, 3)));
    CHECK(values == Values(500'000, 7));
  });
  CHECK(base::large_memory().taken == before);
}

TEST_CASE("groups: a root ahead of all others does not fill inboxes and other groups continue") {
  const Sim sim(one_cluster("hosts: 3", "{inbox: 64KiB}"));
  base::Nanos others_end{0};
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    if (world.rank() > 0) {
      groups::Group pair(thread, "pair", {1, 2});
      for (int i = 0; i < 100; ++i) sum_ranks(pair, 100);
      others_end = thread.now();
      thread.sleep_for(5s - thread.now());
    }
    std::vector<std::int32_t> value(25);
    for (std::int32_t i = 0; i < 2000; ++i) {
      if (world.rank() == 0) value.assign(25, i);
      world.run(groups::by("tree:shape=flat", groups::broadcast(value, 0)));
      if (value[24] != i) FAIL("broadcast " << i);
    }
    CHECK(thread.host().lanes().use().inbox_held_most <= 64 * 1024);
  });
  CHECK(others_end < 1s);
}

TEST_CASE("groups: four groups on the same hosts work if threads enter them in opposite orders") {
  const Sim sim(one_cluster("hosts: 2, threads: 4", "{inbox: 0B}"));
  sim.run_well([&](paths::Thread& thread) {
    // The two threads create the groups in opposite orders.
    std::vector<std::unique_ptr<groups::Group>> all;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t number = thread.host().index() == 0 ? i : 3 - i;
      all.push_back(std::make_unique<groups::Group>(thread, fmt::format("g{}", number)));
    }
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t first = (thread.index() + i) % 4;
      const std::uint32_t number = thread.host().index() == 0 ? first : 3 - first;
      const Values in(5000, 1);
      std::vector<Values> out(4, Values(5000));
      std::vector<groups::Started> started;
      for (std::uint32_t k = 0; k < 4; ++k)
        started.push_back(all[(number + k) % 4]->start(groups::allreduce(in, out[k], "sum")));
      for (auto& one : started) one.wait();
      CHECK(out == std::vector<Values>(4, Values(5000, 8)));
    }
  });
}

TEST_CASE("groups: a member blocked in one group does not delay other groups") {
  const Sim sim(one_cluster("hosts: 3", "{inbox: 0B}"));
  base::Nanos end{0};
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    const Values in(50'000, 1);
    Values out(50'000);
    if (world.rank() == 2) {
      thread.sleep_for(20s);
      world.run(groups::allreduce(in, out, "sum"));
      return;
    }
    groups::Started frozen = world.start(groups::allreduce(in, out, "sum"));
    groups::Group pair(thread, "pair", {0, 1});
    for (int i = 0; i < 10; ++i) sum_ranks(pair, 10'000);
    end = thread.now();
    frozen.wait();
    CHECK(out == Values(50'000, 3));
  });
  CHECK(end < 3s);
}

TEST_CASE("groups: operations before a failed one continue and later ones fail") {
  const Sim sim(
      "clusters:\n"
      "  a: {hosts: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
      "  b: {hosts: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
      "links: {all: {latency: 10ms, bandwidth: 100Mbit}}\n"
      "lanes:\n");
  for (const std::uint32_t first : {2, 3}) {
    std::map<std::uint32_t, std::vector<std::string>> said;
    sim.run_well([&](paths::Thread& thread) {
      groups::Group world(thread);
      std::vector<std::vector<double>> in(5, std::vector<double>(20'000, 1.0)),
          out(5, std::vector<double>(20'000));
      // Member 1 fails in operation `first`, which is 2 or 3. Member 2 fails in operation 5 -
      // `first`, which is 3 or 2.
      if (world.rank() == 1) in[first][0] = std::nan("");
      if (world.rank() == 2) in[5 - first][0] = std::nan("");
      std::vector<groups::Started> started;
      std::vector<std::string>& mine = said[world.rank()];
      mine.assign(5, "");
      for (int i = 0; i < 5; ++i) {
        try {
          started.push_back(world.start(groups::allreduce(in[i], out[i], "sum")));
        } catch (const std::exception& error) {
          mine[i] = error.what();
          started.emplace_back();
        }
      }
      for (int i = 0; i < 5; ++i) try {
          if (mine[i].empty()) started[i].wait();
        } catch (const std::exception& error) {
          mine[i] = error.what();
        }
      CHECK(thread.now() < 3s);
    });
    for (const auto& [rank, mine] : said)
      for (int i = 0; i < 5; ++i) {
        INFO("rank " << rank << ", operation " << i << ": " << mine[i]);
        if (i < 2)
          CHECK(mine[i] == "");
        else
          CHECK_THAT(mine[i], Catch::Contains("NaN"));
      }
  }
}

TEST_CASE("groups: after an error is returned the arrays are not accessed any more") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto moment = std::chrono::microseconds(random() % 20'000);
    const SimResult result = Sim(one_cluster("hosts: 4")).run([&](paths::Thread& thread) {
      auto group = std::make_unique<groups::Group>(thread);
      auto in = std::make_unique<Values>(30'000), out = std::make_unique<Values>(30'000);
      if (group->rank() == 3) {
        thread.sleep_for(moment);
        group = nullptr;  // member 3 leaves the group before the operation
        return;
      }
      CHECK_THROWS_AS(group->run(groups::allreduce(*in, *out, "sum")), paths::TravelError);
      // Frees the arrays. The address sanitizer detects any later access to them.
      in = nullptr, out = nullptr;
      thread.sleep_for(100ms);
    });
    CHECK(result.broke == "");
  }
}

TEST_CASE("groups: two roots that wait for each other get an error before the deadline") {
  const Sim sim("deadline: 60s\n" + one_cluster("hosts: 2", "{inbox: 0B}"));
  for (const std::size_t size : {1, 100'000}) {
    const SimResult result = sim.run([&](paths::Thread& thread) {
      groups::Group world(thread);
      std::vector<double> sum(size), mine(size, 1.0);
      CHECK_THROWS_AS(world.run(groups::reduce(mine, sum, "sum", world.rank())),
                      paths::TravelError);
      CHECK(thread.now() < 1s);
    });
    CHECK(result.broke == "");
  }
}

TEST_CASE("groups: a split that fails at one host fails at all with the reason") {
  const Sim sim(one_cluster("hosts: 3"));
  const SimResult result = sim.run([&](paths::Thread& thread) {
    groups::Group world(thread);
    if (world.rank() == 1) throw std::logic_error("cannot split");
    CHECK_THROWS_WITH(world.split(0), Catch::Contains("thread a-1/0 has failed"));
  });
  CHECK(result.broke == "");
  CHECK(result.failures.size() == 1);
}

TEST_CASE("groups: a dropped started operation does not hide the report of a deadlock") {
  const Sim sim("clusters: {alpha: {hosts: 2, threads: 2}}\nlanes:\n");
  const SimResult run = sim.run([&](paths::Thread& thread) {
    groups::Group world(thread);
    const Values in(1);
    Values out(1);
    groups::Started dropped;
    if (world.rank() == 3) dropped = world.start(groups::allreduce(in, out, "sum"));
    runtime::Completion never;
    never.wait(runtime::Deadline::never(), {"what never happens"});
  });
  CHECK_THAT(run.broke, Catch::Contains("what never happens"));
}

TEST_CASE(
    "groups: threads of one host get sums of any size in place or not in any order of ranks") {
  for (const bool is_split : {false, true})
    Sim("clusters: {a: {hosts: 1, threads: 5}}\nlanes:\n").run([&](paths::Thread& thread) {
      groups::Group world(thread);
      const auto other = is_split ? world.split(0, -std::int64_t{world.rank()}) : nullptr;
      groups::Group& group = is_split ? *other : world;
      for (const std::size_t size : {0, 1, 511, 512, 8191, 8192, 8193, 100'000})
        for (const bool is_in_place : {false, true}) {
          Values in(size), out(size), expected(size);
          for (std::size_t i = 0; i < size; ++i) {
            in[i] = static_cast<std::int64_t>(i * (group.rank() + 1));
            expected[i] = static_cast<std::int64_t>(15 * i);
          }
          if (is_in_place) out = in;
          group.run(groups::allreduce(is_in_place ? out : in, out, "sum"));
          INFO(size << " values" << (is_in_place ? " in place" : ""));
          CHECK(out == expected);
          CHECK((is_in_place || size == 0 ||
                 in[size - 1] == std::int64_t((size - 1) * (group.rank() + 1))));
        }
    });
}
