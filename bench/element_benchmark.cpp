// SPDX-License-Identifier: Apache-2.0
// bench/element_benchmark.cpp — time of moves and observations on an element without contention
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "pastset/local_element.hpp"

namespace {

pastset::Template bytes_template(std::int64_t bytes) {
  return *pastset::Template::parse("u8[" + std::to_string(bytes) + "]");
}

base::Payload payload_of(std::int64_t bytes) {
  return base::Payload::copy_of(std::vector<std::byte>(static_cast<std::size_t>(bytes)));
}

void move_and_observe(benchmark::State& state) {
  pastset::LocalElement element("element", bytes_template(state.range(0)));
  const base::Payload payload = payload_of(state.range(0));
  for (auto _ : state) {
    const std::uint64_t number = element.move(payload);
    benchmark::DoNotOptimize(element.observe());
    element.axe(number);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(move_and_observe)->Arg(8)->Arg(1024)->Arg(1 << 20);

void move_into_newest_only(benchmark::State& state) {
  pastset::ElementOptions options;
  options.keep_newest = 1;
  pastset::LocalElement element("element", bytes_template(8), options);
  const base::Payload payload = payload_of(8);
  for (auto _ : state) benchmark::DoNotOptimize(element.move(payload));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(move_into_newest_only);

void read_newest(benchmark::State& state) {
  pastset::LocalElement element("element", bytes_template(8));
  element.move(payload_of(8));
  for (auto _ : state) benchmark::DoNotOptimize(element.try_newest());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_newest);

}  // namespace
