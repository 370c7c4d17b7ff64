// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/costs_test.cpp — numbers of messages and elements of schedules,
// compared with formulas.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <set>

#include "collectives/schedule/verifier.hpp"
#include "tests/collectives/schedule/every_schedule.hpp"

using namespace collectives;

namespace {

struct Flow {
  Count messages = 0, elements = 0;
};

struct Traffic {
  std::vector<Flow> sent;  // traffic that each participant sends
  Flow all, across;        // `all`: total traffic; `across`: traffic between clusters
};

/// Returns the traffic of a schedule. Fails the test case if the schedule is not correct.
Traffic traffic(const std::string& name, const std::string& values, const CollectiveSpec& task) {
  const Algorithm& algorithm = algorithm_named(name);
  const Parameters parameters = algorithm.read(values);
  INFO(name << ' ' << values << ' ' << name_of(task.collective));
  REQUIRE(verify(algorithm, task, parameters).mistake == "");
  Traffic traffic{.sent = std::vector<Flow>(task.size()), .all = {}, .across = {}};
  for (Rank me = 0; me < task.size(); ++me) {
    const Steps steps = algorithm.program(task, parameters, me).all();
    for (std::size_t index = 0; index < steps.size(); ++index) {
      if (steps[index].action != Action::send) continue;
      const bool crosses =
          task.group().cluster_of(me) != task.group().cluster_of(steps[index].peer);
      for (Flow* flow : {&traffic.sent[me], &traffic.all, crosses ? &traffic.across : nullptr}) {
        if (flow == nullptr) continue;
        ++flow->messages;
        flow->elements += steps[index].elements();
      }
    }
  }
  return traffic;
}

/// Returns three sites of two machines with four processes each.
std::shared_ptr<const Topology> three_sites() {
  std::vector<Topology::Path> paths;
  for (std::uint32_t rank = 0; rank < 24; ++rank) paths.push_back({rank / 8, rank / 4});
  return std::make_shared<const Topology>(paths);
}

struct Row {
  std::string algorithm;
  std::string values;
  Collective collective;
  Count messages;  // expected messages, counted between sites only
};

}  // namespace

TEST_CASE("costs: messages between three sites of two machines of four with root 0") {
  const auto sites = three_sites();
  const std::vector<Row> rows{
      {"multilevel", "", Collective::broadcast, 2},
      {"multilevel", "", Collective::reduce, 2},
      {"multilevel", "", Collective::gather, 2},
      {"multilevel", "", Collective::scatter, 2},
      {"multilevel", "", Collective::barrier, 4},
      {"multilevel", "", Collective::allreduce, 4},
      {"clusters", "", Collective::allreduce, 6},
      {"clusters", "", Collective::allgather, 6},
      {"gather_broadcast", "", Collective::allgather, 4},
      {"clusters_alltoall", "", Collective::alltoall, 6},
      {"dissemination", "", Collective::barrier, 69},
      {"recursive_doubling", "", Collective::allreduce, 24},
      {"ring", "", Collective::allgather, 69},
      {"bruck", "", Collective::allgather, 69},
      {"direct", "", Collective::allgather, 384},
      {"mpich", "", Collective::allgather, 69},
      {"spreading", "", Collective::allgather, 384},
      {"magpie", "", Collective::allgather, 6},
      {"mpich_g2", "", Collective::allgather, 6},
      {"pairwise", "", Collective::alltoall, 384},
      {"rabenseifner", "reduce_scatter=ring,allgather=ring", Collective::allreduce, 138},
      {"chain", "", Collective::scan, 2},
      {"clusters_scan", "", Collective::scan, 3},
      {"recursive_doubling", "", Collective::scan, 38},
  };
  for (const Row& row : rows) {
    const CollectiveSpec task = make_spec(row.collective, sites, 24);
    INFO(row.algorithm << ' ' << name_of(row.collective));
    CHECK(traffic(row.algorithm, row.values, task).across.messages == row.messages);
  }
}

TEST_CASE("costs: messages of broadcasts and allreduces of 1 MiB over two clusters of four") {
  // An element stands for 1 KiB, but these checks count elements only. A segment has 16 elements, a
  // stretch has 64 elements.
  const auto group = clustered({4, 4});
  const auto check = [&](Collective collective, const std::string& algorithm,
                         const std::string& values, Count messages, Count across, Count elements) {
    const Traffic all = traffic(algorithm, values, make_spec(collective, group, 1024));
    INFO(algorithm << ' ' << values);
    CHECK(all.all.messages == messages);
    CHECK(all.across.messages == across);
    CHECK(all.across.elements == elements);
  };
  const Collective broadcast = Collective::broadcast;
  check(broadcast, "tree", "", 7, 1, 1024);
  check(broadcast, "farfirst", "", 23, 1, 1024);
  check(broadcast, "modified_van_de_geijn", "senders=1", 26, 4, 1024);
  check(broadcast, "modified_van_de_geijn", "senders=2", 25, 4, 1024);
  check(broadcast, "modified_van_de_geijn", "senders=4", 23, 4, 1024);
  check(broadcast, "modified_van_de_geijn", "senders=2,limiting=halving", 23, 2, 1024);
  check(broadcast, "tree", "shape=chain,segment=16", 448, 64, 1024);
  const Collective allreduce = Collective::allreduce;
  check(allreduce, "recursive_doubling", "", 24, 8, 8192);
  check(allreduce, "rabenseifner", "reduce_scatter=ring,allgather=ring", 112, 28, 3584);
  check(allreduce, "two_tier", "", 46, 2, 2048);
  check(allreduce, "modified_rabenseifner", "senders=1", 46, 8, 2048);
  check(allreduce, "modified_rabenseifner", "senders=2", 44, 8, 2048);
  check(allreduce, "modified_rabenseifner", "senders=4", 40, 8, 2048);
  // Inside clusters there are two rounds in each direction. Every second host sends its sum to
  // another host, and later receives the result from it.
  check(allreduce, "modified_rabenseifner", "senders=2,limiting=halving", 44, 4, 2048);
  check(allreduce, "clusters", "", 14, 2, 2048);
  check(allreduce, "stretched", "stretch=64", 896, 128, 2048);
}

TEST_CASE("costs: composites send one message per segment in each direction") {
  const auto messages = [](const std::string& name, const std::string& values,
                           Collective collective, Count count) {
    return traffic(name, values, make_spec(collective, clustered({4}), count)).all.messages;
  };
  // Along the binomial tree of four participants, each stretch needs three messages.
  CHECK(messages("gather_operate", "segment=2", Collective::reduce, 8) == 4 * 3);
  CHECK(messages("gather_operate", "segment=3,allgather=ring", Collective::allreduce, 8) == 3 * 12);
  // Messages have at most 4 elements. To gather 8, 8 and 16 elements takes 2 + 2 + 4 messages. To
  // send 8 elements to each of the three other participants takes 3 * 2 messages.
  CHECK(messages("gather_scatter", "segment=4", Collective::alltoall, 2) == 2 + 2 + 4 + 3 * 2);
  CHECK(messages("gather_broadcast", "shapes=chain,segment=4", Collective::allgather, 4) ==
        1 + 2 + 3 + 3 * 4);
}

TEST_CASE("costs: first members of clusters send each other exactly the blocks that are missing") {
  for (const auto& group : {clustered({8, 4, 8}), clustered({4, 2, 1, 2}), clustered({5})})
    for (const CollectiveSpec& task : tasks(Collective::allgather, group)) {
      const Count others = task.counts.total() * (group->clusters() - 1);
      CHECK(traffic("magpie", "", task).across.elements == others);
      CHECK(traffic("mpich_g2", "", task).across.elements == others);
    }
}

TEST_CASE("costs: the declared number of hosts sends from each cluster to each other one") {
  const auto group = clustered({4, 6, 3});
  using Wanted = std::vector<std::vector<std::size_t>>;
  const auto check = [&](const std::string& name, const std::string& values,
                         const CollectiveSpec& task, const std::vector<std::size_t>& from,
                         const Wanted& wanted) {
    const Algorithm& algorithm = algorithm_named(name);
    const Parameters parameters = algorithm.read(values);
    REQUIRE(verify(algorithm, task, parameters).mistake == "");
    std::map<std::pair<std::size_t, std::size_t>, std::set<Rank>> who;
    const Schedule schedule = schedule_of(algorithm, task, parameters);
    for (Rank rank = 0; rank < schedule.size(); ++rank)
      for (std::size_t step = 0; step < schedule[rank].size(); ++step)
        if (schedule[rank][step].action == Action::send)
          who[{group->cluster_of(rank), group->cluster_of(schedule[rank][step].peer)}].insert(rank);
    for (const std::size_t cluster : from)
      for (std::size_t to = 0; to < 3; ++to)
        if (to != cluster) CHECK(who[{cluster, to}].size() == wanted[cluster][to]);
  };
  // Number of sending hosts for each source cluster (row) and target cluster (column). The
  // parameter `senders` lists the pairs of clusters in this order: 0 to 1, 0 to 2, 1 to 0, 1 to 2,
  // 2 to 0, 2 to 1.
  const Wanted each{{0, 1, 3}, {2, 0, 5}, {3, 2, 0}};
  const Wanted four{{0, 4, 4}, {4, 0, 4}, {3, 3, 0}};
  for (const auto& [senders, wanted] :
       {std::pair("senders=1/3/2/5/3/2", each), std::pair("senders=4,limiting=halving", four)}) {
    for (Rank root = 0; root < group->size(); ++root)
      check("modified_van_de_geijn", senders + std::string(",allgather=ring"),
            make_spec(Collective::broadcast, group, 60, root), {group->cluster_of(root)}, wanted);
    check("modified_rabenseifner", senders + std::string(",reduce_scatter=direct,allgather=ring"),
          make_spec(Collective::allreduce, group, 60), {0, 1, 2}, wanted);
  }
}

TEST_CASE("costs: a multilevel broadcast crosses once to each other cluster from every root") {
  for (const std::size_t clusters : {2, 4, 8, 16}) {
    const auto group = clustered(std::vector<std::size_t>(clusters, 64 / clusters));
    for (Rank root = 0; root < 64; ++root)
      CHECK(traffic("multilevel", "", make_spec(Collective::broadcast, group, 1, root))
                .across.messages == clusters - 1);
  }
}

TEST_CASE("costs: a binomial broadcast crosses more often and most from the worst root") {
  const auto crossings = [](std::size_t clusters, std::size_t size) {
    const auto group = clustered(std::vector<std::size_t>(clusters, size));
    Count sum = 0, most = 0, first = 0;
    for (Rank root = 0; root < clusters * size; ++root) {
      const Count here =
          traffic("tree", "", make_spec(Collective::broadcast, group, 1, root)).across.messages;
      if (root == 0) first = here;
      sum += here;
      most = std::max(most, here);
    }
    return fmt::format("{} {:.0f} {}", first, double(sum) / double(clusters * size), most);
  };
  CHECK(crossings(2, 32) == "1 6 11");
  CHECK(crossings(4, 16) == "3 11 19");
  CHECK(crossings(8, 8) == "7 19 31");
  CHECK(crossings(16, 4) == "15 31 47");
  CHECK(crossings(3, 12) == "4 7 10");
  CHECK(crossings(5, 12) == "7 13 19");
}

TEST_CASE("costs: reduce-scatter and allgather move (1 - 1/h) of the vector out of each host") {
  const auto group = clustered({8});
  for (const char* sum : {"ring", "direct", "halving"})
    for (const char* gather : {"ring", "direct", "bruck", "doubling"}) {
      const Traffic all =
          traffic("rabenseifner", fmt::format("reduce_scatter={},allgather={}", sum, gather),
                  make_spec(Collective::allreduce, group, 64));
      for (const Flow& flow : all.sent) CHECK(flow.elements == 2 * (64 - 8));
    }
}

// The time is not asserted because it depends on the machine.
// docs/explanation/collectives.md has measured times.
TEST_CASE("costs: time to make the program of one participant of 4096", "[.times]") {
  const auto group = clustered(std::vector<std::size_t>(8, 512));
  for (const Algorithm& algorithm : all_algorithms())
    for (const Collective collective : algorithm.collectives) {
      const CollectiveSpec task =
          make_spec(collective, group, collective == Collective::alltoall ? 4 : 4096, 17);
      const Parameters parameters = algorithm.read("");
      if (const std::string why = algorithm.why_not(task, parameters); !why.empty()) {
        std::cout << fmt::format("{} {}: {}\n", algorithm.name, name_of(collective), why);
        continue;
      }
      double worst = 0;
      std::size_t steps = 0;
      for (const Rank me : {0u, 17u, 511u, 512u, 2048u, 4095u}) {
        Steps program;
        double best = 1e9;
        for (int round = 0; round < 5; ++round) {
          program.clear();
          const auto from = std::chrono::steady_clock::now();  // tidy: real time
          const Program made = algorithm.program(task, parameters, me);
          for (Count portion = 0; portion < made.portions(); ++portion)
            made.append(portion, program);
          const auto to = std::chrono::steady_clock::now();  // tidy: real time
          best = std::min(best, std::chrono::duration<double, std::milli>(to - from).count());
        }
        worst = std::max(worst, best);
        steps = std::max(steps, program.size());
      }
      std::cout << fmt::format("{:24} {:14} {:7} steps {:8.3f} ms{}\n", algorithm.name,
                               name_of(collective), steps, worst, worst > 1 ? "  !" : "");
    }
}
