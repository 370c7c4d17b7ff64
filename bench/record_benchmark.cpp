// SPDX-License-Identifier: Apache-2.0
// bench/record_benchmark.cpp — time to make a record: mean of many, and percentiles of single ones
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "eventspace/recorder.hpp"

namespace {

using Clock = std::chrono::steady_clock;  // tidy: real time

constexpr std::size_t lane_records = std::size_t{1} << 16;

std::int64_t nanos_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

void take_all(eventspace::Recorder& recorder) {
  recorder.take([](const eventspace::Recorder::Taken& taken) {
    benchmark::DoNotOptimize(taken.records[0].data());
  });
}

/// Measures Recorder::add() alone. The measurement pauses while records are removed from the
/// recorder.
void add(benchmark::State& state) {
  static eventspace::Recorder recorder(lane_records);
  eventspace::EventRecord record;
  for (auto _ : state) {
    record.sequence = record.sequence + 1;
    recorder.add(record);
    if (record.sequence % (lane_records / 2) == 0) {
      state.PauseTiming();
      take_all(recorder);
      state.ResumeTiming();
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(add)->Threads(1)->Threads(2);

/// Measures the time that a collector costs an operation while recording is off.
void add_when_off(benchmark::State& state) {
  static eventspace::Recorder recorder;
  const eventspace::EventRecord record;
  for (auto _ : state) recorder.add(record);
}
BENCHMARK(add_when_off);

double percentile(std::vector<std::int64_t>& values, double share) {
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return static_cast<double>(*place);
}

/// Measures single records as a collector makes them, with two clock readings and add(). The first
/// clock reading is also the start of the measured time.
void stamp_and_add(benchmark::State& state) {
  static eventspace::Recorder recorder(lane_records);
  std::vector<std::int64_t> spans;
  spans.reserve(std::size_t{1} << 22);
  eventspace::EventRecord record;
  for (auto _ : state) {
    const std::int64_t begin = nanos_now();
    record.down_nanos = begin;
    record.sequence = record.sequence + 1;
    record.up_nanos = nanos_now();
    recorder.add(record);
    const std::int64_t end = nanos_now();
    if (spans.size() < spans.capacity()) spans.push_back(end - begin);
    if (record.sequence % (lane_records / 2) == 0) take_all(recorder);
  }
  state.counters["median_ns"] = percentile(spans, 0.5);
  state.counters["p99_ns"] = percentile(spans, 0.99);
}
BENCHMARK(stamp_and_add);

}  // namespace
