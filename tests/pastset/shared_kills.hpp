// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_kills.hpp — movers and observers of a shared space, which are killed at
// random times.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "pastset/shared/names.hpp"
#include "tests/pastset/shared_space_scene.hpp"

namespace shared_space_scene {

inline constexpr std::size_t values_max = std::size_t{1} << 22;

/// Counts in memory that all processes share. The counts remain when a process is killed.
struct Tally {
  std::atomic<std::uint64_t> next{0}, observed{0};
  std::atomic<bool> keeper_ends{false}, movers_end{false}, last_is_there{false},
      observers_have_ended{false};
  std::array<std::atomic<std::uint8_t>, values_max> seen{};
};

/// Sizes of the only element. Each process gets the element with enter(); the first call creates
/// it.
inline constexpr pastset::SharedSizes sizes{.slots = 64, .arena_bytes = 64 << 10};
inline std::shared_ptr<pastset::Element> enter(SharedSpace& space) {
  return space.enter("e", values, {.delta = 8}, sizes);
}
/// Returns the size of the space in bytes. The space is so small that memory of free extents is
/// soon reused.
inline std::size_t bytes_of_space() { return SharedSpace::bytes_of(std::span(&sizes, 1)); }

/// Observes the remaining tuples after all other processes have ended. The memory of the space
/// exists as long as any process maps it.
inline void observe_the_rest(runtime::Runtime& runtime, const std::string& name, Tally& tally) {
  const auto space = map_when_there(runtime, name);
  const auto element = enter(*space);
  tally.last_is_there = true;
  while (!tally.observers_have_ended) runtime.sleep_for(1ms);
  while (const auto stored = element->try_observe()) ++tally.seen.at(value_of(*stored));
  if (space->show().at(0).blocked_movers != 0) throw std::runtime_error("a dead one in line");
}

/// Returns the number of allocated disk blocks (of 512 bytes) of the memory that a process maps;
/// nullopt if the process does not map it yet.
inline std::optional<blkcnt_t> blocks_of(pid_t pid) {
  const auto mapped = static_cast<off_t>(pastset::SharedArena::mapped_bytes(bytes_of_space()));
  std::error_code gone;
  for (const auto& descriptor :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    struct stat one {};
    if (stat(descriptor.path().c_str(), &one) == 0 && one.st_size == mapped) return one.st_blocks;
  }
  return std::nullopt;
}

/// Calls `work`. Returns false if a process has died that `work` needs. The caller then calls
/// again, because the test starts another process.
inline bool with_others(const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const pastset::ProcessDied&) {
    return false;
  }
}

inline void move_until_end(runtime::Runtime& runtime, const std::string& name, Tally& tally) {
  const auto space = map_when_there(runtime, name);
  const auto element = enter(*space);
  while (!tally.movers_end) {
    const std::uint64_t value = tally.next++;
    if (value >= values_max) throw std::runtime_error("too many values");
    base::Payload tuple = tuple_of(value);
    if (value % 3 == 0) tuple = built_in(*element, tuple);
    while (!with_others([&] { element->move(tuple, soon(runtime)); })) {
    }
  }
}

inline void observe_for_ever(runtime::Runtime& runtime, const std::string& name, Tally& tally,
                             std::uint64_t seed) {
  const auto space = map_when_there(runtime, name);
  const auto element = enter(*space);
  runtime::Random random(seed);
  for (pastset::Stored pinned;;) {
    pastset::Stored stored;
    if (!with_others([&] { stored = element->observe(soon(runtime)); })) continue;
    ++tally.seen.at(value_of(stored));
    ++tally.observed;
    element->axe(stored.number);
    if (random.chance(0.1)) pinned = std::move(stored);
  }
}

/// Prints the state of the space, so that a person can find out why no process progresses.
inline void say_state(const std::string& name) {
  Forked([&](runtime::Runtime& runtime) {
    const auto space = map_when_there(runtime, name, {.lock_patience = 1s});
    for (const runtime::ProcessIdentity& one : space->mapping().processes().all())
      if (one.pid != 0) std::fprintf(stderr, "mapped by %u\n", one.pid);
    for (const SharedSpace::Shown& one : space->show()) {
      std::fprintf(stderr, "oldest %lu, first %lu, last %lu, %lu movers blocked, arena %lu\n",
                   one.numbers.oldest, one.numbers.first, one.numbers.last, one.blocked_movers,
                   one.arena_bytes_used);
      for (const std::uint32_t pid : one.listeners) std::fprintf(stderr, "%u listens\n", pid);
    }
  }).wait();
}

/// Returns the number of tuples that were not observed. Checks that no tuple was observed twice.
inline std::uint64_t count_lost(const Tally& tally) {
  std::uint64_t lost = 0;
  for (std::uint64_t value = 0; value < tally.next; ++value) {
    REQUIRE(tally.seen[value] <= 1);
    lost += tally.seen[value] == 0 ? 1 : 0;
  }
  return lost;
}

/// Kills one of two movers and two observers repeatedly, and starts a new process each time. Checks
/// that each killed process loses at most one tuple: the tuple that it was moving or had just
/// observed.
inline void kill_again_and_again(int kills, std::uint64_t seed) {
  INFO("seed " << seed);
  const std::string name = own_name();
  Between<Tally> tally;
  runtime::Random random(seed);
  Forked keeper([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name, {.bytes = bytes_of_space()});
    enter(*space);
    while (!tally->keeper_ends) runtime.sleep_for(1ms);
  });
  const auto start = [&](std::size_t which) {
    const std::uint64_t own_seed = random.next();
    return Forked([&, which, own_seed](runtime::Runtime& runtime) {
      if (which % 2 == 0)
        move_until_end(runtime, name, *tally);
      else
        observe_for_ever(runtime, name, *tally, own_seed);
    });
  };
  std::vector<Forked> others;
  for (std::size_t i = 0; i < 4; ++i) others.push_back(start(i));
  const auto expect_progress = [&] {
    const std::uint64_t before = tally->observed;
    for (int waited = 0; tally->observed < before + 40; ++waited) {
      if (waited == 15'000) say_state(name);
      REQUIRE(waited < 15'000);
      pause(1ms);
    }
  };
  expect_progress();
  std::optional<blkcnt_t> blocks;
  for (int i = 0; i < kills; ++i) {
    pause(base::Nanos(random.below(2'000'000)));
    const std::size_t which = random.below(others.size());
    others[which].kill(SIGKILL);
    REQUIRE(others[which].wait() == 128 + SIGKILL);
    others[which] = start(which);
    expect_progress();
    if (i + 1 < kills / 2) continue;
    // Memory that was used once stays allocated, so the space may grow at first. In the second half
    // of the kills it must not grow.
    if (const auto now = blocks_of(others[(which + 1) % others.size()].pid()); !blocks && now) {
      blocks = now;
      // The process that made the space now ends; the space must remain.
      tally->keeper_ends = true;
      CHECK(keeper.wait() == 0);
    } else if (now) {
      CHECK(*now <= *blocks + 64);
    }
  }
  Forked last([&](runtime::Runtime& runtime) { observe_the_rest(runtime, name, *tally); });
  for (int waited = 0; !tally->last_is_there; ++waited) {
    REQUIRE(waited < 15'000);
    pause(1ms);
  }
  tally->movers_end = true;
  for (const std::size_t mover : {0, 2}) CHECK(others[mover].wait() == 0);
  for (const std::size_t observer : {1, 3}) others[observer].kill(SIGKILL);
  for (const std::size_t observer : {1, 3}) others[observer].wait();
  tally->observers_have_ended = true;
  CHECK(last.wait() == 0);
  const auto left = pastset::shared::open_names();
  CHECK(std::count(left.begin(), left.end(), name) == 0);
  const std::uint64_t lost = count_lost(*tally);
  INFO(tally->next << " moves, " << lost << " of them or their observers were killed");
  CHECK(lost <= static_cast<std::uint64_t>(kills) + 2);
}

}  // namespace shared_space_scene
