// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_deaths_real.cpp — who is told that only the dead could bring what he waits
// for, and how soon.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "pastset/any_change.hpp"
#include "tests/pastset/shared_space_scene.hpp"

using namespace shared_space_scene;
using pastset::ProcessDied;

namespace {

/// Makes the space with its elements, each with a tuple, says so, and waits to be killed.
Forked owner_of(const std::string& name, std::atomic<int>& stage) {
  return Forked([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name, {.process = "solver"});
    for (const char* const element : {"e", "full"})
      space->enter(element, values, {.delta = 1})->move(tuple_of(7));
    stage = 1;
    while (stage == 1) runtime.sleep_for(1ms);
  });
}

void await(runtime::Runtime& runtime, const std::atomic<int>& stage, int wanted) {
  for (const base::Nanos end = runtime.now() + 20s; stage < wanted; runtime.sleep_for(1ms))
    if (runtime.now() > end) throw std::runtime_error("nobody comes so far");
}

/// What `wait` throws, and when.
struct Told {
  std::string what;
  base::Nanos at{0};
};

template <class Wait>
runtime::Task told_by(runtime::Runtime& runtime, runtime::ContextRole role, Told& told, Wait wait) {
  return runtime.spawn(role, {"waits"}, [&runtime, &told, wait] {
    try {
      wait();
      told.what = "nothing";
    } catch (const ProcessDied& died) {
      told.what = died.what();
    } catch (const std::exception& other) {
      told.what = std::string("another error: ") + other.what();
    }
    told.at = runtime.now();
  });
}

/// Kills it while `waits` wait; how long it took until the last of them was told.
base::Nanos kill_while(runtime::Runtime& runtime, Forked& process, std::vector<Told>& told,
                       std::vector<runtime::Task>& waits) {
  runtime.sleep_for(5ms);  // most wait by then
  const base::Nanos killed = runtime.now();
  process.kill(SIGKILL);
  base::Nanos last{0};
  for (std::size_t i = 0; i < waits.size(); ++i) {
    waits[i].join();
    last = std::max(last, told[i].at - killed);
  }
  return last;
}

/// Of all kills.
void say(const char* what, std::vector<base::Nanos> spans) {
  std::sort(spans.begin(), spans.end());
  const auto ms = [](base::Nanos span) { return static_cast<double>(span.count()) * 1e-6; };
  std::printf("%s: all are told after %.2f ms in the median of %zu, %.2f ms at most\n", what,
              ms(spans.at(spans.size() / 2)), spans.size(), ms(spans.back()));
}

}  // namespace

TEST_CASE("shared space: when its owner dies, all who wait are told who that was") {
  const char* const wanted = std::getenv("PATHS_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 20;
  std::vector<base::Nanos> spans;
  runtime::Runtime runtime;
  runtime.run([&] {
    for (int i = 0; i < kills; ++i) {
      const std::string name = own_name();
      Between<std::atomic<int>> stage;
      Forked owner = owner_of(name, *stage);
      await(runtime, *stage, 1);
      const auto space = SharedSpace::map(name);
      const auto element = space->find("e"), full = space->find("full");
      CHECK(value_of(element->observe(soon(runtime))) == 7);
      std::vector<Told> told(4);
      std::vector<runtime::Task> waits;
      using runtime::ContextRole;
      waits.push_back(
          told_by(runtime, ContextRole::thread, told[0], [&] { element->observe(soon(runtime)); }));
      waits.push_back(told_by(runtime, ContextRole::service, told[1],
                              [&] { element->observe(1, soon(runtime)); }));
      waits.push_back(told_by(runtime, ContextRole::thread, told[2],
                              [&] { full->move(tuple_of(8), soon(runtime)); }));
      auto move = full->start_move(tuple_of(9));
      auto read = element->start_newest(5);
      waits.push_back(told_by(runtime, ContextRole::service, told[3], [&] {
        try {
          move.take(soon(runtime));
        } catch (const ProcessDied&) {
          read.take(soon(runtime));
        }
      }));
      const std::string who = "process " + std::to_string(owner.pid()) + " (solver)";
      spans.push_back(kill_while(runtime, owner, told, waits));
      for (const Told& one : told)
        CHECK_THAT(one.what, Catch::Contains(who + ", which owned the space, has died"));
      // What is there stays; nothing more comes.
      CHECK(value_of(element->observe(0, soon(runtime))) == 7);
      CHECK(value_of(full->observe(soon(runtime))) == 7);
      CHECK_THROWS_AS(full->observe(soon(runtime)), ProcessDied);
      CHECK_THROWS_AS(full->move(tuple_of(1), soon(runtime)), ProcessDied);
      CHECK_THROWS_AS(space->enter("new", values), ProcessDied);
      // Its name is free for whoever starts anew.
      const auto next = SharedSpace::make(name);
      next->enter("e", values)->move(tuple_of(3));
      CHECK(value_of(SharedSpace::map(name)->find("e")->observe()) == 3);
    }
  });
  say("an owner that is killed", spans);
}

TEST_CASE("shared space: of an owner that leaves, nobody is told") {
  const std::string name = own_name();
  Between<std::atomic<int>> stage;
  Forked owner = owner_of(name, *stage);
  runtime::Runtime runtime;
  runtime.run([&] {
    await(runtime, *stage, 1);
    const auto space = SharedSpace::map(name);
    const auto element = space->find("e");
    auto second = element->start_observe(1);
    *stage = 2;
    CHECK(owner.wait() == 0);
    CHECK(space->mapping().owner() == std::nullopt);
    CHECK(value_of(element->observe(soon(runtime))) == 7);
    element->move(tuple_of(8), soon(runtime));
    CHECK(value_of(second.take(soon(runtime))) == 8);
    CHECK_THROWS_AS(element->observe(2, soon(runtime, 20ms)), pastset::DeadlinePassed);
  });
}

TEST_CASE("shared space: when the last that moved dies, readers are told until another moves") {
  const std::string name = own_name();
  std::vector<base::Nanos> spans;
  runtime::Runtime runtime;
  runtime.run([&] {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values);
    for (std::uint64_t first = 0; first < 10; ++first) {
      Between<std::atomic<int>> stage;
      Forked feeder([&](runtime::Runtime& own) {
        const auto mapped = map_when_there(own, name, {.process = "feeder"});
        mapped->find("e")->move(tuple_of(first));
        *stage = 1;
        own.sleep_for(60s);
      });
      await(runtime, *stage, 1);
      CHECK(value_of(element->observe(first, soon(runtime))) == first);
      std::vector<Told> told(2);
      std::vector<runtime::Task> waits;
      waits.push_back(told_by(runtime, runtime::ContextRole::thread, told[0],
                              [&] { element->observe(first + 1, soon(runtime)); }));
      waits.push_back(told_by(runtime, runtime::ContextRole::service, told[1],
                              [&] { element->newest(first + 1, soon(runtime)); }));
      const std::string who = "process " + std::to_string(feeder.pid()) + " (feeder)";
      spans.push_back(kill_while(runtime, feeder, told, waits));
      for (const Told& one : told)
        CHECK_THAT(one.what,
                   Catch::Contains(who + ", the last that moved tuples into it, has died"));
      CHECK_THROWS_AS(element->observe(first + 1, soon(runtime)), ProcessDied);
      CHECK(value_of(element->observe(first, soon(runtime))) == first);
    }
  });
  say("a mover that is killed", spans);
}

TEST_CASE("shared space: when the last that observed dies, movers without room are told") {
  const std::string name = own_name();
  std::vector<base::Nanos> spans;
  runtime::Runtime runtime;
  runtime.run([&] {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values, {.delta = 2});
    for (std::uint64_t i = 0; i < 10; ++i) {
      Between<std::atomic<int>> stage;
      Forked consumer([&](runtime::Runtime& own) {
        const auto mapped = map_when_there(own, name, {.process = "consumer"});
        const auto of = mapped->find("e");
        for (int taken = 0; taken < (i == 0 ? 1 : 3); ++taken) of->observe(soon(own));
        *stage = 1;
        own.sleep_for(60s);
      });
      // The one before has died: whoever is blocked is told at once, until the next one observes.
      for (std::uint64_t moved = 0; moved < 3;) {
        try {
          element->move(tuple_of(moved), soon(runtime));
          ++moved;
        } catch (const ProcessDied&) {
          runtime.sleep_for(1ms);
        }
      }
      await(runtime, *stage, 1);
      while (element->last() - element->first() < 2) element->move(tuple_of(1), soon(runtime));
      std::vector<Told> told(1);
      std::vector<runtime::Task> waits;
      waits.push_back(told_by(runtime, runtime::ContextRole::thread, told[0],
                              [&] { element->move(tuple_of(5), soon(runtime)); }));
      const std::string who = "process " + std::to_string(consumer.pid()) + " (consumer)";
      spans.push_back(kill_while(runtime, consumer, told, waits));
      CHECK_THAT(told[0].what,
                 Catch::Contains(who + ", the last that observed or axed its tuples, has died"));
    }
  });
  say("an observer that is killed", spans);
}
