// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/tables_test.cpp — tables of schedules for all sizes, made by searches at
// some of the sizes.
#include "collectives/tuner/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/collectives/tuner/instances.hpp"
#include "tests/support/environment.hpp"

using namespace tuner;
using base::Nanos;

namespace {

std::vector<std::uint64_t> octaves(std::uint64_t last) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = 8; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

/// Returns a space of two families without segmentation. The first family takes 100 us and 1 ns per
/// byte. The second family takes 300 us and `slope` ns per byte.
Space two_lines(std::uint64_t bytes, double slope = 0.5) {
  const auto time = [&](double start, double per_byte) {
    return Nanos(std::llround(start + per_byte * static_cast<double>(bytes)));
  };
  return {{{"first", {{0, time(100e3, 1)}}}, {"second", {{0, time(300e3, slope)}}}}};
}

RunAt runs_of(double slope) {
  return [=](std::uint64_t bytes, Configuration one) {
    return member_of(two_lines(bytes, slope), one).predicted;
  };
}

const Search& race_search() { return *search_named("race"); }

Options exact() {
  Options options;
  options.is_exact = true;
  return options;
}

Table table_of_lines(double true_slope, double model_slope = 0.5,
                     const std::vector<Row>& before = {}) {
  return tune_table(
      {octaves(8 << 20), [=](std::uint64_t bytes) { return two_lines(bytes, model_slope); },
       runs_of(true_slope), before},
      race_search(), exact());
}

}  // namespace

TEST_CASE("tuner: a size takes the first row that is not below it") {
  const std::vector<Row> rows{
      {2048, "doubling", 0}, {65536, "multilevel", 0}, {any_size, "multilevel", 32768}};
  for (const std::uint64_t bytes : {1, 8, 2048}) CHECK(&row_for(rows, bytes) == &rows[0]);
  for (const std::uint64_t bytes : {2049, 65536}) CHECK(&row_for(rows, bytes) == &rows[1]);
  CHECK(&row_for(rows, 65537) == &rows[2]);
  CHECK(&row_for(rows, any_size) == &rows[2]);
}

TEST_CASE("tuner: a size takes the configuration of a larger size that takes less time") {
  // The second family always takes 50 us. Below 8 KiB the predicted time of the second family is 1
  // ms, which alone would keep this family out of the race.
  TableTask task;
  task.sizes = {1024, 8192};
  task.space_of = [](std::uint64_t bytes) {
    const auto second = std::chrono::microseconds(bytes < 8192 ? 1000 : 50);
    return Space{{{"first", {{0, Nanos(100'000)}}}, {"second", {{0, second}}}}};
  };
  task.run_at = [](std::uint64_t, Configuration one) {
    return std::optional(Nanos(one.family == 0 ? 100'000 : 50'000));
  };
  const Table table = tune_table(task, race_search(), exact());
  REQUIRE(table.choices.size() == 2);
  for (const SizeChoice& choice : table.choices) {
    CHECK(choice.family == "second");
    CHECK(choice.measured == Nanos(50'000));
  }
  CHECK(table.choices[0].is_from_larger);
  CHECK_FALSE(table.choices[1].is_from_larger);
  CHECK(table.rows.size() == 1);
}

TEST_CASE("tuner: a table can be searched at every size") {
  for (const bool searches_all : {false, true}) {
    TableTask task;
    task.sizes = {64, 128, 256};
    task.space_of = [](std::uint64_t bytes) { return two_lines(bytes); };
    task.run_at = runs_of(0.5);
    task.searches_all = searches_all;
    std::size_t searched = 0;
    for (const SizeChoice& choice : tune_table(task, race_search(), exact()).choices)
      searched += choice.is_searched ? 1 : 0;
    CHECK(searched == (searches_all ? 3 : 1));
  }
}

TEST_CASE("tuner: corrections weigh near sizes more and other families only without own figures") {
  Corrections corrections;
  CHECK(corrections.corrected(8, "a", Nanos(1000)) == Nanos(1000));
  corrections.add(64, "a", Nanos(1000), Nanos(2000));
  CHECK(corrections.corrected(8, "a", Nanos(1000)) == Nanos(2000));
  CHECK(corrections.corrected(8, "b", Nanos(1000)) == Nanos(2000));
  corrections.add(1024, "a", Nanos(1000), Nanos(1000));
  // Both 64 B and 1024 B differ from 256 B by a factor of 4. Their corrections, 2 and 1, therefore
  // have the same weight. The result is their geometric mean, the square root of 2.
  CHECK(corrections.corrected(256, "a", Nanos(1000)) == Nanos(1414));
  // At 64 B, the correction 2 of 64 B has the weight 1, and the correction 1 of 1024 B exp(-1).
  const double expected = 1000 * std::pow(2, 1 / (1 + std::exp(-1)));
  CHECK(corrections.corrected(64, "a", Nanos(1000)) == Nanos(std::llround(expected)));
  corrections.add(256, "b", Nanos(1000), Nanos(500));
  CHECK(corrections.corrected(1024, "b", Nanos(1000)) == Nanos(500));
}

TEST_CASE("tuner: a table has one row per winner and the boundary where they cross") {
  const Table table = table_of_lines(0.5);
  REQUIRE(table.choices.size() == 21);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].family == "first");
  CHECK(table.rows[1].family == "second");
  CHECK(table.rows[1].up_to == any_size);
  // The lines cross at 400,000 B: both families then take 500 us.
  CHECK(table.rows[0].up_to >= 380'000);
  CHECK(table.rows[0].up_to <= 420'000);
  for (std::size_t i = 0; i < table.choices.size(); ++i)
    CHECK(table.choices[i].is_searched == (i % 3 == 0));
  CHECK(table.runs < 42);
  CHECK(!table.was_cancelled);
}

TEST_CASE("tuner: races correct the model at the sizes between them") {
  // The second family really takes 0.8 ns per byte. The lines therefore cross at 1,000,000 B, where
  // both families take 1100 us.
  const Table table = table_of_lines(0.8);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].up_to >= 800'000);
  CHECK(table.rows[0].up_to <= 1'250'000);
}

TEST_CASE("tuner: every search makes a table, and predict makes one without runs") {
  for (const Search& search : all_searches()) {
    INFO(search.name);
    const Table table = tune_table(
        {octaves(8 << 20), [](std::uint64_t bytes) { return two_lines(bytes); }, runs_of(0.5)},
        search, exact());
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].family == "first");
    CHECK((table.runs == 0) == (search.name == "predict"));
  }
}

TEST_CASE("tuner: a choice names the second one and what the model had predicted") {
  const Table table = table_of_lines(0.8);
  const std::uint64_t bytes = 256 << 10;  // at this size both families take similar times
  const SizeChoice& choice = table.choices[15];
  REQUIRE(choice.bytes == bytes);
  CHECK(choice.family == "first");
  CHECK(choice.next == "second");
  CHECK(choice.predicted == member_of(two_lines(bytes), {0, 0}).predicted);
  CHECK(choice.next_measured == member_of(two_lines(bytes, 0.8), {1, 0}).predicted);
}

TEST_CASE("tuner: a table keeps earlier rows that are at most 3% slower") {
  const std::vector<Row> before{{any_size, "first", 0}};
  // At 8 MiB the families take 8489 us and 8269 us, so the first is only 2.7% slower.
  CHECK(table_of_lines(0.95, 0.95).rows.size() == 2);
  CHECK(table_of_lines(0.95, 0.95, before).rows == before);
  const Table changed = table_of_lines(0.5, 0.5, before);
  REQUIRE(changed.rows.size() == 2);
  CHECK(changed.rows[1].family == "second");
}

TEST_CASE("tuner: rows join lengths within a factor of two") {
  const auto space_of = [](std::uint64_t bytes) {
    Family family{"chain", {{0, Nanos(1000 + static_cast<std::int64_t>(bytes))}}};
    for (std::uint64_t length = bytes / 2; length >= 1024; length /= 2)
      family.members.push_back(
          {length, Nanos(1000 + static_cast<std::int64_t>(length >= 4096 ? length : 9000))});
    return Space{{family}};
  };
  const Table table = tune_table({octaves(1 << 20), space_of,
                                  [&](std::uint64_t bytes, Configuration one) {
                                    return member_of(space_of(bytes), one).predicted;
                                  }},
                                 race_search(), exact());
  // Vectors up to 4 KiB are not segmented, and longer vectors have segments of 4 KiB. One row with
  // the length 4096 expresses both.
  CHECK(table.rows == std::vector<Row>{{any_size, "chain", 4096}});
}

TEST_CASE("tuner: a cancelled table keeps its samples and has no rows") {
  for (const std::size_t most : {0, 1, 5, 9}) {
    std::size_t runs = 0;
    Options options = exact();
    options.is_cancelled = [&] { return runs >= most; };
    const Table table =
        tune_table({octaves(8 << 20), [](std::uint64_t bytes) { return two_lines(bytes); },
                    [&](std::uint64_t bytes, Configuration one) {
                      ++runs;
                      return member_of(two_lines(bytes), one).predicted;
                    }},
                   race_search(), options);
    CHECK(table.was_cancelled);
    CHECK(table.rows.empty());
    CHECK(table.runs == most);
  }
}

namespace {

/// Quality of tables. `of_choices` contains the regret of the choice for each size. `of_rows`
/// contains, for each size, the regret of the schedule that the table's row names.
struct TableFigures {
  std::vector<double> of_choices = {}, of_rows = {};  // (time - least) / least
  std::size_t runs = 0, exhaustive_runs = 0, rows = 0, tables = 0;
};

double share_within(const std::vector<double>& regrets, double most) {
  return static_cast<double>(std::count_if(regrets.begin(), regrets.end(),
                                           [&](double one) { return one <= most; })) /
         static_cast<double>(regrets.size());
}

/// Returns the time without noise of the family `name`, for arrays of `bytes`. Uses the family's
/// message length that is nearest to `length`.
Nanos true_time(const Space& truth, std::uint64_t bytes, const std::string& name,
                std::uint64_t length) {
  std::optional<Nanos> time;
  double distance = 1e9;
  const auto log_of = [&](std::uint64_t one) {
    return std::log2(static_cast<double>(one == 0 || one >= bytes ? bytes : one));
  };
  for (const Family& family : truth.families)
    if (family.name == name)
      for (const Member& one : family.members)
        if (const double apart = std::abs(log_of(one.length) - log_of(length)); apart < distance) {
          distance = apart;
          time = one.predicted;
        }
  REQUIRE(time);
  return *time;
}

void add_table(std::uint64_t seed, const Ranges& ranges, TableFigures& figures) {
  using collectives::Collective;
  constexpr Collective kinds[] = {Collective::broadcast, Collective::reduce, Collective::allreduce};
  std::mt19937_64 chance(seed);
  const Site site = random_site(chance, ranges.hosts_most);
  const auto topology = std::make_shared<const collectives::Topology>(
      collectives::Topology::clustered(site.clusters));
  const Collective kind = kinds[seed % 3];
  const Truth truth(seed, site, topology);
  const pricing::Network believed = network_of_model(chance, good_model, site, topology);
  std::map<std::uint64_t, Space> truths;
  SharedNoise noise(seed);
  const auto space_of = [&](std::uint64_t bytes) {
    const auto task = make_spec(kind, topology, bytes / 8);
    const auto families = pricing::families_of(task, 8);
    truths[bytes] = truth.space(families, task, ranges.messages_most);
    return schedules_of(families, task, 8, believed, predict_on(task, 8, believed),
                        ranges.messages_most)
        .space;
  };
  const auto run = [&](std::uint64_t bytes, Configuration one) {
    return std::optional(noise.disturb(*member_of(truths.at(bytes), one).predicted));
  };
  const Table table =
      tune_table({octaves(ranges.bytes_most), space_of, run}, race_search(), {.seed = seed});
  figures.runs += table.runs;
  figures.rows += table.rows.size();
  ++figures.tables;
  for (const SizeChoice& choice : table.choices) {
    const Space& space = truths.at(choice.bytes);
    figures.exhaustive_runs += 10 * space.size();
    Nanos least = Nanos::max();
    for (const Family& family : space.families)
      for (const Member& one : family.members) least = std::min(least, *one.predicted);
    const auto regret = [&](Nanos time) {
      return static_cast<double>(time.count()) / static_cast<double>(least.count()) - 1;
    };
    const Row& row = row_for(table.rows, choice.bytes);
    figures.of_choices.push_back(
        regret(true_time(space, choice.bytes, choice.family, choice.length)));
    figures.of_rows.push_back(regret(true_time(space, choice.bytes, row.family, row.length)));
  }
}

std::string text_of(const TableFigures& figures) {
  std::string text = fmt::format(
      "{} tables, {:.1f} rows, {:.1f} runs each, {:.2f}% of an exhaustive search\n", figures.tables,
      static_cast<double>(figures.rows) / static_cast<double>(figures.tables),
      static_cast<double>(figures.runs) / static_cast<double>(figures.tables),
      100 * static_cast<double>(figures.runs) / static_cast<double>(figures.exhaustive_runs));
  for (const auto* regrets : {&figures.of_choices, &figures.of_rows}) {
    std::vector<double> sorted = *regrets;
    std::sort(sorted.begin(), sorted.end());
    double sum = 0;
    for (const double one : sorted) sum += one;
    const auto count = static_cast<double>(sorted.size());
    text += fmt::format("{}: regret {:.2f}%, p95 {:.1f}%, max {:.1f}%, within 5% {:.1f}%\n",
                        regrets == &figures.of_rows ? "rows" : "choices", 100 * sum / count,
                        100 * sorted[static_cast<std::size_t>(0.95 * (count - 1))],
                        100 * sorted.back(), 100 * share_within(sorted, 0.05));
  }
  return text;
}

TableFigures figures_of_tables(std::uint64_t tables, const Ranges& ranges) {
  TableFigures figures;
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 1);
  for (std::uint64_t seed = first; seed < first + tables; ++seed) add_table(seed, ranges, figures);
  return figures;
}

}  // namespace

TEST_CASE("tuner: tables meet their bar on random networks") {
  const TableFigures figures =
      figures_of_tables(test_support::from_environment("PATHS_SEEDS", test_support::or_fewer(6)),
                        {.hosts_most = 12, .bytes_most = 1 << 20, .messages_most = 1 << 12});
  INFO(text_of(figures));
  // A search may make at most 3% of the runs of an exhaustive search. With 12 tables or more, the
  // regret must be at most 5% for 85% of the choices, and at most 25% for all choices. With fewer
  // tables the limits are looser, because the sizes of one table often fail together.
  const bool are_many = figures.tables >= 12;
  CHECK(static_cast<double>(figures.runs) <= 0.03 * static_cast<double>(figures.exhaustive_runs));
  CHECK(share_within(figures.of_choices, 0.05) >= (are_many ? 0.85 : 0.7));
  CHECK(share_within(figures.of_rows, 0.05) >= (are_many ? 0.82 : 0.67));
  CHECK(share_within(figures.of_choices, are_many ? 0.25 : 0.3) == 1);
}

TEST_CASE("tuner: figures of tables on random networks", "[.random]") {
  fmt::print("{}", text_of(figures_of_tables(test_support::from_environment("PATHS_SEEDS", 12),
                                             {.hosts_most = 32})));
}
