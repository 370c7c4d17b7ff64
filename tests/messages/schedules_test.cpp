// SPDX-License-Identifier: Apache-2.0
// tests/messages/schedules_test.cpp — times of schedules over the lanes of shipped configs, which
// must equal the predicted times.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "collectives/algorithms/all.hpp"
#include "collectives/cost/evaluator.hpp"
#include "groups/execution/execution.hpp"
#include "groups/selection/network_of.hpp"
#include "paths/config/config.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/lane_hosts.hpp"
#include "tests/support/min3_networks.hpp"
#include "wrappers/all.hpp"

namespace {

using namespace collectives;
using namespace std::chrono_literals;
using test_support::LaneHosts;

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr base::Nanos begin = 100ms;

/// Runs the program of one participant on arbitrary values.
void take_part(runtime::Runtime& runtime, paths::MessageGroup& group, const CollectiveSpec& task,
               Rank me, Program program) {
  std::vector<std::byte> in(in_range(task, me).count), out(out_range(task, me).count);
  groups::Memory memory(1);
  if (task.collective != Collective::broadcast)
    memory.lend(collectives::in, in_range(task, me), in);
  memory.lend(collectives::out, out_range(task, me), out);
  groups::Fold fold(*base::reduce_operation("max"), base::Scalar::u8, base::Values::checked);
  const groups::OperationName name{.number = 0, .signature_digest = 1, .group = "all"};
  groups::Execution(runtime, &group, group.hosts(), {})
      .run({name, {.me = me}, memory, fold, {.patience = 60s}}, std::move(program));
}

std::shared_ptr<paths::Plan> plan_of(const std::string& config, std::uint64_t frame_bytes) {
  auto plan = std::make_shared<paths::Plan>(
      paths::load_plan(PATHS_SOURCE_DIR "/configs/" + config, wrappers::all_kinds()));
  plan->lanes.frame_bytes = frame_bytes;
  return plan;
}

/// Returns the time of a collective over all hosts of a plan. Vectors or blocks have `count` bytes,
/// and windows are large enough to hold them.
std::int64_t time_over_lanes(const std::shared_ptr<paths::Plan>& plan, Collective collective,
                             const std::string& name, const std::string& parameters,
                             const std::vector<std::size_t>& clusters, Count count = mebibyte) {
  const auto topology = std::make_shared<const Topology>(Topology::clustered(clusters));
  const Algorithm& algorithm = algorithm_named(name);
  const CollectiveSpec task = make_spec(collective, topology, count);
  std::vector<Program> programs = pricing::programs_of(algorithm, task, algorithm.read(parameters));
  base::Nanos end{0};
  test_support::on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    test_support::in_threads(runtime, hosts.size(), [&](std::uint32_t host) {
      const auto group = hosts[host].group("all", hosts.all(), {.window_bytes = 8 * mebibyte});
      runtime.sleep_until(begin);
      take_part(runtime, *group, task, host, std::move(programs[host]));
      end = std::max(end, runtime.now());
      group->leave();
    });
  });
  return (end - begin).count();
}

}  // namespace

TEST_CASE("schedules: over two-by-four.yaml with whole messages the known times result") {
  struct Row {
    Collective collective;
    std::string algorithm, parameters;
    std::int64_t microseconds_tenths;
  };
  const auto broadcast = Collective::broadcast, allreduce = Collective::allreduce;
  const std::vector<Row> rows{
      {broadcast, "tree", "shape=binomial", 261'7582},
      {broadcast, "farfirst", "allgather=doubling", 219'9152},
      {broadcast, "modified_van_de_geijn", "senders=1,allgather=doubling", 261'8582},
      {broadcast, "modified_van_de_geijn", "senders=4,allgather=doubling", 163'1921},
      {broadcast, "tree", "shape=chain,segment=16384", 102'0504},
      {allreduce, "recursive_doubling", "", 286'9241},
      {allreduce, "rabenseifner", "reduce_scatter=ring,allgather=ring", 187'3006},
      {allreduce, "two_tier", "reduce_scatter=halving,allgather=doubling", 345'9443},
      {allreduce, "modified_rabenseifner", "senders=2,reduce_scatter=halving,allgather=doubling",
       180'1193},
      {allreduce, "clusters", "", 597'3026},
      {allreduce, "stretched", "stretch=65536,exchange=all", 153'3117},
  };
  const auto plan = plan_of("two-by-four.yaml", 0);
  for (const Row& row : rows) {
    const std::int64_t time =
        time_over_lanes(plan, row.collective, row.algorithm, row.parameters, {4, 4});
    INFO(row.algorithm << ' ' << row.parameters << ": " << time << " ns");
    CHECK((time + 50) / 100 == row.microseconds_tenths);
  }
}

TEST_CASE("schedules: in frames over lanes the predicted times of the same config result") {
  for (const std::string config : {"two-by-four.yaml", "three-by-four.yaml"}) {
    const auto plan = plan_of(config, 64 << 10);
    const pricing::Network network = groups::network_of(*plan);
    for (const auto& [collective, name, parameters] :
         {std::tuple(Collective::broadcast, "stretched", "stretch=65536"),
          std::tuple(Collective::broadcast, "tree", "shape=chain,segment=65536"),
          std::tuple(Collective::allreduce, "stretched", "stretch=131072,exchange=two"),
          std::tuple(Collective::allreduce, "rabenseifner",
                     "reduce_scatter=ring,allgather=ring")}) {
      const Algorithm& algorithm = algorithm_named(name);
      const CollectiveSpec task = make_spec(collective, network.topology, mebibyte);
      const auto price = pricing::price(algorithm, task, algorithm.read(parameters), 1, network);
      const std::vector<std::size_t> clusters(network.clusters(), 4);
      const std::int64_t time = time_over_lanes(plan, collective, name, parameters, clusters);
      INFO(config << ", " << name << ' ' << parameters);
      CHECK(time == price.time.count());
    }
  }
}

TEST_CASE("schedules: three-sites.yaml and its parts match table 2 of Gupta and Vadhiyar 2007") {
  const test_support::Sites sites = test_support::three_sites();
  for (const auto& [config, chosen] :
       {std::pair("three-sites.yaml", std::vector<std::size_t>{0, 1, 2}),
        std::pair("europe.yaml", std::vector<std::size_t>{1, 2}),
        std::pair("one-cluster.yaml", std::vector<std::size_t>{2})}) {
    const auto plan = plan_of(config, 0);
    const pricing::Network network = groups::network_of(*plan);
    const pricing::Network known =
        test_support::network_of(test_support::some_of(sites, chosen), 8);
    INFO(config);
    CHECK(network.outgoing == known.outgoing);
    CHECK(network.receiving == known.receiving);
    CHECK(network.links == known.links);
    const auto shipped =
        paths::load_plan(std::string(PATHS_SOURCE_DIR "/configs/") + config, wrappers::all_kinds());
    CHECK(shipped.lanes.frame_bytes == 0);
  }
}

TEST_CASE("schedules: allgathers of grid libraries take the predicted time over lanes") {
  const auto plan = plan_of("three-sites.yaml", 0);
  const pricing::Network network = groups::network_of(*plan);
  constexpr Count block = 16 << 10;
  for (const std::string name : {"ring", "mpich", "spreading", "magpie", "mpich_g2"}) {
    const Algorithm& algorithm = algorithm_named(name);
    const CollectiveSpec task = make_spec(Collective::allgather, network.topology, block);
    const auto price = pricing::price(algorithm, task, algorithm.read(""), 1, network);
    INFO(name);
    CHECK(time_over_lanes(plan, Collective::allgather, name, "", {8, 4, 8}, block) ==
          price.time.count());
  }
}
