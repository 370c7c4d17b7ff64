// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/group_operations_test.cpp — memory for parts of operations that do not end.
#include "eventspace/analysis/input/group_operations.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace {

using eventspace::GroupOperations;
using eventspace::GroupShare;
using eventspace::GroupStep;
using eventspace::HostShare;
using eventspace::WholeOperation;

eventspace::EventRecord step(std::uint32_t share) {
  GroupStep one;
  one.share = share;
  return record_of(one);
}

eventspace::EventRecord end_of(std::uint32_t share) {
  GroupShare one;
  one.share = one.operation = share;
  one.hosts = 1;
  return record_of(one);
}

}  // namespace

TEST_CASE("group operations: the oldest shares without an end are dropped at the memory limit") {
  constexpr std::uint32_t shares = 10'000;
  std::vector<std::size_t> steps;
  GroupOperations operations(
      100'000, [&](const HostShare& share) { steps.push_back(share.steps.size()); },
      [](WholeOperation&) {});
  for (std::uint32_t share = 0; share < shares; ++share) operations.add(0, step(share));
  const std::uint64_t dropped = operations.unended();
  CHECK(dropped > shares / 2);
  CHECK(dropped < shares);
  operations.add(0, end_of(shares - 1));
  operations.add(0, end_of(0));
  CHECK(steps == std::vector<std::size_t>{1, 0});
  operations.finish();
  CHECK(operations.unended() == shares - 1);
}

TEST_CASE("group operations: shares that have ended leave room for later shares") {
  std::uint64_t steps = 0;
  GroupOperations operations(
      10'000, [&](const HostShare& share) { steps += share.steps.size(); }, [](WholeOperation&) {});
  for (std::uint32_t share = 0; share < 1000; ++share) {
    operations.add(0, step(share));
    operations.add(0, step(share));
    operations.add(0, end_of(share));
  }
  operations.finish();
  CHECK(steps == 2000);
  CHECK(operations.unended() == 0);
}
