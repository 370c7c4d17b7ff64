// SPDX-License-Identifier: Apache-2.0
// tests/bench/noise_allreduce_test.cpp — times of noise_allreduce on the virtual clock, compared
// with hand-computed nanoseconds.
#include "bench/noise_allreduce/noise_allreduce.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "tests/support/thrown.hpp"
#include "wrappers/all.hpp"

namespace {

using base::Nanos;
using bench::NoiseAllreduce;
using bench::NoiseOptions;

/// Two clusters whose links differ by direction. The second cluster is slower and has a gateway.
constexpr const char* two_clusters = R"(
clusters:
  alpha: {hosts: 2, threads: 2, network: {latency: 50us}}
  beta: {hosts: 2, threads: 1, speed: 0.8, gateway: beta-gateway, network: {latency: 70us}}
links:
  - {from: alpha, to: beta, latency: 10ms}
  - {from: beta, to: alpha, latency: 11ms}
collectives:
  sum: {operation: sum, template: f64, condition: {less: 0.01}, contributions: non_negative}
)";

struct Run {
  std::string json;
  std::vector<Nanos> iterations_of_thread_0;
  std::vector<bench::ThreadFigures> threads;
  nlohmann::ordered_json figures;
};

Run run(const std::string& algorithm, const NoiseOptions& options,
        const std::string& config = two_clusters) {
  paths::Overrides overrides;
  if (!algorithm.empty()) overrides.algorithm = algorithm;
  const auto plan = std::make_shared<const paths::Plan>(paths::read_plan(
      base::parse_settings(config, "test.yaml"), wrappers::all_kinds(), overrides));
  const paths::RunOptions run_options = {.clock = runtime::ClockKind::virtual_time};
  NoiseAllreduce noise(options);
  noise.prepare(*plan, run_options);
  Run run;
  const auto failures = paths::run_plan(
      plan, wrappers::all_kinds(), run_options, [&](paths::Thread& thread) { noise.run(thread); },
      [&](const paths::RunSummary& summary) {
        const bench::Figures figures = noise.figures(summary);
        CHECK(bench::disagreement(figures) == "");
        run.iterations_of_thread_0 = figures.iterations_of_thread_0;
        run.threads = figures.threads;
        run.figures = bench::to_json(figures);
        run.json = run.figures.dump(2);
      });
  CHECK(failures == std::vector<std::string>());
  return run;
}

NoiseOptions four_iterations(const std::string& values = "best") {
  NoiseOptions options;
  options.iterations = 4;
  options.values = values;
  return options;
}

/// Converts times given in hundredths of a millisecond. All times below are multiples of 0.01 ms.
std::vector<Nanos> hundredths(const std::vector<std::int64_t>& times) {
  std::vector<Nanos> all;
  for (const std::int64_t time : times) all.push_back(Nanos(time * 10'000));
  return all;
}

bool is_near(const nlohmann::ordered_json& value, double expected) {
  return value.get<double>() == Approx(expected).epsilon(1e-12);
}

}  // namespace

TEST_CASE("noise_allreduce: a sequential round takes the time down and up of the farthest thread") {
  const Run result = run("sequential", four_iterations());
  // All times in ms. Hosts of beta compute for 30 / 0.8 = 37.5. The values take 0.07 from beta-1 to
  // beta-0, 0.07 to the gateway and 11 to alpha: 37.5 + 11.14 = 48.64. Alpha has its own sum
  // already at 30.05, so thread 0 has its first result at 48.64. The result takes 10 to the
  // gateway, 0.07 to beta-0 and 0.07 to beta-1: 48.64 + 10.14 = 58.78. Each later iteration takes
  // 58.78 for every thread.
  CHECK(result.iterations_of_thread_0 == hundredths({4864, 5878, 5878, 5878}));
  // alpha-1 gets each result 0.05 ms after alpha-0. beta-0 gets each result 0.07 ms before beta-1.
  const std::int64_t rounds = 3 * 5878;
  std::vector<Nanos> elapsed;
  for (const auto& thread : result.threads) elapsed.push_back(thread.elapsed);
  CHECK(elapsed == hundredths({rounds + 4864, rounds + 4864, rounds + 4869, rounds + 4869,
                               rounds + 5871, rounds + 5878}));
  CHECK(is_near(result.figures["ms_per_iteration"]["mean"], 58.78));
  CHECK(is_near(result.figures["ms_per_iteration"]["p50"], 58.78));
  CHECK(is_near(result.figures["ms_per_iteration"]["max"], 58.78));
  CHECK(is_near(result.figures["compute_ms"], (4 * 30.0 + 2 * 37.5) / 6));
  // In each iteration, one frame with one f64 crosses in each direction.
  CHECK(is_near(result.figures["wan"]["messages_per_iteration"], 2));
  CHECK(is_near(result.figures["wan"]["bytes_per_iteration"], 16));
  CHECK(is_near(result.figures["clusters"][1]["wan"]["messages_per_iteration"], 1));
}

TEST_CASE("noise_allreduce: a round of magpie takes the time of one direction") {
  const Run result = run("magpie", four_iterations());
  // Times in ms. A and B: times at which the clusters alpha and beta know their own sums. a and b:
  // times at which alpha and beta know both sums.
  //   A = previous a + 0.05 + 30 + 0.05 (the result to alpha-1, the computation, the value back).
  //   B = previous b + 0.07 + 37.5 + 0.07 (the same in beta).
  //   a = max(A, B + 0.07 + 11), b = max(B, A + 10 + 0.07). The request for a sum arrives early.
  //
  //       A       B       a       b
  //
  //   1   30.05   37.57   48.64   40.12   (no result precedes: 0.05 and 0.07 count only once)
  //   2   78.74   77.76   88.83   88.81
  //   3  118.93  126.45  137.52  129.00
  //   4  167.62  166.64  177.71  177.69
  CHECK(result.iterations_of_thread_0 ==
        hundredths({4864, 8883 - 4864, 13752 - 8883, 17771 - 13752}));
  std::vector<Nanos> elapsed;
  for (const auto& thread : result.threads) elapsed.push_back(thread.elapsed);
  CHECK(elapsed == hundredths({17771, 17771, 17776, 17776, 17769, 17776}));
  CHECK(is_near(result.figures["ms_per_iteration"]["mean"], 177.76 / 4));
  CHECK(is_near(result.figures["clusters"][0]["proved_share"], 0));
}

TEST_CASE("noise_allreduce: conditional in its worst case takes as long as magpie") {
  const Run conditional = run("conditional", four_iterations("worst"));
  const Run magpie = run("magpie", four_iterations("worst"));
  CHECK(conditional.iterations_of_thread_0 == magpie.iterations_of_thread_0);
  CHECK(is_near(conditional.figures["clusters"][0]["proved_share"], 0));
}

TEST_CASE(
    "noise_allreduce: conditional in its best case waits for another cluster only at the end") {
  const Run result = run("conditional", four_iterations());
  // Times in ms at which the clusters have their own sums: alpha at 30.05 and then every 30.10,
  // beta at 37.57 and then every 37.64. The fourth sums are ready at 120.35 and 150.49. A prefetch
  // requests the next tuple when a tuple has arrived, so each request arrives long before the next
  // tuple.
  //
  // beta has alpha's fourth sum at 120.35 + 10.07 = 130.42. It has its own fourth sum at 150.49,
  // and decides then. alpha has beta's fourth sum at 150.49 + 11.07 = 161.56.
  CHECK(result.iterations_of_thread_0 == hundredths({3005, 3010, 3010, 16156 - 9025}));
  std::vector<Nanos> elapsed;
  for (const auto& thread : result.threads) elapsed.push_back(thread.elapsed);
  CHECK(elapsed == hundredths({16156, 16156, 16161, 16161, 15049, 15056}));
  // alpha-0 has the last result at 161.56 ms. The threads of alpha-1 get it 0.05 ms later, at
  // 161.61 ms, which is the greatest total time. They get the third result at 90.25 + 0.05 = 90.30
  // ms. Iterations of beta take 37.64 ms.
  CHECK(is_near(result.figures["ms_per_iteration"]["mean"], 161.61 / 4));
  CHECK(is_near(result.figures["ms_per_iteration"]["p50"], 37.64));
  CHECK(is_near(result.figures["ms_per_iteration"]["max"], 161.61 - 90.30));
  CHECK(is_near(result.figures["clusters"][0]["proved_share"], 0.75));
  CHECK(is_near(result.figures["clusters"][1]["proved_share"], 0.75));
}

TEST_CASE(
    "noise_allreduce: every algorithm computes the same conditions and best differs from worst") {
  const auto conditions = [](const std::string& algorithm, const std::string& values) {
    return run(algorithm, four_iterations(values)).figures["conditions"].get<std::string>();
  };
  CHECK(conditions("magpie", "best") == conditions("sequential", "best"));
  CHECK(conditions("conditional", "best") == conditions("sequential", "best"));
  CHECK(conditions("conditional", "worst") == conditions("sequential", "worst"));
  CHECK(conditions("sequential", "worst") != conditions("sequential", "best"));
}

TEST_CASE("noise_allreduce: figures show how rounds were decided and when a stop was known") {
  const auto decided = [](const std::string& algorithm) {
    return run(algorithm, four_iterations()).figures;
  };
  const auto conditional = decided("conditional:demand");
  for (const auto& cluster : conditional["clusters"]) {
    CHECK(cluster["decided"]["local"] == 3);
    CHECK(cluster["decided"]["waited"] == 1);
    CHECK(cluster["decided"]["remote"] == 1);
    const std::string other = cluster["name"] == "alpha" ? "beta" : "alpha";
    CHECK(cluster["decided"]["waits"][other]["count"] == 1);
  }
  CHECK(conditional["stop_iteration"]["about"] == 4);
  CHECK(conditional["stop_iteration"]["known"] == 4);
  // In 4 iterations, 2 requests and 2 replies pass between the clusters.
  CHECK(conditional["wan"]["messages_per_iteration"] == 1.0);
  CHECK(decided("sequential")["clusters"][0]["decided"]["joined"] == 4);

  const auto periodic = decided("periodic:2");
  CHECK(periodic["clusters"][0]["decided"]["unchecked"] == 2);
  CHECK(periodic["stop_iteration"]["about"] == 4);
  const auto lagged = decided("lagged:1");
  CHECK(lagged["clusters"][0]["decided"]["unchecked"] == 1);
  CHECK(lagged["stop_iteration"]["about"] == 0);  // 0 = no iteration receives the fourth result
}

TEST_CASE("noise_allreduce: noise at a given time occurs once") {
  NoiseOptions options = four_iterations();
  const std::vector<Nanos> usual = run("sequential", options).iterations_of_thread_0;
  options.noise = {"alpha-0/0=500ms@100ms"};
  const std::vector<Nanos> held = run("sequential", options).iterations_of_thread_0;
  REQUIRE(held.size() == 4);
  int longer = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    if (held[i] > usual[i] + Nanos(400'000'000)) ++longer;
  }
  CHECK(longer == 1);
  CHECK(held[0] == usual[0]);
}

TEST_CASE("noise_allreduce: two virtual runs with one seed give the same bytes") {
  for (const std::string algorithm : {"sequential", "magpie", "conditional"}) {
    INFO(algorithm);
    NoiseOptions options = four_iterations();
    options.iterations = 50;
    options.warmup = 3;
    CHECK(run(algorithm, options).json == run(algorithm, options).json);
  }
}

TEST_CASE("noise_allreduce: the algorithm is found from the plan even with a single cluster") {
  for (const std::string algorithm : {"sequential", "magpie", "conditional"}) {
    const Run result = run(algorithm, four_iterations(), R"(
clusters: {alpha: {hosts: 2}}
collectives:
  sum: {template: i64, condition: {at_least: 5}, contributions: non_negative}
)");
    CHECK(result.figures["algorithm"] == algorithm);
    CHECK(result.figures["threads"] == 2);
  }
}

TEST_CASE("noise_allreduce: warm-up rounds are not measured but their messages are sent") {
  NoiseOptions options = four_iterations();
  options.warmup = 6;
  const Run result = run("sequential", options);
  // All threads begin the first round at the same time, so it takes only 48.64 ms. Here the first
  // round is a warm-up round, which is not measured.
  CHECK(result.iterations_of_thread_0 == hundredths({5878, 5878, 5878, 5878}));
  CHECK(is_near(result.figures["wan"]["messages_per_iteration"], 2));
}

namespace {

/// Returns the error with which options are refused before a thread runs, or "nothing".
std::string refusal(NoiseOptions options, const std::string& config = two_clusters) {
  const paths::Plan plan =
      paths::read_plan(base::parse_settings(config, "test.yaml"), wrappers::all_kinds());
  return test_support::thrown<std::exception>([&] {
    NoiseAllreduce(std::move(options)).prepare(plan, {.clock = runtime::ClockKind::virtual_time});
  });
}

}  // namespace

TEST_CASE("noise_allreduce: impossible options are refused before a thread runs") {
  const auto with = [](auto option, const auto& value) {
    NoiseOptions options;
    options.*option = value;
    return refusal(options);
  };
  using Options = NoiseOptions;
  CHECK(with(&Options::compute, "sort") ==
        "--compute sort takes real time, which does not pass on the virtual clock; expected "
        "declared, sleep or replay");
  CHECK(with(&Options::compute, "shleep") ==
        "--compute: expected sort, spin, sleep, declared or replay, found 'shleep'");
  CHECK(with(&Options::compute_time, "30") ==
        "--compute-time: expected a time such as 30ms, found '30'");
  CHECK(with(&Options::compute, "replay") ==
        "--compute replay and --replay FILE or DIR need each other");
  CHECK(with(&Options::collective, "product") ==
        "--collective: expected an allreduce of the config, sum, found 'product'");
  CHECK(refusal({},
                "clusters: {alpha: {hosts: 1}}\nelements: {report: {host: alpha-0, "
                "template: bytes, reach: all}}") ==
        "the config has no collective of kind allreduce; one of the low level says under graphs "
        "which they are");
  CHECK(refusal({}, "clusters: {alpha: {hosts: 2}}\ncollectives: {sum: {template: 'f64[4]'}}") ==
        "collective sum: every thread contributes one scalar, but its template is 'f64[4]'");
  CHECK(refusal({},
                "clusters: {alpha: {hosts: 2}}\n"
                "collectives: {a: {template: f64}, b: {template: f64}}") ==
        "--collective: the config has several, say which: a, b");
  const std::string no_file = ": expected a file that can be written, found ";
  CHECK(with(&Options::json, "/nowhere/j") ==
        "--json" + no_file + "'/nowhere/j': there is no folder /nowhere");
  CHECK(with(&Options::json, "/dev/") == "--json" + no_file + "'/dev/': Is a directory");
  CHECK(with(&Options::decisions, "/nowhere/d") ==
        "--decisions" + no_file + "'/nowhere/d': there is no folder /nowhere");
  CHECK_THAT(with(&Options::noise, std::vector<std::string>{"alpha-0/0=2562047h@1s"}),
             Catch::Contains("no time longer than 30 years, found"));
  CHECK(with(&Options::compute_time, "1000000001s") ==
        "--compute-time: expected a time of at most 1000000000s, about 30 years, found "
        "'1000000001s'");
  // On hosts of beta, which have speed 0.8, this computation takes more than 30 years.
  CHECK(with(&Options::compute_time, "900000000s") ==
        "computing that takes 250000h would take more than 30 years on a host of speed 0.8");
  CHECK(with(&Options::json, "-") == "nothing");
  CHECK(with(&Options::decisions, "-") == "--decisions" + no_file + "'-'");
}

TEST_CASE("noise_allreduce: a single thread runs the collective under every algorithm") {
  const std::string config =
      "clusters: {alpha: {hosts: 1}}\n"
      "collectives: {sum: {template: f64, condition: {less: 1}, contributions: non_negative}}";
  for (const std::string algorithm :
       {"sequential", "magpie", "conditional", "periodic:2", "lagged:1", "budget:4,2"}) {
    CAPTURE(algorithm);
    NoiseOptions options;
    options.iterations = 4;
    options.values = "worst";
    const Run result = run(algorithm, options, config);
    CHECK(result.iterations_of_thread_0 == hundredths({3000, 3000, 3000, 3000}));
  }
  NoiseOptions options;
  options.iterations = 1;
  const Run unchecked =
      run("", options, "clusters: {a: {hosts: 1}}\ncollectives: {sum: {template: f64}}");
  CHECK(unchecked.iterations_of_thread_0 == hundredths({3000}));
}

TEST_CASE("noise_allreduce: a late result that belongs to a warm-up round is no stop") {
  // The result of every round fulfils the stop condition, also in the warm-up rounds.
  NoiseOptions options = four_iterations();
  options.iterations = 8;
  options.warmup = 4;
  const Run result = run("lagged:2", options);
  // 0 = no iteration receives the eighth result.
  CHECK(result.figures["stop_iteration"]["about"] == 0);
  CHECK(bench::number_of(4, 4) == 1);
  CHECK(bench::number_of(2, 4) == -1);
}

TEST_CASE("noise_allreduce: threads that computed different conditions are found") {
  const paths::Plan plan =
      paths::read_plan(base::parse_settings(two_clusters, "test.yaml"), wrappers::all_kinds());
  bench::Figures figures{plan};
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    figures.threads.emplace_back();
    figures.threads.back().rank = rank;
  }
  CHECK(bench::disagreement(figures).empty());
  figures.threads[5].conditions.low = 1;
  CHECK(bench::disagreement(figures) ==
        "the threads did not learn the same conditions:\n"
        "  00000000000000000000000000000000: 5 threads, the first of them on host alpha-0\n"
        "  00000000000000000000000000000001: 1 threads, the first of them on host beta-1");
}

TEST_CASE(
    "noise_allreduce: a wait is reported for a cluster even if none of its threads is known") {
  const paths::Plan plan =
      paths::read_plan(base::parse_settings(two_clusters, "test.yaml"), wrappers::all_kinds());
  bench::Figures figures{plan};
  figures.threads.emplace_back().decisions.waits[1].count = 3;
  const auto json = bench::to_json(figures);
  REQUIRE(json["clusters"].size() == 1);
  CHECK(json["clusters"][0]["decided"]["waits"]["beta"]["count"] == 3);
}
