// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_space_fuzz.cpp — a process that overwrites memory that other processes map.
#include "tests/pastset/shared_space_scene.hpp"
#include "tests/support/environment.hpp"

using namespace shared_space_scene;

namespace {

constexpr pastset::SharedSizes sizes{.slots = 32, .arena_bytes = 32 << 10};

/// Returns the offset of a random word in the space, usually of a word in use. The word is in the
/// head with its first elements, after the head, or in the extents of the arena.
std::size_t some_place(const SharedSpace& space, runtime::Random& random) {
  const pastset::shared::Segment& segment = space.mapping().segment();
  const auto place_of = [&](const auto& what) {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&what) -
                                    space.mapping().at(0));
  };
  const std::size_t behind = sizeof segment + random.below(160'000);
  const std::size_t places[] = {random.below(65'536), random.below(sizeof segment), behind,
                                place_of(segment.arena_lock) + random.below(2048),
                                place_of(segment.newest) + random.below(256)};
  return places[random.below(std::size(places))] / 8 * 8;
}

void scribble(runtime::Runtime& runtime, const std::string& name, std::uint64_t seed) {
  alarm(60);  // SIGALRM ends a process that hangs for 60 s
  const auto space = map_when_there(runtime, name, {.lock_patience = 50ms}, 2s);
  runtime::Random random(seed);
  for (int i = 0; i < 400; ++i) {
    auto* const word = reinterpret_cast<std::atomic<std::uint64_t>*>(
        space->mapping().at(some_place(*space, random)));
    const std::uint64_t choices[] = {random.next(), random.below(100), ~random.below(100),
                                     word->load() ^ 1ULL << random.below(64)};
    *word = choices[random.below(4)];
    if (i % 8 == 0) runtime.sleep_for(base::Nanos(random.below(300'000)));
  }
}

void act_on(pastset::Element& element, runtime::Runtime& runtime, runtime::Random& random) {
  const runtime::Deadline deadline = soon(runtime, 3ms);
  const auto tuple = [&] {
    const base::Payload one = tuple_of(random.below(1000));
    return random.chance(0.3) ? built_in(element, one) : one;
  };
  switch (random.below(8)) {
    case 0:
    case 1: element.move(tuple(), deadline); return;
    case 2:
    case 3: pastset::format_tuple(values, element.observe(deadline).payload); return;
    case 4: pastset::format_tuple(values, element.newest(0, deadline).payload); return;
    case 5: element.axe(random.below(2000)); return;
    case 6: start_move(element, tuple()).cancel(); return;
    default:
      const std::uint64_t last = element.last();
      pastset::format_tuple(values, element.observe(last - random.below(3), deadline).payload);
  }
}

/// Runs random operations on the space until `is_over`. An operation may fail, but it must end.
void work(runtime::Runtime& runtime, const std::string& name, std::uint64_t seed,
          const std::atomic<bool>& is_over) {
  alarm(60);  // SIGALRM ends a process that hangs for 60 s
  const SharedSpace::Options options{.lock_patience = 50ms};
  const auto space = map_when_there(runtime, name, options, 2s);
  runtime::Random random(seed);
  while (!is_over) {
    try {
      const auto element = space->enter("e", values, {.delta = 4}, sizes);
      while (!is_over) {
        act_on(*element, runtime, random);
        if (random.chance(0.01)) space->show();
        if (random.chance(0.002)) element->delete_element();
      }
    } catch (const pastset::ElementError&) {
    }
  }
}

/// Reads a read-only mapping until `is_over`. Reads may fail, but each must end.
void look_on(runtime::Runtime& runtime, const std::string& name, std::uint64_t seed,
             const std::atomic<bool>& is_over) {
  alarm(60);
  const auto space = for_reading(*map_when_there(runtime, name, {.lock_patience = 50ms}, 2s));
  runtime::Random random(seed);
  while (!is_over) {
    try {
      const auto element = space->find("e");
      if (element == nullptr) continue;
      const runtime::Deadline deadline = soon(runtime, 3ms);
      const std::uint64_t number = element->last() - random.below(3);
      const pastset::Stored stored =
          random.chance(0.5) ? element->observe(number, deadline) : element->newest(0, deadline);
      pastset::format_tuple(values, stored.payload);
      if (random.chance(0.01)) space->show();
    } catch (const pastset::ElementError&) {
    }
  }
}

/// Waits for the end of a process. Returns whether it ended without an error, or with an exception.
/// After enough damage the space cannot be mapped any more, so an exception is accepted. A signal
/// and the finding of a sanitizer are not.
bool ends_well_or_with_error(Forked& process) {
  const int code = process.wait();
  UNSCOPED_INFO("exit code " << code);
  return code == 0 || code == Forked::failed;
}

}  // namespace

TEST_CASE(
    "shared space: whatever a process writes into it other processes get errors or tuples and "
    "end") {
  const std::uint64_t seeds = test_support::from_environment("PATHS_SEEDS", 25);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const std::string name = own_name();
    Between<std::atomic<bool>> is_over;
    Forked owner([&](runtime::Runtime& runtime) {
      alarm(60);
      const auto space = SharedSpace::make(name, {.bytes = 4 << 20, .lock_patience = 50ms});
      space->enter("e", values, {.delta = 4}, sizes);
      while (!*is_over) runtime.sleep_for(1ms);
    });
    std::vector<Forked> workers;
    for (std::uint64_t i = 0; i < 2; ++i)
      workers.emplace_back(
          [&, i](runtime::Runtime& runtime) { work(runtime, name, 10 * seed + i, *is_over); });
    workers.emplace_back(
        [&](runtime::Runtime& runtime) { look_on(runtime, name, 10 * seed + 2, *is_over); });
    Forked scribbler([&](runtime::Runtime& runtime) { scribble(runtime, name, seed); });
    CHECK(ends_well_or_with_error(scribbler));
    *is_over = true;
    for (Forked& worker : workers) CHECK(ends_well_or_with_error(worker));
    CHECK(ends_well_or_with_error(owner));
  }
}
