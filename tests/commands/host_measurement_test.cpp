// SPDX-License-Identifier: Apache-2.0
// tests/commands/host_measurement_test.cpp — costs of folds and copies on a busy machine.
#include "commands/host_measurement.hpp"

#include <catch2/catch.hpp>
#include <chrono>

namespace {

using commands::WorkFigures;
using commands::WorkMeasurement;
using namespace std::chrono_literals;

/// Adds `count` batches, in which a fold takes `time` and a copy takes half as long.
void add(WorkMeasurement& measurement, int count, base::Nanos time, bool is_disturbed) {
  for (int batch = 0; batch < count; ++batch)
    measurement.add({time, time, time}, {time / 2, time / 2, time / 2}, is_disturbed);
}

constexpr double bytes = WorkMeasurement::block_bytes;

}  // namespace

TEST_CASE("host measurement: disturbed batches of folds and copies do not count") {
  WorkMeasurement measurement;
  add(measurement, 10, 40us, true);
  CHECK(measurement.needs_more());
  add(measurement, 5, 60us, false);
  CHECK_FALSE(measurement.needs_more());
  const WorkFigures found = measurement.figures();
  CHECK(found.is_usable);
  CHECK(found.fold_nanos_per_byte == Approx(60'000 / bytes));
  CHECK(found.copy_nanos_per_byte == Approx(30'000 / bytes));
}

TEST_CASE("host measurement: a machine that is always busy is measured by all batches") {
  WorkMeasurement measurement;
  add(measurement, 23, 40us, true);
  CHECK(measurement.needs_more());
  add(measurement, 1, 40us, true);
  CHECK_FALSE(measurement.needs_more());
  const WorkFigures found = measurement.figures();
  CHECK(found.is_usable);
  CHECK(found.fold_nanos_per_byte == Approx(40'000 / bytes));
}
