// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/admission_test.cpp — admission of steps compared with a search through all
// steps.
#include "collectives/cost/admission.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace collectives;
using namespace pricing;

namespace {

/// Copy of an admitted step and of the blocks that it uses.
struct Seen {
  Slot slot;
  Action action;
  std::vector<Block> blocks;

  bool writes(std::size_t block) const {
    return action == Action::receive || (action != Action::send && block == 0);
  }
  bool waits_for(const Seen& earlier) const {
    for (std::size_t mine = 0; mine < blocks.size(); ++mine)
      for (std::size_t theirs = 0; theirs < earlier.blocks.size(); ++theirs)
        if ((writes(mine) || earlier.writes(theirs)) &&
            blocks[mine].buffer == earlier.blocks[theirs].buffer &&
            overlap(blocks[mine].cells, earlier.blocks[theirs].cells).count > 0)
          return true;
    return false;
  }
};

Steps random_steps(std::mt19937& random) {
  const auto below = [&](Count count) { return random() % count; };
  const auto block = [&](Count count) {
    const Buffer buffers[] = {out, part, {Storage::child, 1}, {Storage::child, 2}};
    return Block{buffers[below(4)], {below(30), count}};
  };
  Steps steps;
  for (int step = 0; step < 200; ++step) {
    const Count count = 1 + below(10);
    switch (below(4)) {
      case 0: steps.reduce(block(count), block(count), block(count)); break;
      case 1: steps.copy(block(count), block(count)); break;
      case 2: {
        Ref gathered(block(count));
        gathered.append(block(1 + below(5)));
        steps.send(1, gathered);
        break;
      }
      default: steps.receive(1, block(count)); break;
    }
  }
  return steps;
}

}  // namespace

TEST_CASE("admission: a step is free if it conflicts with no earlier unfinished step") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    INFO("seed " << seed);
    const Steps steps = random_steps(random);
    const std::size_t window = 1 + random() % 40;
    Admission admission({1, [&](Count, Steps& all) { all = steps; }}, window);
    std::vector<Seen> seen;
    std::vector<std::size_t> unfinished, may_be_done;
    const auto expect_free = [&] {
      may_be_done.clear();
      for (const std::size_t step : unfinished) {
        const bool is_free = std::none_of(
            unfinished.begin(), unfinished.end(),
            [&](std::size_t at) { return at < step && seen[step].waits_for(seen[at]); });
        REQUIRE(admission.is_free(seen[step].slot) == is_free);
        if (is_free) may_be_done.push_back(step);
      }
    };
    while (true) {
      while (const auto slot = admission.admit()) {
        const Step step = steps[seen.size()];
        unfinished.push_back(seen.size());
        seen.push_back({*slot, step.action, {step.blocks.begin(), step.blocks.end()}});
      }
      CHECK(unfinished.size() ==
            std::min(window, steps.size() - (seen.size() - unfinished.size())));
      if (unfinished.empty()) break;
      expect_free();
      const std::size_t done = may_be_done[random() % may_be_done.size()];
      std::vector<Slot> freed;
      admission.finish(seen[done].slot, freed);
      std::erase(unfinished, done);
    }
    CHECK(seen.size() == steps.size());
    CHECK(admission.is_done());
  }
}
