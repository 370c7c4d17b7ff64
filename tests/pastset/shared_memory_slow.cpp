// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_memory_slow.cpp — constant memory after very many mappings and operations of
// a space.
#include <cstdio>

#include "tests/pastset/shared_space_scene.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/resources.hpp"

using namespace shared_space_scene;
using test_support::from_environment;
using test_support::open_descriptors;
using test_support::resident_kib;

namespace {

/// Memory and descriptors that a process and the space use.
struct Taken {
  std::uint64_t resident_kib = 0, memory_kib = 0;
  std::size_t descriptors = 0;
};

Taken taken_with(const SharedSpace& space) {
  struct stat memory {};
  fstat(space.descriptor(), &memory);
  return {resident_kib(), static_cast<std::uint64_t>(memory.st_blocks) / 2, open_descriptors()};
}

/// Checks that the second half of some work does not increase the use of memory and descriptors.
/// `middle` is the use after the first half. The first half may increase the use.
void expect_flat(const char* what, const Taken& middle, const Taken& end) {
  std::printf("%s: resident %lu KiB, then %lu; the space's memory %lu KiB, then %lu\n", what,
              middle.resident_kib, end.resident_kib, middle.memory_kib, end.memory_kib);
  CHECK(end.descriptors <= middle.descriptors);  // no descriptor of an ended process is left
  CHECK(end.memory_kib <= middle.memory_kib + 64);
  CHECK(end.resident_kib <= middle.resident_kib + 4096);
}

}  // namespace

TEST_CASE("shared space: very many mappings that come and go take no memory") {
  const std::uint64_t attaches = from_environment("PATHS_ATTACHES", 10'000);
  const std::string name = own_name();
  const auto space = SharedSpace::make(name);
  const auto element = space->enter("e", values, {.keep_newest = 8}, {.slots = 64});
  Taken middle;
  for (std::uint64_t i = 0; i < attaches; ++i) {
    if (i == attaches / 2) middle = taken_with(*space);
    const auto mapped =
        i % 10 == 0 ? SharedSpace::map(name) : SharedSpace::map(again(space->descriptor()));
    const auto same = mapped->find("e");
    same->move(tuple_of(i, 1 + i % 200));
    REQUIRE(value_of(same->newest(i)) == i);
  }
  expect_flat("many who map it", middle, taken_with(*space));
  CHECK(element->last() == attaches);
}

TEST_CASE("shared space: very many operations of two processes take no memory") {
  // Each tuple takes three operations: move, observe, axe.
  const std::uint64_t tuples = from_environment("PATHS_OPERATIONS", 10'000'000) / 3;
  const std::string name = own_name();
  Between<std::atomic<bool>> is_there;
  Forked mover([&](runtime::Runtime& own) {
    wait_until(own, [&] { return is_there->load(); });
    const auto mapped = SharedSpace::map(name);
    const auto same = mapped->find("e");
    for (std::uint64_t i = 0; i < tuples; ++i)
      same->move(tuple_of(i, i % 16 == 0 ? 100 : 1), soon(own));
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values, {.delta = 32}, {.slots = 64});
    *is_there = true;
    Taken middle;
    for (std::uint64_t i = 0; i < tuples; ++i) {
      if (i == tuples / 2) middle = taken_with(*space);
      const pastset::Stored stored = element->observe(soon(runtime));
      if (stored.number != i || value_of(stored) != i) FAIL("another tuple than " << i);
      element->axe(i);
    }
    expect_flat("many operations", middle, taken_with(*space));
    CHECK(mover.wait() == 0);
  });
}
