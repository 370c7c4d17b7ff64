// SPDX-License-Identifier: Apache-2.0
// bench/frame_benchmark.cpp — time to encode and decode frames
#include <benchmark/benchmark.h>

#include <vector>

#include "paths/wire/frame.hpp"

namespace {

paths::Frame request(std::int64_t bytes) {
  paths::Frame frame;
  frame.stage = 7;
  frame.operation.sequence = 1234;
  frame.operation.payload =
      base::Payload::copy_of(std::vector<std::byte>(static_cast<std::size_t>(bytes)));
  return frame;
}

void encode(benchmark::State& state) {
  const paths::Frame frame = request(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(paths::encode_header(frame));
    benchmark::DoNotOptimize(paths::encode_body(frame));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(encode)->Arg(8)->Arg(1 << 20);

void decode(benchmark::State& state) {
  const paths::Frame frame = request(state.range(0));
  const std::vector<std::byte> header = paths::encode_header(frame);
  const base::Payload body = paths::encode_body(frame);
  for (auto _ : state) benchmark::DoNotOptimize(paths::decode_frame(header, body));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(decode)->Arg(8)->Arg(1 << 20);

}  // namespace
