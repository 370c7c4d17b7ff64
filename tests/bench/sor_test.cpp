// SPDX-License-Identifier: Apache-2.0
// tests/bench/sor_test.cpp — the solver on the virtual clock: the bits of its cells, its decisions
// and the times of its iterations.
#include "bench/sor/sor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "bench/noise_allreduce/noise_allreduce.hpp"
#include "bench/sor/grid_files.hpp"
#include "bench/sor/reference.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/sim.hpp"

namespace {

using base::Nanos;
using bench::SorOptions;
using namespace std::chrono_literals;

const paths::RunOptions on_virtual_clock = {.clock = runtime::ClockKind::virtual_time};

/// Number of threads of each host, indexed by cluster and by host of the cluster.
using Clusters = std::vector<std::vector<std::uint32_t>>;

std::string config(const Clusters& clusters, double less, const std::string& link) {
  std::string text = "clusters:\n";
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    std::string hosts, threads;
    for (std::size_t j = 0; j < clusters[i].size(); ++j) {
      hosts += fmt::format("{}c{}-{}", j == 0 ? "" : ", ", i, j);
      threads += fmt::format("{}c{}-{}: {}", j == 0 ? "" : ", ", i, j, clusters[i][j]);
    }
    text += fmt::format("  c{}: {{hosts: [{}], threads: {{{}}}}}\n", i, hosts, threads);
  }
  if (clusters.size() > 1) text += "links:\n";
  for (std::size_t i = 0; i < clusters.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      text += fmt::format("  - {{between: [c{}, c{}], {}}}\n", j, i, link);
  return text + fmt::format(R"(
collectives:
  sum: {{operation: sum, template: f64, condition: {{less: {}}}, contributions: non_negative}}
exchanges:
  rows: {{template: "f64[]"}}
)",
                            less);
}

/// Returns a config with the default epsilon of the grid size and links of 10 ms.
std::string config(const Clusters& clusters, std::size_t size) {
  return config(clusters, bench::DataSet("frosty", size, 1).epsilon(), "latency: 10ms");
}

SorOptions options_of(const std::string& data, std::size_t size, const std::string& halo) {
  SorOptions options;
  options.data = data;
  options.size = size;
  options.halo = halo;
  return options;
}

struct Run {
  std::map<std::uint32_t, bench::SorPart> parts;
  nlohmann::ordered_json json;
};

Run run(const std::string& config, const std::string& algorithm, const SorOptions& options) {
  paths::Overrides overrides;
  overrides.algorithm = algorithm;
  const test_support::Sim sim(config, overrides);
  bench::Sor sor(options);
  sor.prepare(sim.plan(), on_virtual_clock);
  Run run;
  const auto failures = paths::run_plan(
      sim.shared_plan(), sim.kinds(), on_virtual_clock,
      [&](paths::Thread& thread) { sor.run(thread); },
      [&](const paths::RunSummary& summary) { run.json = sor.figures(summary); });
  CHECK(failures == std::vector<std::string>());
  run.parts = sor.parts();
  return run;
}

std::vector<bench::ReferenceThread> threads_of(const Clusters& clusters, std::size_t size) {
  std::vector<bench::ReferenceThread> threads;
  std::size_t host = 0, count = 0;
  for (const auto& hosts : clusters)
    for (const std::uint32_t of_host : hosts) count += of_host;
  const auto blocks = bench::row_blocks(size, count);
  for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster)
    for (const std::uint32_t of_host : clusters[cluster]) {
      for (std::uint32_t i = 0; i < of_host; ++i) {
        const bench::RowRange rows = blocks[threads.size()];
        threads.push_back({cluster, host, rows.begin, rows.end});
      }
      ++host;
    }
  return threads;
}

std::uint64_t bits(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Compares every contribution, every decision and every cell with the reference solver.
void check_against_reference(const Run& run, const Clusters& clusters, const SorOptions& options) {
  const bench::DataSet data(options.data, options.size, options.data_seed);
  bench::ReferenceSolver reference(data, data.best_omega(), threads_of(clusters, options.size));
  const std::uint64_t iterations = run.json["iterations"];
  std::uint64_t wrong = 0;
  std::vector<bool> says_stop;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    says_stop.push_back(reference.iterate() < data.epsilon());
    for (const auto& [rank, part] : run.parts)
      wrong += bits(part.changes.at(i)) != bits(reference.changes()[rank]) ? 1 : 0;
  }
  CHECK(wrong == 0);
  const auto& decisions = run.parts.at(0).decisions;
  REQUIRE(!decisions.empty());
  for (const auto& decision : decisions)
    wrong += decision.is_stop != says_stop.at(decision.iteration) ? 1 : 0;
  CHECK(wrong == 0);
  CHECK(run.json["converged"] == true);
  CHECK(run.json["stop_iteration"] == decisions.back().iteration + 1);
  CHECK(run.json["grid_digest"] ==
        bench::grid_digest(options.size, [&](std::size_t row, std::span<double> cells) {
          std::copy_n(reference.row(row).begin(), cells.size(), cells.begin());
        }).text());
}

Run checked_run(const Clusters& clusters, const std::string& algorithm, SorOptions options) {
  const std::string values = "sor_contributions.tmp";
  options.values = values;  // makes the run store all contributions
  const Run result = run(config(clusters, options.size), algorithm, options);
  std::filesystem::remove(values);
  check_against_reference(result, clusters, options);
  return result;
}

/// `prompt` lists algorithms that decide each iteration before the next one begins. `late` lists
/// algorithms that decide later, or that skip the decision in some iterations.
const std::vector<std::string> prompt = {"sequential",
                                         "magpie",
                                         "exact",
                                         "conditional",
                                         "conditional:push",
                                         "conditional:demand",
                                         "conditional:subscribe:4"};
const std::vector<std::string> late = {"periodic:5", "lagged:3", "budget:6,3"};

/// Runs a config whose condition never holds. In each iteration, each thread's own value is enough
/// to prove that the condition does not hold.
Run unwatched_run(const Clusters& clusters, const std::string& link, SorOptions options) {
  options.data = "random";
  return run(config(clusters, 1e-300, link), "conditional", options);
}

Nanos elapsed(const Run& run, std::uint32_t rank) { return run.parts.at(rank).figures.elapsed; }

}  // namespace

TEST_CASE("sor: 1 to 6 threads in 1 to 3 clusters have the reference's cells and last iteration") {
  const std::vector<Clusters> all = {
      {{1}},         {{2}},           {{1, 2}},           {{1}, {1}},        {{2, 1}, {1}},
      {{1}, {2, 2}}, {{1}, {1}, {1}}, {{1, 1}, {1}, {2}}, {{2}, {1, 1}, {2}}};
  for (const Clusters& clusters : all)
    for (const std::string& algorithm : prompt)
      for (const std::string halo : {"plain", "hidden"}) {
        INFO(config(clusters, 0, "") << algorithm << " " << halo);
        SorOptions options = options_of("frosty", 30, halo);
        // With this cost per row, one iteration takes at least as long as the link's latency.
        options.cost_per_row = "10ms";
        const Run result = checked_run(clusters, algorithm, options);
        CHECK(result.json["iterations"] == result.json["stop_iteration"]);
        CHECK((result.json["halo_iterations"] > 0) == (halo != "plain" && clusters.size() > 1));
      }
}

TEST_CASE("sor: a late result stops all threads after the same number of further iterations") {
  const Clusters clusters = {{1, 1}, {2}};
  SorOptions options = options_of("random", 30, "1");
  options.cost_per_row = "10ms";
  const std::uint64_t stop = checked_run(clusters, "magpie", options).json["stop_iteration"];
  const auto figures = [&](const std::string& algorithm) {
    return checked_run(clusters, algorithm, options).json;
  };
  const auto lagged = figures("lagged:3");
  CHECK(lagged["stop_iteration"] == stop);
  CHECK(lagged["iterations"] == stop + 3);
  const auto budget = figures("budget:6,3");
  CHECK(budget["stop_iteration"] == stop);
  CHECK(budget["iterations"] == stop + 6);
  const auto periodic = figures("periodic:5");
  CHECK(periodic["iterations"] == periodic["stop_iteration"]);
  CHECK(periodic["iterations"] >= stop);
  CHECK(periodic["iterations"] < stop + 5);
}

TEST_CASE("sor: all bits equal the reference for random sizes and threads and clusters and halos") {
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 1);
  const std::uint64_t seeds = test_support::from_environment("PATHS_SEEDS", 40);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    runtime::Random random(seed);
    const auto pick = [&random](std::uint64_t least, std::uint64_t most) {
      return least + random.below(most - least + 1);
    };
    Clusters clusters(pick(1, 3));
    std::uint64_t threads = 0;
    for (auto& hosts : clusters) {
      hosts.resize(pick(1, 2));
      for (auto& of_host : hosts) threads += of_host = static_cast<std::uint32_t>(pick(1, 2));
    }
    const std::uint64_t deepest = pick(0, 4);
    const std::uint64_t size = 2 + threads * std::max<std::uint64_t>(4 * deepest, 1) + pick(1, 9);
    const std::string halo = deepest == 0 ? "plain" : std::to_string(pick(1, deepest));
    SorOptions options = options_of(std::string(bench::DataSet::names()[pick(0, 2)]), size, halo);
    options.data_seed = seed;
    options.cost_per_row = fmt::format("{}us", pick(1, 1000));
    const auto& algorithms = random.chance(0.5) ? prompt : late;
    const std::string& algorithm = algorithms[random.below(algorithms.size())];
    INFO("seed " << seed << ": " << options.data << " " << size << ", halo " << halo << ", "
                 << algorithm << "\n"
                 << config(clusters, 0, ""));
    checked_run(clusters, algorithm, options);
  }
}

TEST_CASE("sor: without links an iteration takes the time of its rows") {
  SorOptions options = options_of("random", 22, "plain");
  options.iterations = 7;
  const Run result = run(config({{2}}, 22), "sequential", options);
  CHECK(elapsed(result, 0) == 7 * 100us);  // each thread has 10 rows of 10 us
  CHECK(result.json["ms_per_iteration"]["mean"] == Approx(0.1));
  CHECK(result.json["iterations"] == 7);
  CHECK(result.json["stop_iteration"].is_null());
  CHECK(result.json["wan"]["messages"] == 0);
}

TEST_CASE("sor: a plain halo takes the unhidden link latency for each colour") {
  SorOptions options = options_of("random", 22, "plain");
  options.iterations = 3;
  const Run result = unwatched_run({{1}, {1}}, "latency: 10ms", options);
  // In each of the 3 iterations, the red border row takes 5 us and then travels for 10 ms.
  // Meanwhile 90 us of inner rows are relaxed. Then the black border row takes 5 us and also
  // travels for 10 ms. The second and the third iteration wait for this black row.
  CHECK(elapsed(result, 0) == 3 * (5us + 10ms + 5us) + 2 * 10ms);
  CHECK(result.parts.at(0).exchange == 3 * (10ms - 90us) + 2 * 10ms);
  // In each iteration, each of the two threads sends one row of each colour. A row has 11 cells,
  // preceded by their byte count.
  CHECK(result.json["wan"]["exchange"]["messages"] == 3 * 2 * 2);
  CHECK(result.json["wan"]["exchange"]["bytes"] == 3 * 2 * 2 * (4 + 11 * 8));
}

TEST_CASE("sor: a deep enough halo never waits and costs only its redundant rows") {
  SorOptions options = options_of("random", 82, "hidden");
  options.iterations = 100;
  options.cost_per_row = "100us";
  // 40 rows of 100 us take 4 ms per iteration, so 3 iterations hide the latency of 10 ms. A fourth
  // iteration is added as a reserve for variation. Each message carries a state: the 16 rows of the
  // sender that are nearest to the receiver. From each state, the receiver computes 16 * 15 / 2 =
  // 120 half rows redundantly.
  const Run result = unwatched_run({{1}, {1}}, "latency: 10ms", options);
  CHECK(result.json["halo_iterations"] == 4);
  CHECK(result.parts.at(0).exchange == Nanos(0));
  const std::uint64_t redundant = result.parts.at(0).redundant_half_rows;
  // The receiver uses each state for 4 iterations, and the first state from iteration 8 on. It
  // never uses the state that is sent at iteration 96, because the run ends at iteration 100.
  CHECK(redundant > 23 * 120);
  CHECK(redundant <= 24 * 120);
  CHECK(elapsed(result, 0) == 100 * 4ms + static_cast<std::int64_t>(redundant) * 50us);
  // States are sent at iterations 4, 8, ... 96.
  CHECK(result.json["wan"]["exchange"]["messages"] == 2 * 24);
  CHECK(result.json["wan"]["exchange"]["bytes"] == 2 * 24 * (4 + 16 * 82 * 8));
}

TEST_CASE("sor: the halo depth over a traced link covers its less frequent latencies") {
  // The link has a latency of 500 ms in 5 of 1000 seconds. Such a rare latency is ignored.
  const test_support::WrittenFile file("0 10\n985 30\n990 30\n995 500\n");
  SorOptions options = options_of("random", 82, "hidden");
  options.iterations = 100;
  options.cost_per_row = "100us";
  const Run result = unwatched_run({{1}, {1}}, "trace: " + file.path(), options);
  // 6 iterations of 4 ms and 23 redundant rows of 100 us take 6 * 6.3 ms, which hides the latency
  // of 30 ms. A seventh iteration is added as a reserve for variation.
  CHECK(result.json["halo_iterations"] == 7);
  CHECK(result.parts.at(0).exchange == Nanos(0));
}

TEST_CASE("sor: the halo depth follows from latency and bandwidth and the time of the rows") {
  bench::FarBorder border;
  border.latency = 10ms;
  border.rows = 1000;
  border.latency_max = 20;
  const auto iterations = [&](Nanos of_all, Nanos of_border) {
    return border.hiding({of_all, of_border}).latency;
  };
  CHECK(iterations(10ms, 10ms) == 2);
  CHECK(iterations(4ms, 4ms) == 4);   // 3 iterations of 4 ms, and a fourth as a reserve
  CHECK(iterations(4ms, 1ms) == 4);   // 4 ms is the time of the slowest thread of the run
  CHECK(iterations(1us, 1us) == 20);  // 20 = `latency_max`, which limits the depth of the halo
  border.rows = 40;
  // A halo of two iterations sends 8 rows. In each iteration 7 rows are then redundant, and the
  // iteration takes 4.4 + 0.77 ms. Two iterations hide the latency of 10 ms. A third iteration is
  // the reserve.
  CHECK(iterations(4400us, 4400us) == 3);
  border.rows = 1000;
  // A row takes 1 ms over the link. Each further iteration of the halo sends 4 more rows. These
  // take 4 ms, longer than the iteration of 3 ms, so no depth hides the latency.
  border.row_passage = 1ms;
  CHECK(iterations(3ms, 3ms) == 20);
  // 9 iterations take 5.175 ms each, in total 46.6 ms. This exceeds the latency of 10 ms plus 36 ms
  // for the 36 rows of the halo. A tenth iteration is the reserve.
  CHECK(iterations(5ms, 5ms) == 10);
}

TEST_CASE("sor: measured computation takes time on the virtual clock") {
  SorOptions options = options_of("random", 42, "hidden");
  options.iterations = 20;
  options.compute = "measured";
  const Run result = unwatched_run({{1}, {1}}, "latency: 1ms", options);
  CHECK(result.json["halo_iterations"] > 0);
  CHECK(result.json["compute_ms_by_thread"]["least"] > 0.0);
  CHECK(elapsed(result, 0) > Nanos(0));
}

TEST_CASE("sor: noise_allreduce replays written values to the same conditions") {
  const Clusters clusters = {{1, 1}, {2}};
  const std::string file = "sor_replayed.tmp";
  SorOptions options = options_of("tridiagonal", 20, "plain");
  options.values = file;
  const test_support::Sim sim(config(clusters, 20));
  bench::Sor sor(options);
  sor.prepare(sim.plan(), on_virtual_clock);
  nlohmann::ordered_json solved;
  paths::run_plan(
      sim.shared_plan(), sim.kinds(), on_virtual_clock,
      [&](paths::Thread& thread) { sor.run(thread); },
      [&](const paths::RunSummary& summary) {
        solved = sor.figures(summary);
        sor.finish(summary);
      });
  for (const std::string& algorithm : prompt) {
    INFO(algorithm);
    paths::Overrides overrides;
    overrides.algorithm = algorithm;
    const test_support::Sim replaying(config(clusters, 20), overrides);
    bench::NoiseOptions noise_options;
    noise_options.values = file;
    noise_options.iterations = solved["iterations"];
    bench::NoiseAllreduce noise(noise_options);
    noise.prepare(replaying.plan(), on_virtual_clock);
    nlohmann::ordered_json replayed;
    paths::run_plan(
        replaying.shared_plan(), replaying.kinds(), on_virtual_clock,
        [&](paths::Thread& thread) { noise.run(thread); },
        [&](const paths::RunSummary& summary) {
          replayed = bench::to_json(noise.figures(summary));
        });
    CHECK(replayed["conditions"] == solved["conditions"]);
  }
  std::filesystem::remove(file);
}

TEST_CASE("sor: a part is unchanged after encoding to a tuple and back") {
  bench::SorPart part;
  part.figures = {3, 1ms, 2ms, 3ms, {4ms, 5ms, 6ms}, 7, base::Digest{8, 9}, {}};
  part.figures.decisions.waits[1] = {2, 3ms, 4ms};
  part.exchange = 10ms;
  part.iterations = 11;
  part.stop_iteration = 12;
  part.half_rows = 13;
  part.redundant_half_rows = 14;
  part.halo = 15;
  part.rows = {16, 18};
  part.row_digests = {{19, 20}, {21, 22}};
  part.decisions = {{23, false}, {24, true}};
  part.durations = {25ms};
  part.changes = {1e-300, 0.1};
  part.cells = {-273.15, 5e-324};
  part.exchange_wan[26] = {27, 28, 0};
  part.collective_wan[29] = {30, 31, 0};
  const bench::SorPart same = bench::decode_part(bench::encode_part(part));
  CHECK(same.figures.rank == 3);
  CHECK(same.figures.elapsed == 3ms);
  CHECK(same.figures.spread.max == 6ms);
  CHECK(same.figures.conditions == part.figures.conditions);
  CHECK(same.figures.decisions.waits.at(1).longest == 4ms);
  CHECK(same.exchange == 10ms);
  CHECK(same.stop_iteration == part.stop_iteration);
  CHECK(same.halo == 15);
  CHECK(same.rows == part.rows);
  CHECK(same.row_digests == part.row_digests);
  CHECK(same.decisions.at(1).iteration == 24);
  CHECK(same.decisions.at(1).is_stop);
  CHECK(same.durations == part.durations);
  CHECK(same.changes == part.changes);
  CHECK(same.cells == part.cells);
  CHECK(same.exchange_wan.at(26).bytes == 28);
  CHECK(same.collective_wan.at(29).messages == 30);
}

TEST_CASE("sor: inconsistent options are refused before anything runs") {
  const auto refused = [](const Clusters& clusters, SorOptions options, const std::string& says) {
    const test_support::Sim sim(config(clusters, options.size));
    bench::Sor sor(options);
    CHECK_THROWS_WITH(sor.prepare(sim.plan(), on_virtual_clock), Catch::Contains(says));
  };
  const auto options = [](auto change) {
    SorOptions all = options_of("frosty", 30, "plain");
    change(all);
    return all;
  };
  refused(
      {{1}, {1}}, options([](auto& all) { all.halo = "4"; }),
      "4 iterations of halo take 16 rows of the blocks of threads 0 and 1; the largest possible "
      "is 3");
  refused({{5}, {5}}, options([](auto& all) { all.halo = "hidden"; }),
          "the largest possible is none");
  refused({{2}}, options([](auto& all) { all.halo = "deep"; }), "--halo: expected plain, hidden");
  refused({{2}}, options([](auto& all) { all.exchange = "row"; }),
          "--exchange: the config has no exchange 'row'");
  refused({{2}}, options([](auto& all) { all.iterations = 0; }),
          "--iterations: expected 1 or more");
  refused({{2}}, options([](auto& all) { all.compute = "sort"; }), "--compute: expected declared");
  refused({{2}}, options([](auto& all) { all.cost_per_row = "10"; }), "--cost-per-row: expected");
  refused({{2}}, options([](auto& all) { all.json = "/nowhere/j"; }), "--json: expected a file");
  refused({{29}}, options([](auto&) {}), "--size: expected at least 31 for 29 threads");
  refused({{2}}, options([](auto& all) { all.halo = "18446744073709551615"; }), "--halo: expected");
  refused({{2}}, options([](auto& all) { all.cost_per_row = "2h"; }), "at most an hour");
  for (const double omega : {0.0, 2.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    refused({{2}}, options([&](auto& all) { all.omega = omega; }), "--omega: expected more than 0");
  CHECK_THROWS_WITH(bench::DataSet("frosty", 4'000'000'000, 1),
                    Catch::Contains("--size: expected at most 1000000, found 4000000000"));
}

TEST_CASE("sor: an exchange that cannot carry rows of any length is refused") {
  const std::string text = config({{1}, {1}}, 30);
  const std::size_t place = text.find("f64[]");
  const test_support::Sim sim(std::string(text).replace(place, 5, "f64[15]"));
  bench::Sor sor(options_of("frosty", 30, "plain"));
  CHECK_THROWS_WITH(
      sor.prepare(sim.plan(), on_virtual_clock),
      Catch::Contains("--exchange: expected rows of template \"f64[]\", found \"f64[15]\""));
}

TEST_CASE("sor: a whole grid is refused if processes cannot report all parts") {
  const auto prepare = [](const std::string& report, auto change) {
    const test_support::Sim sim(config({{1}, {1}}, 30) + report);
    SorOptions options = options_of("frosty", 30, "plain");
    change(options);
    paths::RunOptions of_one_host;
    of_one_host.is_one_host = true;
    bench::Sor(options).prepare(sim.plan(), of_one_host);
  };
  const auto nothing = [](auto&) {};
  const auto check = [](auto& all) { all.check = true; };
  const std::string whole = "elements: {report: {host: c0-0, template: bytes, reach: all}}";
  CHECK_NOTHROW(prepare("", nothing));
  CHECK_NOTHROW(prepare(whole, check));
  CHECK_THROWS_WITH(prepare("", check), Catch::Contains("--check: hosts that are processes need"));
  CHECK_THROWS_WITH(prepare("", [](auto& all) { all.raw = "/nowhere/raw"; }),
                    Catch::Contains("--raw: hosts that are processes need"));
  CHECK_THROWS_WITH(
      prepare("elements: {report: {host: c0-0, template: bytes, reach: [c1]}}", check),
      Catch::Contains("found none that all reach"));
  CHECK_THROWS_WITH(
      prepare("elements: {report: {host: c0-0, template: bytes, reach: all, keep_newest: 1}}",
              nothing),
      Catch::Contains("element report: expected template \"bytes\" and no keep_newest"));
  CHECK_THROWS_WITH(prepare("elements: {report: {host: c0-0, template: f64, reach: all}}", nothing),
                    Catch::Contains("found template \"f64\""));
}
