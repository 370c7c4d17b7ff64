// SPDX-License-Identifier: Apache-2.0
// tests/paths/allocations_real.cpp — how much memory what crosses between hosts takes, counted.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>

#include "paths/host/host.hpp"
#include "paths/host/peers_of.hpp"
#include "paths/host/thread.hpp"
#include "paths/wire/transport_zmq.hpp"
#include "tests/support/processes.hpp"

namespace {

/// Allocations by the threads of each of two hosts; those of others, ZeroMQ's own among them, are
/// not counted.
std::array<std::atomic<std::uint64_t>, 2> allocations{};
thread_local int side = -1;

void* counted(std::size_t bytes) {
  if (side >= 0) allocations[static_cast<std::size_t>(side)].fetch_add(1);
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// The sanitizers have their own.
#if !defined(PATHS_ASAN) && !defined(PATHS_TSAN)
void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace paths;
using test_support::Sim;

constexpr std::uint64_t operations = 1000;

struct Cost {
  double near = 0, far = 0;  // allocations an operation
};

/// One of two hosts of this process, which meet over real sockets.
void run_host(const Sim& sim, std::uint32_t index, const std::function<void(Thread&)>& function) {
  runtime::Runtime runtime;
  runtime.wake_from_outside([index] { side = static_cast<int>(index); });
  runtime.run([&] {
    Host host(runtime, sim.shared_plan(), index, sim.kinds(),
              make_zmq_transport(runtime, peers_of(sim.plan()), index));
    host.start();
    {
      Thread thread(host, 0, 1);
      function(thread);
    }
    CHECK(host.finish() == "");
  });
}

Cost cost_of(const std::function<void(Path&)>& operate) {
  const Sim sim(test_support::network_line("ipc", 2) + R"(
clusters: {alpha: {hosts: 2, threads: 1}}
elements: {value: {host: alpha-1, template: f64, reach: all}}
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
      side = 0;
      const std::uint64_t near = allocations[0], far_before = allocations[1];
      for (std::uint64_t i = 0; i < operations; ++i) operate(path);
      side = -1;
      path.last();
      cost.near = static_cast<double>(allocations[0] - near) / operations;
      cost.far = static_cast<double>(allocations[1] - far_before) / operations;
    });
    far.join();
  });
  return cost;
}

}  // namespace

TEST_CASE("allocations: a request and its reply take at most two on each side") {
  const Cost read = cost_of([](Path& path) { path.first(); });
  CHECK(read.near <= 2);
  CHECK(read.far <= 2);
  const Cost moved = cost_of([](Path& path) { path.move_value(1.0); });
  CHECK(moved.near <= 2);
  CHECK(moved.far <= 2);
}

TEST_CASE("allocations: a push takes at most two on each side") {
  const Cost pushed = cost_of([](Path& path) { path.send(base::Payload::of(1.0)); });
  CHECK(pushed.near <= 2);
  CHECK(pushed.far <= 2);
}

#endif
