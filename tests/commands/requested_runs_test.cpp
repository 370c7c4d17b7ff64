// SPDX-License-Identifier: Apache-2.0
// tests/commands/requested_runs_test.cpp — runs of whole groups and of parts, on the virtual clock.
#include "commands/requested_runs.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <numeric>

#include "collectives/algorithms/all.hpp"
#include "groups/selection/selection.hpp"
#include "paths/host/host.hpp"
#include "tests/support/sim.hpp"

using collectives::Rank;
using commands::RunRequest;
using Part = RunRequest::Part;
using namespace std::chrono_literals;

namespace {

test_support::Sim hosts(std::size_t count, const std::string& network) {
  return test_support::Sim(fmt::format(
      "clusters: {{a: {{hosts: {}, network: {{{}}}}}}}\nlanes: {{}}\n", count, network));
}

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Returns the times of these runs. All hosts of the simulation take part in them.
std::vector<base::Nanos> times_of(const test_support::Sim& sim, std::size_t count,
                                  const std::vector<RunRequest>& requests) {
  std::vector<base::Nanos> times;
  sim.run_well([&](paths::Thread& thread) {
    commands::RequestedRuns runs(thread, numbers(count));
    if (!runs.is_first()) return runs.serve();
    for (const RunRequest& one : requests) times.push_back(runs.run(one).value());
    runs.end();
  });
  return times;
}

RunRequest broadcast(const std::string& shape, Part part) {
  return {collectives::Collective::broadcast, 1, "tree:shape=" + shape, base::Nanos(0), part};
}

std::vector<Rank> path_of(std::size_t count, const std::string& parameters) {
  const auto sim = hosts(count, "latency: 1ms");
  const groups::Selector selector(sim.plan(), numbers(count));
  return commands::longest_path(
      make_spec(collectives::Collective::broadcast, selector.network().topology, 1),
      collectives::algorithm_named("tree").read(parameters));
}

}  // namespace

TEST_CASE("requested runs: the longest path goes from the root to a leaf of the tree") {
  CHECK(path_of(8, "shape=flat") == std::vector<Rank>{0, 7});
  CHECK(path_of(4, "shape=chain") == std::vector<Rank>{0, 1, 2, 3});
  CHECK(path_of(8, "shape=binomial").size() == 4);
  CHECK(path_of(8, "shape=kary,arity=2").size() == 4);
  for (const char* const shape : {"shape=binomial", "shape=kary,arity=2"})
    CHECK(path_of(8, shape).front() == 0);
}

TEST_CASE("requested runs: a part of the hosts runs a chain as long as its path") {
  const auto sim = hosts(8, "latency: 10ms");
  const std::vector<base::Nanos> times =
      times_of(sim, 8,
               {broadcast("flat", Part::longest_path), broadcast("binomial", Part::longest_path),
                broadcast("chain", Part::longest_path), broadcast("chain", Part::all),
                broadcast("flat", Part::longest_path)});
  CHECK(times == std::vector<base::Nanos>{10ms, 30ms, 70ms, 70ms, 10ms});
}

TEST_CASE("requested runs: pairs of hosts slow each other down only on a shared network") {
  RunRequest one = broadcast("flat", Part::pair), all = broadcast("flat", Part::pairs);
  one.count = all.count = 10'000;
  const std::vector<base::Nanos> apart =
      times_of(hosts(7, "latency: 1ms, bandwidth: 80Mbit"), 7, {one, all});
  CHECK(apart[0] == apart[1]);
  const test_support::Sim shared(
      "clusters:\n  a: {hosts: 4}\n  b: {hosts: 4}\n"
      "links: {all: {latency: 1ms, bandwidth: 80Mbit}}\nlanes: {}\n");
  const std::vector<base::Nanos> together = times_of(shared, 8, {one, all});
  CHECK(together[1] > 3 * together[0]);
}

TEST_CASE("requested runs: only the first hosts run a schedule if a request has their number") {
  RunRequest few = broadcast("chain", Part::all);
  few.hosts = 2;
  const std::vector<base::Nanos> times =
      times_of(hosts(4, "latency: 10ms"), 4, {few, broadcast("chain", Part::all)});
  CHECK(times == std::vector<base::Nanos>{10ms, 30ms});
  CHECK(few.text() == "broadcast 1 tree:shape=chain on 2 hosts");
}
