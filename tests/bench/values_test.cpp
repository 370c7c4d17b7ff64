// SPDX-License-Identifier: Apache-2.0
// tests/bench/values_test.cpp — values that do or do not decide a condition, and tables of values.
#include "bench/support/values.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "bench/support/compute.hpp"
#include "tests/support/folder.hpp"

namespace {

using base::Payload;
using base::Scalar;
using base::Sign;
using bench::Collective;
using bench::Values;
using paths::Comparison;
using test_support::WrittenFile;

constexpr std::uint32_t threads = 5;

Collective collective_of(const std::string& operation, Sign sign, Comparison comparison,
                         double constant, Scalar scalar = Scalar::f64) {
  Collective collective;
  collective.name = "test";
  collective.reduction.operation = base::reduce_operation(operation);
  collective.reduction.shape.scalar = scalar;
  collective.reduction.sign = sign;
  collective.condition = paths::ConditionSpec{comparison, scalar, {}};
  if (scalar == Scalar::i64) {
    collective.condition->constant = static_cast<std::int64_t>(constant);
  } else if (comparison != Comparison::is_true) {
    collective.condition->constant = constant;
  }
  return collective;
}

std::vector<std::byte> reduced(const Collective& collective, const Values& values,
                               std::uint64_t iteration) {
  std::vector<std::byte> all;
  for (std::uint32_t rank = 0; rank < threads; ++rank) {
    const Payload value = values.of(rank, iteration);
    base::check_contribution(collective.reduction.shape, collective.reduction.sign, value.bytes());
    if (rank == 0)
      all.assign(value.bytes().begin(), value.bytes().end());
    else
      collective.reduction.fold(all, value.bytes());
  }
  return all;
}

/// Checks the two sets of contributions that Values derives from the condition of `collective`. The
/// provable outcome is the outcome that a single contribution can prove.
/// - "best": in every iteration except the last, each contribution alone proves the outcome. In the
///   last iteration, the result has the opposite outcome.
/// - "worst": in every iteration, the result has the opposite outcome.
void check_values(const Collective& collective) {
  const auto outcome = collective.provable_outcome();
  REQUIRE(outcome.has_value());
  const auto& spec = *collective.condition;
  const Values best(collective, "best", 3, threads);
  const Values worst(collective, "worst", 3, threads);
  for (std::uint64_t iteration = 0; iteration < 3; ++iteration) {
    INFO("iteration " << iteration);
    const bool is_last = iteration == 2;
    CHECK(paths::holds(spec, reduced(collective, best, iteration)) == (*outcome != is_last));
    CHECK(paths::holds(spec, reduced(collective, worst, iteration)) != *outcome);
    if (is_last) continue;
    for (std::uint32_t rank = 0; rank < threads; ++rank)
      CHECK(paths::proves(spec, collective.reduction.operation->name, collective.reduction.sign,
                          best.of(rank, iteration).bytes()));
  }
}

Collective unchecked(Scalar scalar) {
  Collective collective;
  collective.reduction.operation = base::reduce_operation("sum");
  collective.reduction.shape.scalar = scalar;
  return collective;
}

}  // namespace

TEST_CASE("noise values: with best each value decides until the end and with worst none does") {
  for (const Comparison comparison : {Comparison::less, Comparison::at_most, Comparison::greater,
                                      Comparison::at_least, Comparison::equal}) {
    for (const Scalar scalar : {Scalar::f64, Scalar::i64}) {
      INFO(paths::comparison_name(comparison) << " " << base::scalar_name(scalar));
      check_values(collective_of("sum", Sign::non_negative, comparison, 7, scalar));
      check_values(collective_of("sum", Sign::non_positive, comparison, -7, scalar));
      check_values(collective_of("max", Sign::any, comparison, -3, scalar));
      check_values(collective_of("max", Sign::non_negative, comparison, 3, scalar));
      check_values(collective_of("min", Sign::any, comparison, 3, scalar));
    }
  }
  check_values(collective_of("sum", Sign::non_negative, Comparison::less, 0.01904));
  check_values(collective_of("logical_or", Sign::any, Comparison::is_true, 0));
  check_values(collective_of("logical_and", Sign::any, Comparison::is_true, 0));
}

TEST_CASE("noise values: a condition whose outcome cannot change is refused") {
  const Collective always = collective_of("sum", Sign::non_negative, Comparison::less, 0);
  CHECK_THROWS_WITH(Values(always, "best", 3, 2),
                    "--values: the condition 'less' of test has the same outcome whatever the "
                    "threads contribute (non_negative); give values in a file");
}

TEST_CASE("noise values: without a condition every contribution is zero") {
  const Values values(unchecked(Scalar::i64), "worst", 3, 2);
  CHECK(values.of(3, 1).read<std::int64_t>() == 0);
}

TEST_CASE("noise values: a table has a row per iteration and a column per thread and repeats") {
  const WrittenFile file("1, 2.5,3   # the first iteration\n\n  4\t-5;+6e1\n");
  const Values values(unchecked(Scalar::f64), file.path(), 100, 3);
  CHECK(values.of(0, 0).read<double>() == 1);
  CHECK(values.of(1, 0).read<double>() == 2.5);
  CHECK(values.of(1, 1).read<double>() == -5);
  CHECK(values.of(2, 3).read<double>() == 60);
  CHECK(values.of(1, 2).read<double>() == 2.5);
  CHECK(values.warming_up(0).read<double>() == 1);
}

TEST_CASE("noise values: a table of one column applies to every thread") {
  const WrittenFile file("5\n7");
  const Values values(unchecked(Scalar::f64), file.path(), 2, 3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) CHECK(values.of(rank, 1).read<double>() == 7);
}

TEST_CASE("noise values: integers keep every bit") {
  const WrittenFile file("9007199254740993 18446744073709551615");
  const Values values(unchecked(Scalar::u64), file.path(), 1, 2);
  CHECK(values.of(0, 0).read<std::uint64_t>() == 9007199254740993u);
  CHECK(values.of(1, 0).read<std::uint64_t>() == 18446744073709551615u);
}

TEST_CASE("noise values: all mistakes in a table are reported with their places") {
  const WrittenFile file("1 2\n3 x4\n5\n");
  CHECK_THROWS_WITH(Values(unchecked(Scalar::f64), file.path(), 1, 2),
                    file.path() + ":2:3: expected a number of type f64, found 'x4'\n" +
                        file.path() + ":3:1: expected 2 columns as in the first row, found 1");
  CHECK_THROWS_WITH(Values(unchecked(Scalar::f64), file.path(), 1, 7),
                    Catch::StartsWith(file.path() + ":1:1: expected 1 column, or 7 for as many "
                                                    "threads, found 2\n"));
  const WrittenFile empty("# nothing\n");
  CHECK_THROWS_WITH(Values(unchecked(Scalar::f64), empty.path(), 1, 2),
                    Catch::Contains("expected a row of values, found none"));
  CHECK_THROWS_WITH(Values(unchecked(Scalar::f64), "no_such_file", 1, 2),
                    "--values: expected best, worst or a file, but cannot read 'no_such_file'");
}

TEST_CASE("noise values: a table is limited in size and each of its numbers has one meaning") {
  for (const std::string word : {"010", "0x10", "nan", "inf", "1e999", "--1", "1.5.2"}) {
    CAPTURE(word);
    const WrittenFile file("1 " + word + "\n");
    CHECK_THROWS_WITH(Values(unchecked(Scalar::f64), file.path(), 1, 2),
                      file.path() + ":1:3: expected a number of type f64, found '" + word + "'");
  }
  for (const std::string word : {"-1", "256", "1.0", "007"}) {
    CAPTURE(word);
    const WrittenFile file(word);
    CHECK_THROWS_WITH(Values(unchecked(Scalar::u8), file.path(), 1, 2),
                      file.path() + ":1:1: expected a number of type u8, found '" + word + "'");
  }
  CHECK_THROWS_WITH(Values(unchecked(Scalar::f64), "/dev/zero", 1, 2),
                    "/dev/zero: larger than 268435456 bytes");
  CHECK_THROWS_WITH(Values(unchecked(Scalar::f64), "/tmp", 1, 2),
                    "/tmp: cannot be read: Is a directory");
}

TEST_CASE("noise replay: an invalid recording is refused with the place and its size is limited") {
  const std::string beyond =
      " that begins at 0 or later, where the delay before it ends, and ends within 30 years, "
      "found ";
  for (const std::string line : {"5", "1 2 3", "-1 2", "1 -2", "0x1 2", "010 2", "1e3 2", "nan 1",
                                 "1.5s 2", "9223372036854775807 9223372036854775807",
                                 "1000000000000000000 1", "99999999999999999999 1"}) {
    CAPTURE(line);
    const WrittenFile file(line + "\n");
    CHECK_THROWS_WITH(
        bench::Noise(file.path()),
        file.path() + ":1:1: expected 'start_ns duration_ns'" + beyond + "'" + line + "'");
  }
  CHECK_THROWS_WITH(bench::Noise("/dev/zero"), "/dev/zero: larger than 268435456 bytes");
  CHECK_THROWS_WITH(bench::Noise("no_such_file"),
                    "no_such_file: cannot be read: No such file or directory");
  const WrittenFile latest("999999999999999999 1\n");
  CHECK(bench::Noise(latest.path()).period() == base::time_max);
}

TEST_CASE(
    "noise replay: a delay that begins during computation extends it and the recording repeats") {
  using base::Nanos;
  const WrittenFile file("100 10\n200 50\n");  // the recording ends at 250 and then repeats
  const bench::Noise noise(file.path());
  CHECK(noise.period() == Nanos(250));
  // The computation ends when a delay begins.
  CHECK(noise.stretched(Nanos(0), Nanos(100)) == Nanos(100));
  CHECK(noise.stretched(Nanos(0), Nanos(101)) == Nanos(111));
  // The computation begins in the middle of the first delay.
  CHECK(noise.stretched(Nanos(105), Nanos(10)) == Nanos(15));
  CHECK(noise.stretched(Nanos(110), Nanos(95)) == Nanos(145));
  // The computation begins at 230, when 20 of the second delay remain. A computation of 130 also
  // contains the first delay of the next repetition, which takes 10: 20 + 130 + 10.
  CHECK(noise.stretched(Nanos(230), Nanos(30)) == Nanos(50));
  CHECK(noise.stretched(Nanos(230), Nanos(130)) == Nanos(160));
  CHECK(noise.stretched(Nanos(250), Nanos(101)) == Nanos(111));
  const WrittenFile full("0 100\n");
  CHECK_THROWS_WITH(bench::Noise(full.path()), Catch::Contains("leave no time for computing"));
  const WrittenFile overlapping("0 100\n50 10\n");
  CHECK_THROWS_WITH(bench::Noise(overlapping.path()), Catch::Contains(":2:1: expected"));
}
