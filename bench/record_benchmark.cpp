// SPDX-License-Identifier: Apache-2.0
// bench/record_benchmark.cpp — adding a record to the buffer of a host, by one thread and by more.
#include <benchmark/benchmark.h>

#include "eventspace/buffer.hpp"

namespace {

void add(benchmark::State& state) {
  static eventspace::Buffer buffer(1 << 16);
  eventspace::EventRecord record;
  for (auto _ : state) {
    ++record.sequence;
    buffer.add(record);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(add)->Threads(1)->Threads(2);

}  // namespace
