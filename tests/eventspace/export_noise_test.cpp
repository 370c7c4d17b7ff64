// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/export_noise_test.cpp — export of noise, compared with the noise that the test
// has put into the run.
#include <catch2/catch.hpp>
#include <sstream>

#include "eventspace/export/noise.hpp"
#include "tests/eventspace/export_sample.hpp"

namespace {

using namespace eventspace;
using namespace export_sample;
using trace_sample::Folder;

struct Noise {
  std::vector<std::pair<std::int64_t, std::int64_t>> lines;  // start and duration in ns
  std::vector<std::string> comments;
  bool is_in_order = true;
  std::int64_t sum = 0;
};

Noise read(const fs::path& file) {
  Noise noise;
  std::istringstream text(trace_sample::bytes_of(file));
  std::int64_t end = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('#')) {
      noise.comments.push_back(line);
      continue;
    }
    std::istringstream words(line);
    std::int64_t start = -1, duration = -1;
    noise.is_in_order = noise.is_in_order && words >> start >> duration && start >= end;
    end = start + duration;
    noise.lines.emplace_back(start, duration);
    noise.sum += duration;
  }
  return noise;
}

/// Returns the options of a run in which thread 3 loses 5 ms in about every third computation.
sample::Options with_noise() {
  sample::Options options;
  options.noise = {{3, 5 * sample::ms, 100 * sample::ms, 10 * sample::ms}};
  return options;
}

}  // namespace

TEST_CASE("noise: each computation longer than its thread's median is a line at its start") {
  const Folder folder;
  sample::Options options = with_noise();
  options.hosts = 2;
  sample::Run run(options);
  {
    Writing writing(folder.path() / "run", run.structure);
    for (int round = 0; round < 100; ++round) writing.add(run.next_round());
    writing.add(run.thread_records());
  }
  export_noise(TraceDirectory(folder.path() / "run"), folder.path() / "noise", 3);
  const Noise noise = read(folder.path() / "noise");
  CHECK(noise.comments == std::vector<std::string>{"# alpha-1/1"});
  CHECK(noise.is_in_order);
  // The export leaves out the time before the first operation of a thread. That time contains 5 ms
  // of noise.
  CHECK(noise.sum == run.noise_met(3) - 5 * sample::ms);
  CHECK(noise.lines.size() == 1 + static_cast<std::size_t>(noise.sum / (5 * sample::ms)));
  REQUIRE(noise.lines.size() > 2);
  CHECK(noise.lines.front().second == 5 * sample::ms);
  CHECK(noise.lines.back().second == 0);  // a last line marks the end of the recording
  CHECK(noise.lines.back().first > 99 * 40 * sample::ms);
}

TEST_CASE("noise: the noise of all threads is that of one thread after another") {
  const Folder folder;
  write_run(folder.path() / "run", 100, with_noise());
  const TraceDirectory trace(folder.path() / "run");
  export_noise(trace, folder.path() / "one", 3);
  export_noise(trace, folder.path() / "all");
  const Noise one = read(folder.path() / "one");
  const Noise all = read(folder.path() / "all");
  CHECK(all.comments.size() == trace.structure.thread_count());
  CHECK(all.is_in_order);
  CHECK(all.sum == one.sum);
  CHECK(all.lines.size() == one.lines.size());
  const std::int64_t end = one.lines.back().first;
  CHECK(all.lines.front().first - one.lines.front().first == Approx(3 * end).epsilon(0.01));
  CHECK(all.lines.back().first == Approx(8 * end).epsilon(0.01));
}

TEST_CASE("noise: without computations there is an error and no file") {
  const Folder folder;
  write_run(folder.path() / "run", 0);
  const TraceDirectory trace(folder.path() / "run");
  CHECK_THAT(
      refusal([&] { export_noise(trace, folder.path() / "noise"); }),
      Catch::EndsWith("run: no computations between operations of any thread were recorded"));
  CHECK_THAT(refusal([&] { export_noise(trace, folder.path() / "noise", 99); }),
             Catch::EndsWith("run: no computations between operations of thread 99 were recorded"));
  CHECK_FALSE(fs::exists(folder.path() / "noise"));
}
