// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_deaths_real.cpp — errors of waiters that wait for an action of a dead
// process, and the delay of these errors.
#include <cstdio>
#include <functional>
#include <optional>

#include "pastset/any_change.hpp"
#include "tests/pastset/shared_space_scene.hpp"
#include "tests/support/environment.hpp"

using namespace shared_space_scene;
using pastset::ProcessDied;

namespace {

/// Starts a process that makes the space with its elements, each with a tuple, and then waits to be
/// killed.
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
  wait_until(runtime, [&] { return stage >= wanted; });
}

/// Processes that run one after the other. When the test has killed a process, it starts the next
/// process with begin(). All processes are forked at once, while this process has no other thread.
class SequenceQueue {
 public:
  static constexpr std::uint64_t all = 8;
  using Act = std::function<void(runtime::Runtime&, pastset::Element&, int turn)>;
  SequenceQueue(const std::string& name, const char* process, const Act& act) {
    for (int turn = 0; turn < static_cast<int>(all); ++turn)
      processes_.emplace_back([&, turn](runtime::Runtime& own) {
        await(own, begun_->count, turn + 1);
        const auto space = map_when_there(own, name, {.process = process});
        act(own, *space->find("e"), turn);
        done_->count = turn + 1;
        own.sleep_for(60s);
      });
  }
  Forked& begin() { return processes_[static_cast<std::size_t>(begun_->count++)]; }
  void await_done(runtime::Runtime& runtime) { await(runtime, done_->count, begun_->count); }

 private:
  struct Count {
    std::atomic<int> count{0};
  };
  Between<Count> begun_, done_;
  std::vector<Forked> processes_;
};

/// Result of one wait: the error that it throws, and the time at which it throws.
struct Waiter {
  std::string what;
  base::Nanos at{0};
};

template <class Wait>
runtime::Task told_by(runtime::Runtime& runtime, runtime::ContextRole role, Waiter& told,
                      Wait wait) {
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

/// Kills the process while `waits` are waiting. Returns the time until the last waiter got its
/// error.
base::Nanos kill_while(runtime::Runtime& runtime, Forked& process, std::vector<Waiter>& told,
                       std::vector<runtime::Task>& waits) {
  runtime.sleep_for(5ms);  // within 5 ms most of the waits have begun
  const base::Nanos killed = runtime.now();
  process.kill(SIGKILL);
  base::Nanos last{0};
  for (std::size_t i = 0; i < waits.size(); ++i) {
    waits[i].join();
    last = std::max(last, told[i].at - killed);
  }
  return last;
}

/// Prints statistics of all kills.
void say(const char* what, std::vector<base::Nanos> spans) {
  std::sort(spans.begin(), spans.end());
  const auto ms = [](base::Nanos span) { return static_cast<double>(span.count()) * 1e-6; };
  std::printf("%s: all are told after %.2f ms in the median of %zu, %.2f ms at most\n", what,
              ms(spans.at(spans.size() / 2)), spans.size(), ms(spans.back()));
}

}  // namespace

TEST_CASE("shared space: when its owner dies all waiters get an error that names it") {
  const std::uint64_t kills = test_support::from_environment("PATHS_KILLS", 20);
  std::vector<base::Nanos> spans;
  for (std::uint64_t i = 0; i < kills; ++i) {
    const std::string name = own_name();
    Between<std::atomic<int>> stage;
    Forked owner = owner_of(name, *stage);  // fork before this process starts threads
    on_steady_clock([&](runtime::Runtime& runtime) {
      await(runtime, *stage, 1);
      const auto space = SharedSpace::map(name);
      const auto element = space->find("e"), full = space->find("full");
      CHECK(value_of(element->observe(soon(runtime))) == 7);
      std::vector<Waiter> told(4);
      runtime::Handle<pastset::Stored> move, read;
      std::vector<runtime::Task> waits;
      using runtime::ContextRole;
      waits.push_back(
          told_by(runtime, ContextRole::thread, told[0], [&] { element->observe(soon(runtime)); }));
      waits.push_back(told_by(runtime, ContextRole::service, told[1],
                              [&] { element->observe(1, soon(runtime)); }));
      waits.push_back(told_by(runtime, ContextRole::thread, told[2],
                              [&] { full->move(tuple_of(8), soon(runtime)); }));
      move = start_move(*full, tuple_of(9));
      read = start_newest(*element, 5);
      waits.push_back(told_by(runtime, ContextRole::service, told[3], [&] {
        try {
          move.wait(soon(runtime));
        } catch (const ProcessDied&) {
          read.wait(soon(runtime));
        }
      }));
      const std::string who = "process " + std::to_string(owner.pid()) + " (solver)";
      spans.push_back(kill_while(runtime, owner, told, waits));
      for (const Waiter& one : told)
        CHECK_THAT(one.what, Catch::Contains(who + ", which owned the space, has died"));
      // Existing tuples stay readable, but no more can arrive.
      CHECK(value_of(element->observe(0, soon(runtime))) == 7);
      CHECK(value_of(full->observe(soon(runtime))) == 7);
      CHECK_THROWS_AS(full->observe(soon(runtime)), ProcessDied);
      CHECK_THROWS_AS(full->move(tuple_of(1), soon(runtime)), ProcessDied);
      CHECK_THROWS_AS(space->enter("new", values), ProcessDied);
      // A new space with the same name is permitted now.
      const auto next = SharedSpace::make(name);
      next->enter("e", values)->move(tuple_of(3));
      CHECK(value_of(SharedSpace::map(name)->find("e")->observe()) == 3);
    });
  }
  say("an owner that is killed", spans);
}

TEST_CASE("shared space: a later process detects the death of the owner without a notification") {
  for (const bool makes_another : {true, false}) {
    const std::string name = own_name();
    Between<std::atomic<int>> stage, mapped;
    Forked owner = owner_of(name, *stage);
    Forked other([&](runtime::Runtime& own) {
      const auto space = map_when_there(own, name);
      *mapped = 1;
      own.sleep_for(60s);
    });
    on_steady_clock([&](runtime::Runtime& runtime) {
      await(runtime, *stage, 1);
      await(runtime, *mapped, 1);
      const std::string who = "process " + std::to_string(owner.pid()) + " (solver)";
      other.kill(SIGSTOP);
      int status = 0;
      REQUIRE(waitpid(other.pid(), &status, WUNTRACED) == other.pid());
      owner.kill(SIGKILL);
      owner.wait();
      if (makes_another) {
        SharedSpace::make(name)->enter("another", values);
        return;
      }
      const auto space = SharedSpace::map(name);
      CHECK(space->mapping().processes().dead_owner() == who);
      CHECK_THROWS_AS(space->find("e")->move(tuple_of(1), soon(runtime)), ProcessDied);
    });
  }
}

TEST_CASE("shared space: an owner that detaches causes no error") {
  const std::string name = own_name();
  Between<std::atomic<int>> stage;
  Forked owner = owner_of(name, *stage);
  on_steady_clock([&](runtime::Runtime& runtime) {
    await(runtime, *stage, 1);
    const auto space = SharedSpace::map(name);
    const auto element = space->find("e");
    auto second = start_observe(*element, 1);
    *stage = 2;
    CHECK(owner.wait() == 0);
    CHECK(space->mapping().processes().owner() == std::nullopt);
    CHECK(value_of(element->observe(soon(runtime))) == 7);
    element->move(tuple_of(8), soon(runtime));
    CHECK(value_of(second.wait(soon(runtime))) == 8);
    CHECK_THROWS_AS(element->observe(2, soon(runtime, 20ms)), pastset::DeadlinePassed);
    // The name of the space stays in use while elements of it remain.
    CHECK_THROWS_AS(SharedSpace::make(name), pastset::SharedSpaceError);
    for (const std::string& one : space->names()) space->delete_element(one);
    SharedSpace::make(name);
  });
}

TEST_CASE(
    "shared space: after the death of the last mover readers get errors until another moves") {
  const std::string name = own_name();
  SequenceQueue feeders(name, "feeder", [](runtime::Runtime&, pastset::Element& element, int turn) {
    element.move(tuple_of(static_cast<std::uint64_t>(turn)));
  });
  std::vector<base::Nanos> spans;
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values);
    for (std::uint64_t first = 0; first < SequenceQueue::all; ++first) {
      Forked& feeder = feeders.begin();
      feeders.await_done(runtime);
      CHECK(value_of(element->observe(first, soon(runtime))) == first);
      std::vector<Waiter> told(2);
      std::vector<runtime::Task> waits;
      waits.push_back(told_by(runtime, runtime::ContextRole::thread, told[0],
                              [&] { element->observe(first + 1, soon(runtime)); }));
      waits.push_back(told_by(runtime, runtime::ContextRole::service, told[1],
                              [&] { element->newest(first + 1, soon(runtime)); }));
      const std::string who = "process " + std::to_string(feeder.pid()) + " (feeder)";
      spans.push_back(kill_while(runtime, feeder, told, waits));
      for (const Waiter& one : told)
        CHECK_THAT(one.what,
                   Catch::Contains(who + ", the last that moved tuples into it, has died"));
      CHECK_THROWS_AS(element->observe(first + 1, soon(runtime)), ProcessDied);
      CHECK(value_of(element->observe(first, soon(runtime))) == first);
    }
  });
  say("a mover that is killed", spans);
}

TEST_CASE("shared space: after the death of the last observer movers without room get errors") {
  const std::string name = own_name();
  SequenceQueue consumers(name, "consumer",
                          [](runtime::Runtime& own, pastset::Element& element, int turn) {
                            for (int taken = 0; taken < (turn == 0 ? 1 : 3); ++taken)
                              element.observe(soon(own));
                          });
  std::vector<base::Nanos> spans;
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values, {.delta = 2});
    for (std::uint64_t i = 0; i < SequenceQueue::all; ++i) {
      Forked& consumer = consumers.begin();
      // The previous consumer has died. Until the next consumer observes, blocked moves fail.
      for (std::uint64_t moved = 0; moved < 3;) {
        try {
          element->move(tuple_of(moved), soon(runtime));
          ++moved;
        } catch (const ProcessDied&) {
          runtime.sleep_for(1ms);
        }
      }
      consumers.await_done(runtime);
      while (element->last() - element->first() < 2) element->move(tuple_of(1), soon(runtime));
      std::vector<Waiter> told(1);
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

// Does not run under the thread sanitizer: there, 300 threads and the other processes are so slow
// that waits pass their deadline.
TEST_CASE("shared space: a death while a mover polls for room is also an error", "[without_tsan]") {
  const std::string name = own_name();
  SequenceQueue consumers(
      name, "consumer",
      [](runtime::Runtime& own, pastset::Element& element, int) { element.observe(soon(own)); });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values, {.delta = 1});
    // The more threads there are, the longer a thread polls. With 300 threads, a mover still polls
    // when the notification of the death arrives.
    std::vector<runtime::Task> asleep;
    for (int i = 0; i < 300; ++i)
      asleep.push_back(runtime.spawn(runtime::ContextRole::thread, {"sleeps"},
                                     [&runtime] { runtime.sleep_for(600s); }));
    for (std::uint64_t i = 0; i < SequenceQueue::all; ++i) {
      Forked& consumer = consumers.begin();
      while (element->last() == i) {
        try {
          element->move(tuple_of(1), soon(runtime));
        } catch (const ProcessDied&) {
          // Gives this process time to notice the death of the previous consumer.
          runtime.sleep_for(1ms);
        }
      }
      consumers.await_done(runtime);
      if (element->last() == element->first()) element->move(tuple_of(1), soon(runtime));
      consumer.kill(SIGKILL);
      CHECK_THROWS_AS(element->move(tuple_of(5), soon(runtime, 2s)), ProcessDied);
    }
    for (runtime::Task& one : asleep) one.cancel();
  });
}
