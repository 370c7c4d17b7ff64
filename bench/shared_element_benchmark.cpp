// SPDX-License-Identifier: Apache-2.0
// bench/shared_element_benchmark.cpp — elements in memory that two processes map: moving alone, two
// who move, there and back, large tuples.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "pastset/local_element.hpp"
#include "pastset/shared_space.hpp"
#include "runtime/runtime.hpp"

namespace {

using pastset::Element;
using pastset::SharedSpace;

base::Payload payload_of(std::int64_t bytes) {
  return base::Payload::copy_of(std::vector<std::byte>(static_cast<std::size_t>(bytes)));
}

const pastset::Template any_value = *pastset::Template::parse("u64");

std::unique_ptr<SharedSpace> make_space(std::size_t bytes = std::size_t{64} << 20) {
  return SharedSpace::make("benchmark-" + std::to_string(getpid()), {.bytes = bytes});
}

/// Another process that maps the space and does something until it is killed.
class Other {
 public:
  Other(const SharedSpace& space, runtime::Waiting waiting,
        const std::function<void(SharedSpace&)>& act)
      : pid_(fork()) {
    if (pid_ != 0) return;
    runtime::Runtime runtime({.waiting = waiting});
    runtime.run([&] { act(*SharedSpace::map(base::Descriptor(dup(space.descriptor())))); });
    _exit(0);
  }
  ~Other() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

 private:
  const pid_t pid_;
};

void move_alone(benchmark::State& state) {
  const auto space = make_space();
  const auto element = space->enter("e", any_value, {.keep_newest = 1});
  const base::Payload payload = payload_of(8);
  for (auto _ : state) benchmark::DoNotOptimize(element->move(payload));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(move_alone);

void move_alone_in_this_process(benchmark::State& state) {
  pastset::LocalElement element("e", any_value, {.keep_newest = 1});
  const base::Payload payload = payload_of(8);
  for (auto _ : state) benchmark::DoNotOptimize(element.move(payload));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(move_alone_in_this_process);

void move_observe_and_axe_alone(benchmark::State& state) {
  const auto space = make_space();
  const auto element = space->enter("e", any_value);
  const base::Payload payload = payload_of(8);
  for (auto _ : state) {
    const std::uint64_t number = element->move(payload);
    benchmark::DoNotOptimize(element->observe());
    element->axe(number);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(move_observe_and_axe_alone);

/// Of all moves, both processes'.
void two_movers(benchmark::State& state) {
  const auto space = make_space();
  const auto element = space->enter("e", any_value, {.keep_newest = 1});
  const base::Payload payload = payload_of(8);
  const Other other(*space, runtime::Waiting::adaptive, [&](SharedSpace& own) {
    const auto same = own.enter("e", any_value);
    for (;;) same->move(payload);
  });
  while (element->last() == 0) {
  }
  const std::uint64_t before = element->last();
  for (auto _ : state) benchmark::DoNotOptimize(element->move(payload));
  state.SetItemsProcessed(static_cast<std::int64_t>(element->last() - before));
}
BENCHMARK(two_movers)->UseRealTime();

/// A tuple there and another one back.
void there_and_back(benchmark::State& state) {
  const auto waiting = state.range(0) == 0 ? runtime::Waiting::adaptive : runtime::Waiting::sleep;
  const auto space = make_space();
  const pastset::ElementOptions few{.delta = 4};
  const auto there = space->enter("there", any_value, few);
  const auto back = space->enter("back", any_value, few);
  const base::Payload payload = payload_of(8);
  const auto observe = [](Element& element) { element.axe(element.observe().number); };
  const Other other(*space, waiting, [&](SharedSpace& own) {
    const auto from = own.enter("there", any_value), to = own.enter("back", any_value);
    for (;;) {
      observe(*from);
      to->move(payload);
    }
  });
  runtime::Runtime runtime({.waiting = waiting});
  runtime.run([&] {
    for (auto _ : state) {
      there->move(payload);
      observe(*back);
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(there_and_back)->ArgName("sleeping")->Arg(0)->Arg(1)->UseRealTime();

/// Copied in by one process, read in place by the other, every line of it.
void large_tuples(benchmark::State& state) {
  const std::int64_t bytes = state.range(0);
  const auto any = *pastset::Template::parse("u8[" + std::to_string(bytes) + "]");
  const auto space = make_space(std::size_t{256} << 20);
  const auto element =
      space->enter("e", any, {.delta = 2}, {.slots = 8, .arena_bytes = std::size_t{160} << 20});
  const base::Payload payload = payload_of(bytes);
  const Other other(*space, runtime::Waiting::adaptive, [&](SharedSpace& own) {
    const auto same = own.enter("e", any);
    for (std::size_t sum = 0;;) {
      const pastset::Stored stored = same->observe();
      for (std::size_t at = 0; at < stored.payload.size(); at += 64)
        sum += static_cast<std::size_t>(stored.payload.bytes()[at]);
      benchmark::DoNotOptimize(sum);
      same->axe(stored.number);
    }
  });
  runtime::Runtime runtime;
  runtime.run([&] {
    for (auto _ : state) element->move(payload);
  });
  state.SetBytesProcessed(state.iterations() * bytes);
}
BENCHMARK(large_tuples)->Arg(1 << 20)->Arg(32 << 20)->UseRealTime();

}  // namespace
