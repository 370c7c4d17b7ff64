// SPDX-License-Identifier: Apache-2.0
// tests/paths/allocations_real.cpp — counted allocations of messages between hosts.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>

#include "paths/host/host.hpp"
#include "paths/host/peers_of.hpp"
#include "paths/host/thread.hpp"
#include "paths/wire/transports.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace paths;
using test_support::Sim;

constexpr std::uint64_t operations = 1000;

/// Allocations by the threads of the two hosts. Allocations by the threads of ZeroMQ do not count.
struct Cost {
  double near = 0, far = 0;  // allocations per operation
};

/// Runs one of two hosts of this process, which connect over real sockets or shared memory.
void run_host(const Sim& sim, std::uint32_t index, const std::function<void(Thread&)>& function) {
  runtime::Runtime runtime;
  runtime.wake_from_outside([index] { test_support::allocate_for(static_cast<int>(index)); });
  runtime.run([&] {
    Host host(runtime, sim.shared_plan(), index, sim.kinds(),
              make_transports(runtime, peers_of(sim.plan()), index));
    host.start();
    {
      Thread thread(host.deployment(), 0, 1);
      function(thread);
    }
    CHECK(host.finish() == "");
  });
}

Cost cost_of(bool shared_memory, const std::function<void(Path&)>& operate) {
  const std::string memory = shared_memory ? "" : "shared_memory: false\n";
  const Sim sim(test_support::network_line("ipc", 2) + memory + R"(
clusters: {alpha: {hosts: 2, threads: 1}}
elements: {value: {host: alpha-1, template: f64, keep_newest: 1, reach: all}}
)");
  Cost cost;
  runtime::Runtime outer;
  outer.run([&] {
    runtime::Task far = outer.spawn(runtime::ContextRole::thread, {"host", "alpha-1"},
                                    [&] { run_host(sim, 1, [](Thread&) {}); });
    run_host(sim, 0, [&](Thread& thread) {
      Path& path = thread.path("value");
      for (std::uint64_t i = 0; i < operations; ++i) operate(path);
      path.last();
      test_support::allocate_for(0);
      const std::uint64_t near = test_support::allocations_for(0);
      const std::uint64_t far_before = test_support::allocations_for(1);
      for (std::uint64_t i = 0; i < operations; ++i) operate(path);
      test_support::allocate_for(-1);
      path.last();
      cost.near = static_cast<double>(test_support::allocations_for(0) - near) / operations;
      cost.far = static_cast<double>(test_support::allocations_for(1) - far_before) / operations;
    });
    far.join();
  });
  return cost;
}

/// Limit for two allocations per operation, with a tolerance: on a busy machine timers and signs of
/// life, which belong to no operation, allocate occasionally. A third allocation would be found.
constexpr double at_most_two = 2.5;

}  // namespace

TEST_CASE("allocations: a request and its reply take at most two on each side") {
  const bool shared_memory = GENERATE(false, true);
  INFO((shared_memory ? "shared memory" : "sockets"));
  const Cost read = cost_of(shared_memory, [](Path& path) { path.first(); });
  CHECK(read.near <= at_most_two);
  CHECK(read.far <= at_most_two);
  const Cost moved = cost_of(shared_memory, [](Path& path) { path.move_value(1.0); });
  CHECK(moved.near <= at_most_two);
  CHECK(moved.far <= at_most_two);
}

TEST_CASE("allocations: a push takes at most two on each side") {
  const bool shared_memory = GENERATE(false, true);
  INFO((shared_memory ? "shared memory" : "sockets"));
  const Cost pushed = cost_of(shared_memory, [](Path& path) { path.send(base::Payload::of(1.0)); });
  CHECK(pushed.near <= at_most_two);
  CHECK(pushed.far <= at_most_two);
}

TEST_CASE("allocations: a contribution to the join of another host takes at most two there") {
  const Sim sim(test_support::network_line("ipc", 2) + R"(
clusters: {alpha: {hosts: 2, threads: 1}}
collectives: {sum: {kind: allreduce, operation: sum, template: f64}}
)");
  double at_join = 0;
  runtime::Runtime outer;
  outer.run([&] {
    runtime::Task near = outer.spawn(runtime::ContextRole::thread, {"host", "alpha-1"}, [&] {
      run_host(sim, 1, [&](Thread& thread) {
        Path& sum = thread.path("sum");
        for (std::uint64_t i = 0; i < operations; ++i) sum.move_value(1.0);
        const std::uint64_t before = test_support::allocations_for(0);
        for (std::uint64_t i = 0; i < operations; ++i) sum.move_value(1.0);
        at_join = static_cast<double>(test_support::allocations_for(0) - before) / operations;
      });
    });
    run_host(sim, 0, [](Thread& thread) {
      for (std::uint64_t i = 0; i < 2 * operations; ++i) thread.path("sum").move_value(1.0);
    });
    near.join();
  });
  CHECK(at_join <= at_most_two);
}
