// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_access_real.cpp — access rights of a shared space, and read-only mappings.
#include <sys/mman.h>

#include <optional>

#include "pastset/any_change.hpp"
#include "pastset/shared/names.hpp"
#include "tests/pastset/shared_space_scene.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/thrown.hpp"

using namespace shared_space_scene;
using pastset::SharedAccess;
using pastset::SharedSpaceError;
using test_support::thrown;

namespace {

constexpr uid_t nobody = 65534;

/// A process of another user. It calls `act` when the test calls begin().
class Stranger {
 public:
  explicit Stranger(const std::function<void(runtime::Runtime&)>& act)
      : process_([&](runtime::Runtime& runtime) {
          while (!*begins_) runtime.sleep_for(1ms);
          if (setuid(nobody) != 0) throw std::runtime_error("no other user");
          act(runtime);
        }) {}
  void begin() { *begins_ = true; }
  int wait() { return process_.wait(); }

 private:
  Between<std::atomic<bool>> begins_;
  Forked process_;
};

template <class Error, class Act>
void expect_throws(Act act) {
  expect(thrown<Error>(act) != "nothing", "no error");
}

bool is_root() {
  if (geteuid() == 0) return true;
  test_support::skip("another user (root)");
  return false;
}

}  // namespace

TEST_CASE("shared access: by default no other user finds a space") {
  if (!is_root()) return;
  const std::string name = own_name();
  Stranger stranger([&](runtime::Runtime&) {
    for (const std::string& whose : {std::string(), std::string("root/"), std::string("0/")})
      expect_throws<SharedSpaceError>([&] { SharedSpace::map(whose + name); });
    expect_throws<SharedSpaceError>([&] { SharedSpace::map("who is that/" + name); });
  });
  const auto space = SharedSpace::make(name);
  stranger.begin();
  CHECK(stranger.wait() == 0);
}

TEST_CASE("shared access: a user number out of range belongs to no user") {
  const std::string name = own_name();
  const auto space = SharedSpace::make(name);
  CHECK(SharedSpace::map(std::to_string(geteuid()) + "/" + name)->mapping().name() == name);
  const std::string beyond = std::to_string((std::uint64_t{1} << 32) + geteuid());
  for (const std::string& user : {beyond, "-" + beyond, std::string("+0"), std::string()})
    CHECK_THROWS_WITH(SharedSpace::map(user + "/" + name), Catch::Contains("there is no user"));
}

TEST_CASE("shared access: with read access other users read and wait but cannot write") {
  if (!is_root()) return;
  const std::string name = own_name() + ".run";
  Between<std::atomic<int>> stage;
  Stranger stranger([&](runtime::Runtime& runtime) {
    const auto others = pastset::shared::others_names();
    expect(std::count(others.begin(), others.end(), "root/" + name) == 1, "not listed");
    const auto space = SharedSpace::map("root/" + name.substr(0, name.size() - 4));
    expect(!space->mapping().may_write(), "may write");
    void* const written =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, space->descriptor(), 0);
    expect(written == MAP_FAILED, "can be written");
    const auto element = space->find("e");
    expect(value_of(element->observe(0)) == 5, "another value");
    *stage = 1;
    expect(value_of(element->newest(1, soon(runtime))) == 6, "another value");
    expect_throws<SharedSpaceError>([&] { element->move(tuple_of(1)); });
    expect_throws<SharedSpaceError>([&] { element->observe(); });
    expect_throws<SharedSpaceError>([&] { element->axe(0); });
    expect_throws<SharedSpaceError>([&] { element->delete_element(); });
    expect_throws<SharedSpaceError>([&] { space->enter("f", values); });
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name, {.access = SharedAccess::others_may_read});
    const auto element = space->enter("e", values);
    element->move(tuple_of(5));
    stranger.begin();
    wait_until(runtime, [&] { return *stage == 1; });
    element->move(tuple_of(6));
    CHECK(stranger.wait() == 0);
    CHECK(element->first() == 0);
    // A process with a read-only mapping is not in the table of processes.
    CHECK(space->mapping().processes().all().at(1).pid == 0);
  });
}

TEST_CASE("shared access: with write access other users act like any process") {
  if (!is_root()) return;
  const std::string name = own_name();
  Stranger stranger([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::map("root/" + name);
    const auto element = space->find("e");
    for (std::uint64_t i = 0; i < 200; ++i) {
      const pastset::Stored stored = element->observe(soon(runtime));
      element->axe(stored.number);
      space->enter("back", values, {.delta = 4})->move(tuple_of(value_of(stored), 5000));
    }
    runtime.sleep_for(60s);
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name, {.access = SharedAccess::others_may_write});
    const auto element = space->enter("e", values, {.delta = 4});
    const auto back = space->enter("back", values, {.delta = 4});
    stranger.begin();
    for (std::uint64_t i = 0; i < 200; ++i) {
      element->move(tuple_of(i), soon(runtime));
      const pastset::Stored stored = back->observe(soon(runtime));
      CHECK(value_of(stored) == i);
      back->axe(stored.number);
    }
    // The process that owns the element is killed. The waiting read then ends with an error.
    kill(static_cast<pid_t>(space->mapping().processes().all().at(1).pid), SIGKILL);
    CHECK_THROWS_AS(back->observe(soon(runtime)), pastset::ProcessDied);
    CHECK(stranger.wait() == 128 + SIGKILL);
  });
}

TEST_CASE("shared access: a space is found only when it is open") {
  const std::string name = own_name();
  const auto mapping = pastset::SharedMapping::make(name, {});
  const auto is_named = [&] {
    const auto names = pastset::shared::open_names();
    return std::count(names.begin(), names.end(), name) == 1;
  };
  CHECK_FALSE(is_named());
  CHECK_THROWS_AS(SharedSpace::map(name), SharedSpaceError);
  CHECK_THROWS_AS(SharedSpace::make(name), SharedSpaceError);
  mapping->open(SharedAccess::own_processes);
  CHECK(is_named());
  CHECK(SharedSpace::map(name)->names().empty());
}

TEST_CASE("shared access: a space is not found before its initial elements exist") {
  const std::string name = own_name();
  Between<std::atomic<int>> stage;
  Forked finder([&](runtime::Runtime& runtime) {
    for (*stage = 1; *stage < 3;) {
      const auto names = pastset::shared::open_names();
      const bool is_named = std::count(names.begin(), names.end(), name) > 0;
      try {
        const auto space = SharedSpace::map(name);
        for (int i = 0; i < 40; ++i) {
          const auto element = space->find("element " + std::to_string(i));
          expect(element != nullptr && element->delta() == 7, "half of it is there");
        }
        *stage = 3;
      } catch (const SharedSpaceError&) {
        expect(!is_named, "named but not there");
      }
    }
    runtime.sleep_for(0ms);
  });
  while (*stage < 1) pause(1ms);
  std::vector<SharedSpace::Entered> elements;
  for (int i = 0; i < 40; ++i)
    elements.push_back({"element " + std::to_string(i), values, {.delta = 7}, {.slots = 16'000}});
  // make() takes long to clear so many slots. The other process may find the space during that
  // time.
  const auto space = SharedSpace::make(name, {.bytes = std::size_t{256} << 20}, elements);
  CHECK(finder.wait() == 0);
}

TEST_CASE("shared access: a read-only mapping sees whole tuples during concurrent moves") {
  const std::string name = own_name();
  const std::size_t count = GENERATE(1U, 90U, 3000U);
  Between<std::atomic<bool>> is_over;
  Forked mover([&](runtime::Runtime& runtime) {
    const auto space = map_when_there(runtime, name);
    const auto moved = space->find("e");
    for (std::uint64_t i = 0; !*is_over; ++i) {
      moved->move(tuple_of(i, count));
      // Pauses after every 256 tuples, so that readers can finish a read.
      if (i % 256 == 0) runtime.sleep_for(base::Nanos(50'000));
    }
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const pastset::SharedSizes sizes{.slots = 8, .arena_bytes = 96 << 10};
    const auto space = SharedSpace::make(
        name, {.bytes = SharedSpace::bytes_of(std::span(&sizes, 1))},
        std::vector<SharedSpace::Entered>{{"e", values, {.keep_newest = 2}, sizes}});
    const auto reader = for_reading(*space);
    const auto element = reader->find("e");
    std::uint64_t next = 0, seen = 0, gone = 0;
    const auto look = [&](bool waits) {
      try {
        const std::uint64_t last = std::max<std::uint64_t>(element->last(), 1);
        const pastset::Stored stored = waits ? element->newest(next, soon(runtime))
                                             : element->observe(last - 1, soon(runtime));
        REQUIRE(value_of(stored) == stored.number);
        if (waits) REQUIRE(stored.number >= next);
        next = stored.number + 1;
        ++seen;
      } catch (const pastset::Expired&) {
        ++gone;
      }
    };
    for (const base::Nanos end = runtime.now() + 400ms; runtime.now() < end;) look(false);
    for (const base::Nanos end = runtime.now() + 20s; seen < 200; look(true))
      REQUIRE(runtime.now() < end);
    *is_over = true;
    CHECK(mover.wait() == 0);
    INFO(gone << " were gone");
    CHECK(reader->show().at(0).numbers.last == element->last());
  });
}

TEST_CASE(
    "shared access: a read-only mapping is notified of changes and marks and ends and deadlines") {
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name());
    const auto element = space->enter("e", values, {.delta = 3});
    const auto reader = for_reading(*space);
    const auto read = reader->find("e");
    CHECK(reader->names() == std::vector<std::string>{"e"});
    CHECK(read->delta() == 3);
    CHECK_FALSE(read->try_newest());
    CHECK_THROWS_AS(read->observe(0, soon(runtime, 20ms)), pastset::DeadlinePassed);
    auto begun = start_observe(*read, 0);
    auto given_up = start_newest(*read, 0);
    CHECK(given_up.cancel());
    pastset::AnyChange changes({read.get()});
    const std::uint64_t seen = changes.count();
    element->move(tuple_of(3));
    CHECK(changes.wait(seen, soon(runtime)));
    CHECK(value_of(begun.wait(soon(runtime))) == 3);
    CHECK(value_of(*read->try_newest()) == 3);
    element->observe();
    CHECK(read->first() == 1);
    element->axe(0);
    CHECK_THROWS_AS(read->observe(0, soon(runtime)), pastset::Expired);
    CHECK_THROWS_AS(start_move(*read, tuple_of(1)).wait(soon(runtime)), SharedSpaceError);
    CHECK_THROWS_AS(start_observe(*read).wait(soon(runtime)), SharedSpaceError);
    auto marked = start_observe(*read, 1);
    element->mark_error("enough");
    CHECK_THROWS_AS(marked.wait(soon(runtime)), pastset::Marked);
    CHECK(read->error_mark().value().text == "enough");
    std::string told;
    runtime::Task waits = runtime.spawn(runtime::ContextRole::service, {"waits"}, [&] {
      pastset::AnyChange more({read.get()});
      bool is_notified = true;
      while (is_notified && told.empty()) {
        // The notification of the earlier mark may arrive only now. After each notification, this
        // context therefore checks whether the element is deleted.
        const std::uint64_t before = more.count();
        if (read->is_deleted())
          told = "deleted";
        else
          is_notified = more.wait(before, soon(runtime));
      }
    });
    runtime.sleep_for(5ms);
    element->delete_element();
    waits.join();
    CHECK(told == "deleted");
    CHECK_THROWS_AS(read->newest(0, soon(runtime)), pastset::Deleted);
  });
}

TEST_CASE(
    "shared access: a read-only mapping detects the death of the owner if no other process does") {
  const std::string name = own_name();
  Between<std::atomic<int>> stage;
  Forked owner([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name, {.process = "solver"});
    space->enter("e", values)->move(tuple_of(7));
    *stage = 1;
    runtime.sleep_for(60s);
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    wait_until(runtime, [&] { return *stage == 1; });
    const std::unique_ptr<SharedSpace> reader = [&] {
      return for_reading(*SharedSpace::map(name));
    }();
    const auto element = reader->find("e");
    auto begun = start_observe(*element, 1);
    owner.kill(SIGKILL);
    CHECK_THAT(thrown<pastset::ProcessDied>([&] { element->observe(1, soon(runtime)); }),
               Catch::Contains("process " + std::to_string(owner.pid()) +
                               " (solver), which owned the space, has died"));
    CHECK_THROWS_AS(begun.wait(soon(runtime)), pastset::ProcessDied);
    CHECK(value_of(element->observe(0)) == 7);
    owner.wait();
  });
}
