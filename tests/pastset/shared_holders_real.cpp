// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_holders_real.cpp — elements whose lock another process holds or has just
// released. If no process has to die, a second mapping in this process acts as the other process.
#include <sys/resource.h>
#include <unistd.h>

#include <optional>

#include "tests/pastset/shared_space_scene.hpp"
#include "tests/support/environment.hpp"

using namespace shared_space_scene;
using pastset::Access;
using pastset::SharedSpaceError;

namespace {

constexpr pastset::SharedSizes small{.slots = 8, .arena_bytes = 8192, .line = 8};

std::unique_ptr<SharedSpace> map_again(const SharedSpace& space,
                                       const SharedSpace::Options& options = {}) {
  return SharedSpace::map(again(space.descriptor()), options);
}

/// Holds the lock of the element `e` until let_go() is called. For this purpose, the holder starts
/// a read that blocks in the X-function of the element. The tuple stays unobserved unless let_go()
/// gets true.
class Holder {
 public:
  Holder(runtime::Runtime& runtime, SharedSpace& space) : runtime_(runtime) {
    pastset::ElementOptions options;
    options.x_function.out = [this](const base::Payload& stored) -> base::Payload {
      holds_ = true;
      while (!goes_on_) runtime_.sleep_for(1ms);
      if (!observes_) throw std::runtime_error("not observed");
      return stored;
    };
    task_ = start(runtime, [element = space.enter("e", values, options)] {
      try {
        element->observe();
      } catch (const std::runtime_error&) {
      }
    });
    wait_until(runtime, [&] { return holds_.load(); });
  }
  ~Holder() { let_go(false); }
  void let_go(bool observes) {
    observes_ = observes;
    goes_on_ = true;
    if (task_) std::exchange(task_, {}).join();
  }

 private:
  runtime::Runtime& runtime_;
  std::atomic<bool> holds_{false}, goes_on_{false}, observes_{false};
  runtime::Task task_;
};

/// A read that calls a function when it gets its tuple.
struct Served final : Access {
  explicit Served(std::function<void()> what) : Access(Kind::observe, 0), act(std::move(what)) {}
  void notify() noexcept override { act(); }
  const std::function<void()> act;
};

std::uint64_t blocked_movers(SharedSpace& space) { return space.show().at(0).blocked_movers; }

}  // namespace

TEST_CASE("shared space: a move admitted at its deadline reports that it has moved") {
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name());
    const auto element = space->enter("e", values, {.delta = 1});
    element->move(tuple_of(1));
    const auto other = map_again(*space);
    const base::Nanos end = runtime.now() + 60ms;
    std::optional<std::uint64_t> number;
    runtime::Task mover = start(runtime, [&] {
      try {
        number = element->move(tuple_of(2), runtime::Deadline::written_at(end));
      } catch (const pastset::DeadlinePassed&) {
      }
    });
    wait_until(runtime, [&] { return blocked_movers(*other) == 1 || runtime.now() > end; });
    Holder holder(runtime, *other);
    while (runtime.now() < end + 40ms) runtime.sleep_for(1ms);
    holder.let_go(true);
    mover.join();
    CHECK(number.has_value() == (element->last() == 2));
  });
}

TEST_CASE("shared space: a cancelled move never happens even if room is made meanwhile") {
  constexpr std::uint64_t moves = test_support::or_fewer(400'000);
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name());
    const auto element = space->enter("e", values, {.delta = 1}, {.slots = 8});
    const auto other = map_again(*space);
    std::vector<std::uint8_t> seen(moves, 0);
    std::atomic<bool> is_over{false};
    runtime::Task observer = start(runtime, [&, observed = other->find("e")] {
      for (;;) {
        const bool is_last = is_over;
        while (const auto stored = observed->try_observe()) {
          seen.at(value_of(*stored)) = 1;
          observed->axe(stored->number);
        }
        if (is_last) return;
      }
    });
    std::vector<std::uint8_t> is_cancelled(moves, 0);
    for (std::uint64_t i = 0; i < moves; ++i) {
      auto moved = start_move(*element, tuple_of(i, 1));
      is_cancelled[i] = moved.cancel() ? 1 : 0;
    }
    is_over = true;
    observer.join();
    for (std::uint64_t i = 0; i < moves; ++i) {
      INFO("move " << i);
      REQUIRE(seen[i] + is_cancelled[i] == 1);
    }
  });
}

TEST_CASE("shared space: memory freed while a move joins the queue is available to that move") {
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name());
    const auto element = space->enter("e", values, {.delta = 4}, small);
    const auto other = map_again(*space);
    const auto others = other->find("e");
    element->move(tuple_of(0, 900));
    element->observe();
    Served served([&] { others->axe(0); });
    element->begin(served);
    runtime.sleep_for(20ms);  // within 20 ms, all earlier notifications arrive
    // With 0 listeners, the first move, by the other mapping, notifies no process. The second move
    // must then serve the waiting read itself. That read discards tuple 0 (axe) when it gets tuple
    // 1. The second move must use the memory of tuple 0.
    space->mapping().segment().elements[0].listeners = 0;
    others->move(tuple_of(1, 1));
    CHECK(element->move(tuple_of(2, 900), soon(runtime, 5s)) == 2);
  });
}

TEST_CASE("shared space: an element that is held for a long time delays no other element") {
  on_steady_clock([&](runtime::Runtime& runtime) {
    // The patience (time until a wait for a lock is reported) is long enough for a busy machine.
    const auto space = SharedSpace::make(own_name(), {.lock_patience = 10min});
    const auto held = space->enter("e", values);
    const auto free = space->enter("free", values);
    const auto other = map_again(*space);
    const auto others_free = other->find("free");
    held->move(tuple_of(1));
    const bool is_waited_for = GENERATE(false, true);
    runtime::Handle<pastset::Stored> waits;
    if (is_waited_for) waits = start_observe(*held, 9);
    Holder holder(runtime, *other);
    runtime::Task asks = start(runtime, [&] { held->last(); });
    runtime.sleep_for(5ms);
    auto comes = start_observe(*free);
    others_free->move(tuple_of(7));
    CHECK(value_of(comes.wait(soon(runtime, 5s))) == 7);
    CHECK(space->enter("third", values)->last() == 0);  // the held element delays no new element
    holder.let_go(true);
    asks.join();
  });
}

TEST_CASE("shared space: a waiter that gets the error of a stuck element leaves its queue") {
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name(), {.lock_patience = 100ms});
    const auto element = space->enter("e", values, {.delta = 1}, small);
    element->move(tuple_of(1));
    const auto other = map_again(*space);
    auto moved = start_move(*element, tuple_of(2));
    std::string blocked_error;
    runtime::Task mover = start(runtime, [&] {
      try {
        // The deadline of 2 s passes while the lock is held. A busy machine also has enough time
        // for the checks above before this deadline.
        element->move(tuple_of(3), soon(runtime, 2s));
      } catch (const SharedSpaceError& error) {
        blocked_error = error.what();
      }
    });
    wait_until(runtime, [&] { return blocked_movers(*other) == 2; });
    Holder holder(runtime, *other);
    space->mapping().processes().ring(~std::uint32_t{0});
    CHECK_THROWS_AS(moved.wait(soon(runtime)), SharedSpaceError);
    mover.join();
    CHECK_THAT(blocked_error, Catch::Contains("has held the lock of an element for more than 100"));
    holder.let_go(false);
    wait_until(runtime, [&] { return blocked_movers(*other) == 0; });
    CHECK(value_of(*element->try_observe()) == 1);
    CHECK_FALSE(element->try_observe());
  });
}

TEST_CASE("shared space: a process that dies while an element is held leaves nothing in it") {
  const std::string name = own_name();
  Forked victim = process_with(
      name, [](runtime::Runtime&, pastset::Element& element) { element.move(tuple_of(2)); });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name, {.lock_patience = 100ms});
    const auto element = space->enter("e", values, {.delta = 1}, small);
    element->move(tuple_of(1));
    wait_until(runtime, [&] { return blocked_movers(*space) == 1; });
    const auto other = map_again(*space, {.lock_patience = 100ms});
    Holder holder(runtime, *other);
    victim.kill(SIGKILL);
    victim.wait();
    runtime.sleep_for(500ms);  // longer than the lock patience of all mappings
    holder.let_go(false);
    wait_until(runtime, [&] { return blocked_movers(*space) == 0; });
  });
}

TEST_CASE("shared space: memory held by a killed reader of a deleted element is reused") {
  const std::string name = own_name();
  Between<std::atomic<bool>> is_held;
  Forked reader = process_with(name, [&](runtime::Runtime& runtime, pastset::Element& element) {
    const pastset::Stored held = element.newest(0, soon(runtime));
    *is_held = true;
    runtime.sleep_for(60s);
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space =
        SharedSpace::make(name, {.bytes = SharedSpace::bytes_of(std::vector(1, small))});
    space->enter("e", values, {}, small)->move(tuple_of(1, 1000));
    wait_until(runtime, [&] { return is_held->load(); });
    space->delete_element("e");
    const auto next = space->enter("e", values, {.delta = 4}, small);
    // The tuple that the reader holds leaves too little memory of the space for another tuple.
    CHECK_THROWS_AS(next->move(tuple_of(2, 1000), soon(runtime, 20ms)), pastset::DeadlinePassed);
    auto moved = start_move(*next, tuple_of(2, 1000));
    reader.kill(SIGKILL);
    reader.wait();
    CHECK(moved.wait(soon(runtime)).number == 0);
  });
}

TEST_CASE("shared space: showing or leaving it while an element is held delays no notification") {
  const std::string name = own_name();
  Between<std::atomic<bool>> has_moved;
  const auto move_once = [&](runtime::Runtime& own, pastset::Element& element) {
    element.move(tuple_of(1));
    *has_moved = true;
    own.sleep_for(60s);
  };
  Forked mover = process_with(name, move_once, "free");
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    space->enter("e", values)->move(tuple_of(1));
    const auto free = space->enter("free", values);
    wait_until(runtime, [&] { return has_moved->load(); });
    const auto other = map_again(*space);
    Holder holder(runtime, *other);
    const auto shown = space->show();
    CHECK(shown.at(0).held_by == static_cast<std::uint32_t>(getpid()));
    CHECK(shown.at(1).numbers.last == 1);
    runtime::Task leaves = start(runtime, [&] { map_again(*space); });
    auto second = start_observe(*free, 1);
    runtime.sleep_for(5ms);
    mover.kill(SIGKILL);
    CHECK_THROWS_AS(second.wait(soon(runtime, 4s)), pastset::ProcessDied);
    holder.let_go(true);
    leaves.join();
  });
}

TEST_CASE(
    "shared space: a fiber that waits for a held element lets other fibers of its thread run") {
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name(), {.lock_patience = 2s});
    const auto element = space->enter("e", values);
    element->move(tuple_of(1));
    const auto other = map_again(*space);
    Holder holder(runtime, *other);
    using runtime::ContextRole;
    std::atomic<bool> has_begun{false}, has_ended{false};
    runtime::Task waits = runtime.spawn(ContextRole::service, {"waits"}, [&] {
      has_begun = true;
      try {
        element->last();
      } catch (const SharedSpaceError&) {
      }
      has_ended = true;
    });
    wait_until(runtime, [&] { return has_begun.load(); });
    runtime.spawn(ContextRole::service, {"goes on"}, [] {}).join();
    CHECK_FALSE(has_ended);
    holder.let_go(true);
    waits.join();
  });
}

#ifndef PATHS_TSAN  // the thread sanitizer does not follow forks of threaded processes
// Does not run under the address sanitizer: the child allocates memory, and the allocator of the
// sanitizer does not support this after a fork of a process with several threads.
TEST_CASE("shared space: the child of a fork can only release it and does not affect its parent",
          "[without_asan]") {
  auto space = SharedSpace::make(own_name());
  auto element = space->enter("e", values, {}, small);
  element->move(tuple_of(3, 500));
  std::optional<pastset::Stored> pinned = element->newest();
  Forked child([&](runtime::Runtime&) {
    bool is_refused = false;
    try {
      element->last();
    } catch (const pastset::SharedSpaceError&) {
      is_refused = true;
    }
    pinned.reset();
    element.reset();
    space.reset();
    if (!is_refused) throw std::runtime_error("it goes by the name of its parent");
  });
  CHECK(child.wait() == 0);
  const pastset::SharedMapping& mapping = space->mapping();
  CHECK(mapping.processes().owner() == mapping.me());
  CHECK(mapping.processes().all().at(mapping.me()).pid == static_cast<std::uint32_t>(getpid()));
  CHECK(element->observe().number == 0);
  element->axe(0);
  // Next to the pinned tuple, the memory has room for only one more tuple of 500 values.
  element->move(tuple_of(4, 500));
  CHECK_THROWS_AS(element->move(tuple_of(5, 500)), pastset::SharedSpaceFull);
  CHECK(value_of(*pinned) == 3);
}
#endif

TEST_CASE(
    "shared space: state left incomplete by a dead process is repaired by the next lock holder") {
  const auto space = SharedSpace::make(own_name());
  const auto before = space->enter("e", values);
  space->delete_element("e");
  const auto element = space->enter("e", values);  // gets the memory of the deleted element
  pastset::shared::Element& left = space->mapping().segment().elements[0];
  constexpr std::uint32_t nobody = (1 << 30) - 2;
  element->move(tuple_of(0, 20'000));
  element->observe();
  element->axe(0);
  CHECK(space->show().at(0).arena_bytes_used == 0);
  CHECK(left.lock.lock(nobody, space->mapping().processes(), 0ms) ==
        runtime::SharedLock::Found::clean);
  left.line_count = 5;
  // A process that dies before its move is complete leaves the value 2 in this entry. A process
  // that dies before it has freed the extent leaves ~0.
  space->mapping().segment().newest[0][0] = GENERATE(2ULL, ~0ULL);
  left.lock.leave_for(nobody);
  CHECK_THROWS_AS(before->last(), pastset::Deleted);
  CHECK(element->move(tuple_of(1)) == 1);
  CHECK(space->show().at(0).arena_bytes_used == 0);
}

TEST_CASE("shared space: a process without free descriptors declares no other process dead") {
  const std::string name = own_name();
  Between<std::atomic<int>> stage;
  const auto gone = [] {
    Forked one([](runtime::Runtime&) {});
    const auto pid = static_cast<std::uint32_t>(one.pid());
    one.wait();
    return runtime::ProcessIdentity{pid, 1};
  }();
  Forked poor([&](runtime::Runtime& runtime) {
    const auto space = map_when_there(runtime, name);
    const auto parent = runtime::ProcessIdentity::of(static_cast<std::uint32_t>(getppid()));
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &limit);
    *stage = parent.is_alive() && !gone.is_alive() ? 1 : -1;
    runtime.sleep_for(60s);
  });
  Forked third([&](runtime::Runtime& runtime) {
    wait_until(runtime, [&] { return *stage == 2; });
    const auto mapped = map_when_there(runtime, name);
    *stage = 3;
    runtime.sleep_for(60s);
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values);
    wait_until(runtime, [&] { return *stage != 0; });
    CHECK(*stage == 1);
    const auto other = map_again(*space);  // mapping the space again notifies the first mapping
    *stage = 2;
    wait_until(runtime, [&] { return *stage == 3; });
    runtime.sleep_for(200ms);
    const auto processes = space->mapping().processes().all();
    CHECK(std::count_if(processes.begin(), processes.end(),
                        [](const auto& one) { return one.pid != 0; }) == 4);
  });
}

TEST_CASE("shared space: an invalid offset of an extent is never written to") {
  on_steady_clock([&](runtime::Runtime&) {
    const auto space = SharedSpace::make(own_name());
    const auto element =
        space->enter("e", values, {.keep_newest = 1}, {.slots = 8, .arena_bytes = 64 << 10});
    pastset::shared::Segment& segment = space->mapping().segment();
    runtime::Random random(5);
    std::uint64_t moved = 0;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      try {
        element->move(tuple_of(i, 1 + random.below(900)));
        pastset::format_tuple(values, element->newest().payload);
        ++moved;
      } catch (const pastset::ElementError&) {
      }
      auto& extent = segment.extents[random.below(8)];
      const std::uint64_t wild[] = {random.next(), 64 * random.next(), ~random.below(4096),
                                    space->mapping().bytes() - 64 * random.below(64)};
      (random.chance(0.5) ? extent.place : extent.bytes) = wild[random.below(4)];
      if (random.chance(0.1)) segment.extents_known = static_cast<std::uint32_t>(random.next());
    }
    CHECK(moved > 0);
  });
}
