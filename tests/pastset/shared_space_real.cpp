// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_space_real.cpp — processes that share a space.
#include <sys/mman.h>

#include "pastset/any_change.hpp"
#include "pastset/shared/names.hpp"
#include "tests/pastset/shared_kills.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/thrown.hpp"

using namespace shared_space_scene;
using pastset::SharedSpaceFull;
using test_support::open_descriptors;
using test_support::thrown;

TEST_CASE("shared space: one process observes moves of another and large tuples are not copied") {
  const std::string name = own_name();
  Forked observer = process_with(name, [](runtime::Runtime& runtime, pastset::Element& element) {
    for (std::uint64_t value = 0; value < 2000; ++value) {
      const pastset::Stored stored = element.observe(soon(runtime));
      expect(stored.number == value && value_of(stored) == value, "another tuple");
      element.axe(stored.number);
    }
    element.mark_error("enough");
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values, {.delta = 4});
    for (std::uint64_t value = 0; value < 2000; ++value)
      CHECK(element->move(tuple_of(value), soon(runtime)) == value);
    CHECK_THROWS_AS(element->observe(2000, soon(runtime)), pastset::Marked);
    CHECK(element->first() == 2000);
    CHECK(element->error_mark().value().text == "enough");
  });
  CHECK(observer.wait() == 0);
}

TEST_CASE("shared space: a blocked mover of another process continues when a tuple is observed") {
  const std::string name = own_name();
  Forked mover = process_with(name, [](runtime::Runtime& runtime, pastset::Element& element) {
    for (std::uint64_t value = 1; value < 50; ++value)
      expect(element.move(tuple_of(value), soon(runtime)) == value, "another number");
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values, {.delta = 1});
    element->move(tuple_of(0));
    for (std::uint64_t value = 0; value < 50; ++value) {
      if (value % 7 == 0) runtime.sleep_for(2ms);
      CHECK(value_of(element->observe(soon(runtime))) == value);
    }
  });
  CHECK(mover.wait() == 0);
}

TEST_CASE("shared space: deadlines and changes and deletions work across processes") {
  const std::string name = own_name();
  Between<std::atomic<int>> stage;
  Forked waiter = process_with(name, [&](runtime::Runtime& runtime, pastset::Element& element) {
    const auto late = thrown<pastset::DeadlinePassed>([&] { element.observe(soon(runtime, 5ms)); });
    expect(late != "nothing", "a tuple");
    pastset::AnyChange changes({&element});
    const std::uint64_t seen = changes.count();
    *stage = 1;
    expect(changes.wait(seen, soon(runtime)), "no change");
    expect(element.last() == 1, "no tuple");
    *stage = 2;
    const auto gone = thrown<pastset::Deleted>([&] { element.observe(1, soon(runtime)); });
    expect(gone != "nothing", "a tuple");
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values);
    wait_until(runtime, [&] { return *stage >= 1; });
    element->move(tuple_of(7));
    wait_until(runtime, [&] { return *stage >= 2; });
    runtime.sleep_for(5ms);
    space->delete_element("e");
    CHECK_THROWS_AS(element->last(), pastset::Deleted);
    CHECK(space->names().empty());
    CHECK(space->enter("e", values)->last() == 0);
    CHECK_THROWS_AS(element->last(), pastset::Deleted);
  });
  CHECK(waiter.wait() == 0);
}

TEST_CASE("shared space: fibers and threads of several processes get each tuple once in order") {
  constexpr std::uint64_t processes = 3, each = 4000;
  const std::string name = own_name();
  struct Seen {
    std::array<std::atomic<int>, processes * each> times{};
  };
  Between<Seen> seen;
  std::vector<Forked> others;
  for (std::uint64_t process = 0; process < processes; ++process)
    others.push_back(
        process_with(name, [&, process](runtime::Runtime& runtime, pastset::Element& element) {
          runtime::Task mover = runtime.spawn(
              process == 0 ? runtime::ContextRole::service : runtime::ContextRole::thread,
              {"mover"}, [&] {
                for (std::uint64_t i = 0; i < each; ++i)
                  element.move(tuple_of(process * each + i), soon(runtime));
              });
          std::array<std::uint64_t, processes> next{};
          for (std::uint64_t i = 0; i < each; ++i) {
            const pastset::Stored stored = element.observe(soon(runtime));
            const std::uint64_t value = value_of(stored);
            ++seen->times[value];
            expect(value % each >= next[value / each], "out of order");
            next[value / each] = value % each + 1;
            if (i % 16 == 0) element.axe(stored.number);
          }
          mover.join();
        }));
  on_steady_clock([&](runtime::Runtime&) {
    const auto space = SharedSpace::make(name);
    space->enter("e", values, {.delta = 8}, {.slots = 256, .arena_bytes = 1 << 20});
    for (Forked& one : others) CHECK(one.wait() == 0);
  });
  for (const auto& times : seen->times) REQUIRE(times == 1);
}

TEST_CASE(
    "shared space: a full element refuses moves without delta and blocks them with delta until an "
    "axe") {
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name());
    const pastset::SharedSizes sizes{.slots = 8, .arena_bytes = 8192, .line = 4};
    const auto open = space->enter("open", values, {}, sizes);
    for (int i = 0; i < 7; ++i) open->move(tuple_of(1));
    CHECK_THROWS_AS(open->move(tuple_of(1)), SharedSpaceFull);
    const auto bounded = space->enter("bounded", values, {.delta = 6}, sizes);
    CHECK_THROWS_AS(bounded->move(tuple_of(1, 2000)), SharedSpaceFull);  // this tuple never fits
    bounded->move(tuple_of(0, 500));
    bounded->move(tuple_of(1, 500));
    auto third = start_move(*bounded, tuple_of(2, 500));
    auto fourth = start_move(*bounded, tuple_of(3, 1));
    const pastset::Stored pinned = bounded->observe();
    CHECK(pinned.number == 0);
    bounded->axe(0);
    CHECK_FALSE(third.done());  // the third move waits, because tuple 0 is still being read
    CHECK(bounded->last() == 2);
    CHECK_THROWS_AS(bounded->move(tuple_of(9), soon(runtime, 5ms)), pastset::DeadlinePassed);
    const_cast<pastset::Stored&>(pinned).payload = {};
    CHECK(third.wait(soon(runtime)).number == 2);
    CHECK(fourth.wait(soon(runtime)).number == 3);
    CHECK(value_of(bounded->newest(3)) == 3);
    CHECK(space->show().at(1).arena_bytes_used > 0);
  });
}

TEST_CASE("shared space: a process that keeps a tuple for long does not block moves") {
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name());
    const auto element =
        space->enter("e", values, {.delta = 2}, {.slots = 8, .arena_bytes = 64 << 10});
    element->move(tuple_of(77, 500));
    const pastset::Stored kept = element->observe();
    runtime::Random random(3);
    for (std::uint64_t value = 1; value < 3000; ++value) {
      element->move(tuple_of(value, 1 + random.below(900)), soon(runtime));
      const pastset::Stored stored = element->observe();
      REQUIRE(value_of(stored) == value);
      element->axe(stored.number);
    }
    CHECK(value_of(kept) == 77);
    CHECK(pastset::TupleReader(values, kept.payload).get_array<std::uint64_t>(0).size() == 500);
  });
}

TEST_CASE("shared space: X-functions run in the process that moves or observes") {
  const std::string name = own_name();
  Forked reader = process_with(name, [](runtime::Runtime& runtime, pastset::Element& element) {
    expect(element.observe(soon(runtime)).payload.size() == 2, "stored as it was made");
  });
  on_steady_clock([&](runtime::Runtime&) {
    const auto space = SharedSpace::make(name);
    pastset::ElementOptions options;
    options.x_function.in = [](const base::Payload&) {
      return base::Payload::of(std::uint16_t{7});
    };
    options.x_function.out = [](const base::Payload& stored) {
      return tuple_of(stored.read<std::uint16_t>(), 1);
    };
    const auto element = space->enter("e", *Template::parse("u64[]"), options);
    element->move(tuple_of(1));
    CHECK(value_of(element->observe(0)) == 7);
    // The read fails in the other process. That process lacks the X-function that restores tuples
    // from the stored bytes, which alone are no tuple.
    CHECK(reader.wait() == Forked::failed);
  });
}

TEST_CASE("shared space: another version or layout or user or size is refused and both are named") {
  const auto space = SharedSpace::make(own_name());
  auto& segment = space->mapping().segment();
  const auto refusal = [&] {
    return thrown<std::exception>([&] { SharedSpace::map(again(space->descriptor())); });
  };
  CHECK(refusal() == "nothing");
  segment.version = 9;
  CHECK_THAT(refusal(), Catch::EndsWith("has version 9; this program expects 3"));
  segment.version = 3;
  segment.layout = 5;
  CHECK_THAT(refusal(), Catch::Contains("has layout 5; this program expects "));
  segment.layout = pastset::shared::Segment::right_layout;
  segment.user = 4'000'000;
  CHECK_THAT(refusal(), Catch::Contains("has user 4000000; this program expects "));
  segment.user = geteuid();
  segment.bytes = 12345;
  CHECK_THAT(refusal(), Catch::Contains("has size 12345; this program expects 67108864"));
  segment.bytes = 64 << 20;
  segment.magic = 0;
  CHECK_THAT(refusal(), Catch::Contains("it does not begin as one"));
  base::Descriptor unsealed(memfd_create("not-one", MFD_CLOEXEC));
  CHECK_THAT(thrown<std::exception>([&] { SharedSpace::map(std::move(unsealed)); }),
             Catch::Contains("its size may change"));
}

TEST_CASE("shared space: a name is found as long as a process maps the space") {
  const std::string name = own_name();
  {
    const auto space = SharedSpace::make(name);
    const auto names = pastset::shared::open_names();
    CHECK(std::count(names.begin(), names.end(), name) == 1);
    CHECK_THAT(thrown<std::exception>([&] { SharedSpace::make(name); }),
               Catch::Contains("already"));
    const auto second = SharedSpace::map(name);
    second->enter("e", values)->move(tuple_of(3));
    CHECK(value_of(space->find("e")->observe()) == 3);
    CHECK_THROWS_AS(space->enter("e", *Template::parse("f64")), pastset::TemplateMismatch);
  }
  CHECK_THAT(thrown<std::exception>([&] { SharedSpace::map(name); }),
             Catch::Contains("there is no shared space"));
}

TEST_CASE("shared space: repeated mapping and leaving leaves nothing behind") {
  const auto space = SharedSpace::make(own_name());
  space->enter("e", values, {.keep_newest = 2}, {.slots = 8, .arena_bytes = 16 << 10});
  const auto before = open_descriptors();
  struct stat first {
  }, last{};
  for (int i = 0; i < 200; ++i) {
    const auto again_mapped = SharedSpace::map(again(space->descriptor()));
    const auto element = again_mapped->enter("e", values);
    element->move(tuple_of(i, 100));
    const pastset::Stored kept = element->newest();
    const auto other_element = again_mapped->enter("other", values, {}, {.slots = 64});
    again_mapped->delete_element("other");
    if (i == 100) fstat(space->descriptor(), &first);
  }
  fstat(space->descriptor(), &last);
  // The watcher of the last process is released on another thread, so its descriptors may close
  // later.
  for (int i = 0; i < 2000 && open_descriptors() != before; ++i) pause(5ms);
  CHECK(open_descriptors() == before);
  CHECK(last.st_blocks <= first.st_blocks + 64);
  const auto processes = space->mapping().processes().all();
  CHECK(std::count_if(processes.begin(), processes.end(),
                      [](const auto& one) { return one.pid != 0; }) == 1);
}

TEST_CASE("shared space: a stopped holder of the lock is named and a dead one is replaced") {
  const std::string name = own_name();
  Forked holder([&](runtime::Runtime& runtime) {
    const auto space = map_when_there(runtime, name);
    pastset::ElementOptions options;
    options.x_function.out = [](const base::Payload& stored) {
      std::raise(SIGSTOP);
      return stored;
    };
    space->enter("e", values, options)->observe(soon(runtime));
  });
  on_steady_clock([&](runtime::Runtime&) {
    const auto space = SharedSpace::make(name, {.lock_patience = 100ms});
    const auto element = space->enter("e", values);
    element->move(tuple_of(5));
    int status = 0;
    REQUIRE(waitpid(holder.pid(), &status, WUNTRACED) == holder.pid());
    REQUIRE(WIFSTOPPED(status));
    CHECK_THAT(thrown<std::exception>([&] { element->last(); }),
               Catch::Contains("process " + std::to_string(holder.pid()) +
                               " has held the lock of an element for more than 100ms"));
    holder.kill(SIGKILL);
    CHECK(holder.wait() == 128 + SIGKILL);
    CHECK(element->move(tuple_of(6)) == 1);
    CHECK(value_of(element->observe()) == 5);  // the killed process had not observed tuple 0
  });
}

TEST_CASE("shared space: memory pinned by a killed reader is freed") {
  const std::string name = own_name();
  Between<std::atomic<int>> stage;
  Forked reader = process_with(name, [&](runtime::Runtime& runtime, pastset::Element& element) {
    const pastset::Stored pinned = element.observe(soon(runtime));
    *stage = 1;
    runtime.sleep_for(60s);
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values, {.delta = 2}, {.slots = 8, .arena_bytes = 8192});
    element->move(tuple_of(0, 900));
    wait_until(runtime, [&] { return *stage >= 1; });
    element->axe(0);
    CHECK_THROWS_AS(element->move(tuple_of(1, 900), soon(runtime, 5ms)), pastset::DeadlinePassed);
    auto moved = start_move(*element, tuple_of(1, 900));
    reader.kill(SIGKILL);
    reader.wait();
    CHECK(moved.wait(soon(runtime)).number == 1);
  });
}

TEST_CASE("shared space: killed processes block no others and lose only their own tuples") {
  kill_again_and_again(50, 1);
}
