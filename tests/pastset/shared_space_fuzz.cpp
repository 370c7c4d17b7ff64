// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_space_fuzz.cpp — a process that overwrites what others map.
#include <cstdlib>

#include "tests/pastset/shared_space_scene.hpp"

using namespace shared_space_scene;

namespace {

/// Overwrites words, most of them where something is.
void scribble(runtime::Runtime& runtime, const std::string& name, std::uint64_t seed) {
  alarm(60);  // a hang is a failure
  const auto space = map_when_there(runtime, name, {.lock_patience = 50ms}, 2s);
  runtime::Random random(seed);
  const std::size_t head = sizeof(pastset::shared::Segment) / 8;
  for (int i = 0; i < 400; ++i) {
    const std::size_t area = random.chance(0.7) ? 8192 : head + 20'000;
    auto* const word = reinterpret_cast<std::atomic<std::uint64_t>*>(
        space->mapping().at(8 * random.below(random.chance(0.2) ? head : area)));
    const std::uint64_t choices[] = {random.next(), random.below(100), ~random.below(100),
                                     word->load() ^ 1ULL << random.below(64)};
    *word = choices[random.below(4)];
    if (i % 8 == 0) runtime.sleep_for(base::Nanos(random.below(300'000)));
  }
}

void act_on(pastset::Element& element, runtime::Runtime& runtime, runtime::Random& random) {
  const runtime::Deadline deadline = soon(runtime, 3ms);
  switch (random.below(8)) {
    case 0:
    case 1: element.move(tuple_of(random.below(1000)), deadline); return;
    case 2:
    case 3: pastset::format_tuple(values, element.observe(deadline).payload); return;
    case 4: pastset::format_tuple(values, element.newest(0, deadline).payload); return;
    case 5: element.axe(random.below(2000)); return;
    case 6: element.start_move(tuple_of(random.below(1000))).cancel(); return;
    default:
      const std::uint64_t last = element.last();
      pastset::format_tuple(values, element.observe(last - random.below(3), deadline).payload);
  }
}

/// Errors are all right; it has to end.
void work(runtime::Runtime& runtime, const std::string& name, std::uint64_t seed,
          const std::atomic<bool>& is_over) {
  alarm(60);  // a hang is a failure
  const SharedSpace::Options options{.lock_patience = 50ms};
  const auto space = map_when_there(runtime, name, options, 2s);
  runtime::Random random(seed);
  while (!is_over) {
    try {
      const auto element = space->enter("e", values, {.delta = 4}, {.slots = 32});
      while (!is_over) {
        act_on(*element, runtime, random);
        if (random.chance(0.01)) space->show();
        if (random.chance(0.002)) element->delete_element();
      }
    } catch (const pastset::ElementError&) {
    }
  }
}

}  // namespace

TEST_CASE("shared space: whatever a process writes into it, others get errors or tuples, and end") {
  const char* const wanted = std::getenv("PATHS_SEEDS");
  const std::uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 25;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const std::string name = own_name();
    Between<std::atomic<bool>> is_over;
    Forked owner([&](runtime::Runtime& runtime) {
      alarm(60);
      const auto space = SharedSpace::make(name, {.bytes = 4 << 20, .lock_patience = 50ms});
      space->enter("e", values, {.delta = 4}, {.slots = 32, .arena_bytes = 16 << 10});
      while (!*is_over) runtime.sleep_for(1ms);
    });
    std::vector<Forked> workers;
    for (std::uint64_t i = 0; i < 2; ++i)
      workers.emplace_back(
          [&, i](runtime::Runtime& runtime) { work(runtime, name, 10 * seed + i, *is_over); });
    Forked scribbler([&](runtime::Runtime& runtime) { scribble(runtime, name, seed); });
    // Overwritten enough, it cannot be mapped any more, and that is an error, too.
    scribbler.wait();
    *is_over = true;
    for (Forked& worker : workers) CHECK(worker.wait() <= 1);
    CHECK(owner.wait() <= 1);
  }
}
