// SPDX-License-Identifier: Apache-2.0
// tests/bench/sor_kernel_test.cpp — exact bits of cells and sums of the solver, without threads and
// clocks.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "bench/sor/block.hpp"
#include "bench/sor/grid_files.hpp"
#include "bench/sor/half_row.hpp"
#include "bench/sor/reference.hpp"
#include "bench/support/values.hpp"
#include "runtime/random.hpp"

namespace {

using bench::Block;
using bench::DataSet;
using bench::GridRows;
using bench::ReferenceSolver;
using bench::RowRange;

std::uint64_t bits(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::vector<double> row_of(const GridRows& cells, std::size_t row, std::size_t size) {
  std::vector<double> all(size);
  cells.get_row(row, all);
  return all;
}

std::vector<double> row_of(const ReferenceSolver& reference, std::size_t row) {
  const auto cells = reference.row(row);
  return {cells.begin(), cells.end()};
}

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string name) : name_(std::move(name)) {}
  ~TemporaryFile() { std::filesystem::remove(name_); }
  const std::string& name() const { return name_; }
  std::string text() const {
    std::ifstream stream(name_, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

 private:
  std::string name_;
};

}  // namespace

TEST_CASE("sor kernel: vectors of every width give the same bits for any number of points") {
  constexpr std::size_t size = 61, runs = 300;
  runtime::Random random(7);
  for (std::size_t run = 0; run < runs; ++run) {
    INFO("run " << run);
    std::vector<double> own(size), around(3 * size + 1);
    for (double& cell : own) cell = 1e4 * random.unit() - 5e3;
    for (double& cell : around) cell = 1e4 * random.unit() - 5e3;
    std::vector<double> wide = own, narrow = own, plain = own;
    const std::size_t count = random.below(size + 1);
    const auto points = [&](std::vector<double>& cells) {
      return bench::HalfRow{cells.data(), around.data(), around.data() + size,
                            around.data() + 2 * size, count};
    };
    const double change = bench::relax(points(wide), 1.9);
    double lanes[bench::change_lanes] = {};
    for (std::size_t k = 0; k < count; ++k) {
      const double* const side = around.data() + 2 * size;
      const double sum = around[k] + around[size + k] + side[k] + side[k + 1];
      plain[k] = own[k] + 1.9 * (sum / 4 - own[k]);
      lanes[k % 8] += std::fabs(plain[k] - own[k]);
    }
    CHECK(bits(change) == bits(bench::relax(points(narrow), 1.9, bench::Vectors::narrowest)));
    CHECK(bits(change) == bits(((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                               ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))));
    CHECK(wide == narrow);
    CHECK(wide == plain);
  }
}

TEST_CASE("sor kernel: two half rows relaxed together equal two relaxed one after the other") {
  constexpr std::size_t size = 61, rows = 6, runs = 300;  // the order of the half rows is below
  runtime::Random random(8);
  for (std::size_t run = 0; run < runs; ++run) {
    INFO("run " << run);
    std::vector<double> cells((size + 1) * rows);
    for (double& cell : cells) cell = 1e4 * random.unit() - 5e3;
    std::vector<double> wide = cells, narrow = cells;
    const std::size_t count = random.below(size + 1);
    // The memory holds six half rows. In order: the row above `upper`, `upper`, `lower`, the row
    // below `lower`, the side neighbours of `upper`, and those of `lower`.
    const auto half = [&](std::vector<double>& all, std::size_t row, std::size_t beside) {
      double* const own = all.data() + row * (size + 1);
      return bench::HalfRow{own, own - (size + 1), own + (size + 1),
                            all.data() + beside * (size + 1), count};
    };
    const double lower = bench::relax(half(cells, 2, 5), 1.9);
    const double upper = bench::relax(half(cells, 1, 4), 1.9);
    const auto both = bench::relax_both(half(wide, 2, 5), half(wide, 1, 4), 1.9);
    const auto both_narrow =
        bench::relax_both(half(narrow, 2, 5), half(narrow, 1, 4), 1.9, bench::Vectors::narrowest);
    CHECK(bits(both.lower) == bits(lower));
    CHECK(bits(both.upper) == bits(upper));
    CHECK(bits(both_narrow.lower) == bits(lower));
    CHECK(bits(both_narrow.upper) == bits(upper));
    CHECK(wide == cells);
    CHECK(narrow == cells);
  }
}

TEST_CASE("sor kernel: a block has the reference's cells and sum after every iteration") {
  for (const auto& name : DataSet::names())
    for (std::size_t size = 3; size <= 40; ++size) {
      INFO(name << " " << size);
      const DataSet data(std::string(name), size, size);
      Block block(data, {1, size - 1}, data.best_omega(), false, false);
      ReferenceSolver reference(data, data.best_omega(), {{0, 0, 1, size - 1}});
      for (int iteration = 0; iteration < 5; ++iteration) {
        CHECK(block.relax_inside() == 2 * (size - 2));
        CHECK(bits(reference.iterate()) == bits(block.change()));
      }
      for (std::size_t row = 0; row < size; ++row)
        CHECK(row_of(block.cells(), row, size) == row_of(reference, row));
    }
}

TEST_CASE("sor kernel: a sum is built over threads then hosts then clusters") {
  const DataSet data("random", 12, 1);
  const auto blocks = bench::row_blocks(12, 5);
  // Threads 0 and 1 are on one host. Thread 2 is on another host of the same cluster. Threads 3 and
  // 4 are on two hosts of the next cluster.
  const std::vector<std::size_t> cluster = {0, 0, 0, 1, 1}, host = {0, 0, 1, 2, 3};
  std::vector<bench::ReferenceThread> threads;
  for (std::size_t i = 0; i < 5; ++i)
    threads.push_back({cluster[i], host[i], blocks[i].begin, blocks[i].end});
  ReferenceSolver reference(data, 1.5, threads);
  const double sum = reference.iterate();
  const auto of = reference.changes();
  CHECK(bits(sum) == bits(((of[0] + of[1]) + of[2]) + (of[3] + of[4])));
}

TEST_CASE("sor data: each data set matches its name and any row can be made alone") {
  const DataSet frosty("frosty", 5, 1);
  std::vector<double> row(5);
  frosty.fill_row(0, row);
  CHECK(row == std::vector<double>(5, 27760));
  frosty.fill_row(4, row);
  CHECK(row == std::vector<double>(5, -273.15));

  const DataSet tridiagonal("tridiagonal", 12, 3), same("tridiagonal", 12, 3);
  std::vector<double> cells(12), again(12);
  for (std::size_t number = 0; number < 12; ++number) {
    tridiagonal.fill_row(number, cells);
    same.fill_row(number, again);
    CHECK(cells == again);
    for (std::size_t column = 0; column < 12; ++column) {
      const bool is_near = column <= number + 3 && number <= column + 3;
      CHECK((cells[column] != 0) == is_near);
      CHECK(cells[column] < 10'000);
    }
  }
  CHECK(frosty.epsilon() == Approx(25e-8));
  CHECK_THROWS_WITH(DataSet("frsty", 5, 1),
                    "--data: expected frosty, tridiagonal or random, found 'frsty'");
  CHECK_THROWS_WITH(DataSet("frosty", 2, 1), Catch::StartsWith("--size: expected 3 or more"));
}

TEST_CASE("sor data: blocks are as even as possible and cover the inside") {
  CHECK(bench::row_blocks(12, 4) == std::vector<RowRange>{{1, 4}, {4, 7}, {7, 9}, {9, 11}});
  CHECK_THROWS_WITH(bench::row_blocks(12, 11),
                    "--size: expected at least 13 for 11 threads to have a row each, found 12");
}

TEST_CASE("sor files: values are read back to the same bits by rank and iteration") {
  const TemporaryFile file("sor_values.tmp");
  runtime::Random random(5);
  std::vector<std::vector<double>> by_rank(3, std::vector<double>(50));
  for (auto& values : by_rank)
    for (double& value : values) value = std::exp(100 * random.unit() - 50);
  by_rank[1][7] = 0;
  by_rank[2][8] = 5e-324;
  bench::write_values(file.name(), "of a test", {by_rank.begin(), by_rank.end()});
  bench::Collective collective;
  collective.reduction.operation = base::reduce_operation("sum");
  collective.reduction.shape.scalar = base::Scalar::f64;
  const bench::Values values(collective, file.name(), 50, 3);
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    for (std::uint64_t i = 0; i < 50; ++i)
      CHECK(bits(values.of(rank, i).read<double>()) == bits(by_rank[rank][i]));
}

TEST_CASE("sor files: raw files hold the numbers and an image has one pixel per number") {
  const bench::FillRow fill = [](std::size_t row, std::span<double> cells) {
    std::iota(cells.begin(), cells.end(), static_cast<double>(10 * row));
  };
  const TemporaryFile raw("sor_raw.tmp"), image("sor_image.tmp");
  bench::write_raw(raw.name(), 3, fill);
  const std::vector<double> cells = {0, 1, 2, 10, 11, 12, 20, 21, 22};
  REQUIRE(raw.text().size() == cells.size() * sizeof(double));
  CHECK(std::memcmp(raw.text().data(), cells.data(), raw.text().size()) == 0);
  bench::write_image(image.name(), 3, fill);
  const std::string header = "P6\n3 3\n255\n";
  REQUIRE(image.text().size() == header.size() + 27);
  CHECK(image.text().substr(0, header.size()) == header);
  // The pixel of the smallest value is black. The pixel of the greatest value is white.
  CHECK(image.text().substr(header.size(), 3) == std::string(3, '\0'));
  CHECK(image.text().substr(header.size() + 24) == std::string(3, '\xff'));
  CHECK_THROWS_WITH(bench::write_raw("/nowhere/raw", 3, fill),
                    "/nowhere/raw: cannot be written: there is no folder /nowhere");
}
