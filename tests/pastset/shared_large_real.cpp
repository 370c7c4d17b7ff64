// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_large_real.cpp — large tuples of a shared space: their places, copies and
// waits, and the reuse of their memory.
#include <sys/mman.h>

#include <csignal>
#include <optional>

#include "tests/pastset/shared_space_scene.hpp"

using namespace shared_space_scene;
using pastset::SharedSpaceFull;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::size_t of_a_mib =
    mib / sizeof(std::uint64_t) - 1;  // values of a tuple that fits into 1 MiB

bool is_in(const SharedSpace& space, const base::Payload& payload) {
  const std::byte* const from = space.mapping().at(0);
  const std::byte* const to = from + pastset::SharedArena::mapped_bytes(space.mapping().bytes());
  return payload.bytes().data() >= from && payload.bytes().data() < to;
}

std::uint64_t used(SharedSpace& space) { return space.show().at(0).arena_bytes_used; }

std::uint64_t mib_of(const SharedSpace& space) {
  struct stat memory {};
  fstat(space.descriptor(), &memory);
  return static_cast<std::uint64_t>(memory.st_blocks) * 512 / mib;
}

/// A tuple in memory whose second page is unreadable at first. A copy of the tuple therefore stops
/// at this page until `goes_on` is set.
class Stopping {
 public:
  struct State {
    std::atomic<bool> is_reached{false}, goes_on{false};
  };
  Stopping(std::size_t count, State& state) : tuple_(tuple_of(9, count)), bytes_(2 * mib) {
    REQUIRE(tuple_.size() <= bytes_);
    present = this;
    state_ = &state;
    at_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at_ != MAP_FAILED);
    std::memcpy(at_, tuple_.bytes().data(), tuple_.size());
    struct sigaction action {};
    action.sa_handler = [](int) {
      present->state_->is_reached = true;
      while (!present->state_->goes_on) {
      }
      mprotect(present->at_, present->bytes_, PROT_READ);
    };
    sigaction(SIGSEGV, &action, &before_);
    mprotect(static_cast<std::byte*>(at_) + 4096, bytes_ - 4096, PROT_NONE);
  }
  ~Stopping() {
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(at_, bytes_);
  }
  Stopping(const Stopping&) = delete;
  Stopping& operator=(const Stopping&) = delete;
  base::Payload payload() const {
    return base::Payload::adopt({static_cast<const std::byte*>(at_), tuple_.size()}, [] {});
  }

 private:
  static inline Stopping* present = nullptr;
  const base::Payload tuple_;
  const std::size_t bytes_;
  State* state_ = nullptr;
  void* at_ = nullptr;
  struct sigaction before_ {};
};

constexpr pastset::SharedSizes eight{.slots = 16, .arena_bytes = 8 * mib, .line = 8};

}  // namespace

TEST_CASE("shared space: a tuple written in it is moved and read without a copy") {
  const std::string name = own_name();
  Between<std::atomic<std::uint64_t>> place;
  Forked mover([&](runtime::Runtime& runtime) {
    const auto space = map_when_there(runtime, name);
    const auto element = find_when_there(runtime, *space);
    const base::Payload tuple = built_in(*element, tuple_of(7, of_a_mib));
    expect(is_in(*space, tuple), "written elsewhere");
    *place = static_cast<std::uint64_t>(tuple.bytes().data() - space->mapping().at(0));
    element->move(tuple);
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values, {}, eight);
    const pastset::Stored stored = element->observe(soon(runtime));
    CHECK(value_of(stored) == 7);
    CHECK(stored.payload.bytes().data() == space->mapping().at(*place));
    CHECK(used(*space) == mib);
    CHECK(mover.wait() == 0);
    element->axe(0);
    CHECK(used(*space) == mib);  // the axed tuple keeps its memory while `stored` refers to it
    CHECK(value_of(stored) == 7);
  });
}

TEST_CASE("shared space: a tuple that was written in it and moved is never written again") {
  const auto space = SharedSpace::make(own_name());
  const auto element = space->enter("e", values, {}, eight);
  base::Payload tuple = built_in(*element, tuple_of(7, of_a_mib));
  const std::byte* const written = tuple.bytes().data();
  element->move(tuple);
  base::Buffer thawed = base::Buffer::thaw(std::move(tuple));
  CHECK(thawed.bytes().data() != written);
  std::memset(thawed.bytes().data(), 1, thawed.size());
  CHECK(value_of(element->observe()) == 7);
}

TEST_CASE("shared space: a forwarded tuple is not copied and counts where it was written") {
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name());
    const auto from = space->enter("a", values, {.delta = 16}, eight);
    const auto to = space->enter("b", values, {}, {.slots = 16, .arena_bytes = 64 << 10});
    const void* places[2];
    for (std::uint64_t i = 0; i < 2; ++i) {
      from->move(tuple_of(i, 4 * of_a_mib));
      const pastset::Stored stored = from->observe();
      places[i] = stored.payload.bytes().data();
      to->move(stored.payload);
      to->move(stored.payload);
      from->axe(i);
    }
    CHECK(used(*space) == 8 * mib);
    auto third = start_move(*from, tuple_of(2, 4 * of_a_mib));
    for (std::uint64_t i = 0; i < 4; ++i) {
      CHECK_FALSE(third.done());
      const pastset::Stored stored = to->observe();
      CHECK(value_of(stored) == i / 2);
      CHECK(stored.payload.bytes().data() == places[i / 2]);
    }
    to->axe(0);
    CHECK_FALSE(third.done());  // the third move still waits: tuples 0 and 1 share an extent
    const auto& rings = space->mapping().segment().processes[space->mapping().me()].bell.rings;
    const std::uint32_t before = rings;
    to->axe(1);
    CHECK(rings != before);  // axe() rings the bell of the process that waits
    CHECK(third.wait(soon(runtime)).number == 2);
  });
}

TEST_CASE("shared space: no other access waits while a large tuple is copied") {
  const std::size_t count = GENERATE(1100U, of_a_mib / 2, of_a_mib);
  Stopping::State state;
  Stopping stopping(count, state);
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name(), {.bytes = 128 * mib, .lock_patience = 200ms});
    const auto element =
        space->enter("e", values, {.delta = 4}, {.slots = 8, .arena_bytes = 64 * mib});
    element->move(tuple_of(0, 1000));  // makes the arena allocate its first chunk
    runtime::Task mover = start(runtime, [&] { element->move(stopping.payload()); });
    wait_until(runtime, [&] { return state.is_reached.load(); });
    CHECK(element->move(tuple_of(1, 1), soon(runtime)) == 1);
    CHECK(element->move(tuple_of(2, count), soon(runtime)) == 2);
    CHECK(element->last() == 3);
    state.goes_on = true;
    mover.join();
    CHECK(value_of(element->observe(3, soon(runtime))) == 9);
  });
}

TEST_CASE("shared space: a process killed while it writes a large tuple leaves nothing") {
  const bool is_copied = GENERATE(false, true);
  const std::string name = own_name();
  Between<Stopping::State> state;
  Forked writer = process_with(name, [&](runtime::Runtime& runtime, pastset::Element& element) {
    if (is_copied) {
      const Stopping stopping(of_a_mib, *state);
      element.move(stopping.payload());
    }
    const base::Buffer buffer = element.buffer(mib);
    state->is_reached = buffer.size() == mib;
    runtime.sleep_for(60s);
  });
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name);
    const auto element = space->enter("e", values, {.delta = 4}, eight);
    wait_until(runtime, [&] { return state->is_reached.load(); });
    CHECK(used(*space) == mib);
    auto moved = start_move(*element, tuple_of(1, 8 * of_a_mib));
    CHECK_FALSE(moved.done());
    writer.kill(SIGKILL);
    CHECK(moved.wait(soon(runtime)).number == 0);
    CHECK(used(*space) == 8 * mib);
  });
}

TEST_CASE("shared space: memory of large tuples is reused and returned when it is not needed",
          "[without_tsan]") {
  const std::string name = own_name();
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(name, {.bytes = 256 * mib});
    const auto element = space->enter("e", values, {}, {.slots = 16, .arena_bytes = 128 * mib});
    for (std::uint64_t i = 0; i < 60; ++i) {
      element->move(tuple_of(i, of_a_mib * (1 + i % 5)));
      CHECK(value_of(element->observe()) == i);
      element->axe(i);
    }
    CHECK(mib_of(*space) <= 24);  // the arena keeps a free extent of each length
    element->move(tuple_of(60, 2 * of_a_mib));
    wait_until(runtime, [&] { return mib_of(*space) <= 3; });
    CHECK(value_of(element->observe()) == 60);
  });
}

// Does not run under sanitizers, because it takes minutes there. It uses only one OS thread.
TEST_CASE("shared space: it costs no more than its limit for any sequence of sizes",
          "[without_tsan][without_asan]") {
  const auto space =
      SharedSpace::make(own_name(), {.bytes = SharedSpace::bytes_of(std::vector(1, eight))});
  const auto element = space->enter("e", values, {}, eight);
  runtime::Random random(3);
  for (std::uint64_t i = 0; i < 600; ++i) {
    element->move(tuple_of(i, of_a_mib / 16 + random.below(3 * of_a_mib)));
    if (random.chance(0.7)) element->move(tuple_of(i, 1 + random.below(of_a_mib)));
    while (const auto stored = element->try_observe()) {
      REQUIRE(value_of(*stored) == i);
      element->axe(stored->number);
    }
    REQUIRE(mib_of(*space) <= 9 + pastset::shared::segment_head_bytes / mib);
  }
}

TEST_CASE("shared space: an element holds the promised number of tuples of a size and no more",
          "[without_tsan]") {
  const auto space = SharedSpace::make(own_name(), {.bytes = 256 * mib});
  int names = 0;
  for (const std::uint64_t arena : {8192ul, 100'000ul, mib, 4 * mib, 64 * mib})
    for (const std::size_t count : {10u, 60u, 500u, 3000u, 20'000u, 700'000u}) {
      const std::uint64_t bytes = tuple_of(1, count).size();
      const std::uint64_t most = pastset::tuples_in(pastset::extent_bytes(arena), bytes);
      if (most == 0 || most > 3000) continue;
      INFO(arena << " bytes, tuples of " << bytes << ", " << most << " of them");
      const auto element =
          space->enter(std::to_string(++names), values, {}, {.slots = 4000, .arena_bytes = arena});
      std::uint64_t next = 0;
      for (; next < most; ++next) element->move(tuple_of(next, count));
      // Each pair of observe() and axe() makes room for one more move.
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(2 * most, 500); ++i) {
        REQUIRE(value_of(element->observe()) == i);
        element->axe(i);
        element->move(tuple_of(next++, count));
      }
      if (pastset::has_own_extent(bytes, arena))
        CHECK_THROWS_AS(element->move(tuple_of(next, count)), SharedSpaceFull);
      element->delete_element();
    }
  CHECK(names > 15);
}

TEST_CASE("shared space: a tuple may take all memory of an element after any earlier tuples") {
  const auto space = SharedSpace::make(own_name());
  const auto element = space->enter("e", values, {.delta = 2}, {.arena_bytes = mib});
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto move = [&](std::size_t count) {
      return element->move(tuple_of(7, count), soon(runtime, 1s));
    };
    for (std::uint64_t number = 0; number < 6; number += 2) {
      CHECK(move(100) == number);
      CHECK(element->observe().number == number);
      element->axe(number);
      CHECK(move(of_a_mib) == number + 1);
      CHECK_THROWS_AS(move(100), pastset::DeadlinePassed);
      CHECK(value_of(element->observe()) == 7);
      element->axe(number + 1);
    }
    // A large tuple that waits for memory gets it when the last small tuple is freed.
    move(100);
    auto waits = start_move(*element, tuple_of(8, of_a_mib));
    element->observe();
    element->axe(6);
    CHECK(waits.wait(soon(runtime, 1s)).number == 7);
  });
}

TEST_CASE("shared space: the maximum number of elements can be full at the same time",
          "[without_asan][without_tsan]") {
  const auto space = SharedSpace::make(own_name());
  constexpr std::uint64_t arena = 16 * pastset::page_bytes, bytes = arena / 64 + 1;
  constexpr std::uint64_t most = pastset::tuples_in(arena, bytes);
  static_assert(pastset::has_own_extent(bytes, arena));
  for (std::size_t i = 0; i < pastset::shared_elements_max; ++i) {
    const auto element =
        space->enter(std::to_string(i), values, {}, {.slots = most + 2, .arena_bytes = arena});
    for (std::uint64_t number = 0; number < most; ++number)
      REQUIRE(element->move(tuple_of(1, bytes / sizeof(std::uint64_t))) == number);
  }
}

TEST_CASE("shared space: a lack of extents is reported even if there is memory",
          "[without_asan][without_tsan]") {
  const auto space = SharedSpace::make(own_name(), {.bytes = 2048 * mib});
  std::vector<base::Buffer> buffers;
  std::shared_ptr<pastset::Element> last;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    last = space->enter(name, values, {}, {.arena_bytes = 256 * mib});
    for (int i = 0; i < 1000; ++i) buffers.push_back(last->buffer(mib / 4 + 1));
  }
  CHECK_THROWS_WITH(last->move(tuple_of(1, of_a_mib)),
                    Catch::Contains("all 4096 extents of the space are taken"));
  buffers.clear();
  CHECK(last->move(tuple_of(1, of_a_mib)) == 0);
}

TEST_CASE("shared space: the computed memory for tuples is always sufficient") {
  for (const std::uint64_t tuples : {1ul, 2ul, 5ul, 60ul, 64ul, 65ul, 300ul, 5000ul, 100'000ul})
    for (std::uint64_t bytes = 49; bytes < 64 * mib; bytes += bytes / 3) {
      INFO(tuples << " tuples of " << bytes);
      const std::uint64_t arena = pastset::arena_bytes_for(tuples, bytes);
      CHECK(pastset::tuples_in(arena, bytes) >= tuples);
      CHECK(arena <= pastset::extent_bytes(2 * tuples * pastset::extent_bytes(bytes)));
    }
}

TEST_CASE("shared space: a buffer is private memory if the space has none to spare") {
  const auto space = SharedSpace::make(own_name());
  const auto element = space->enter("e", values, {}, eight);
  std::vector<base::Buffer> buffers;
  for (int i = 0; i < 12; ++i) buffers.push_back(element->buffer(mib));
  CHECK(used(*space) == 7 * mib);
  CHECK_FALSE(is_in(*space, std::move(buffers.back()).freeze()));
  CHECK_FALSE(is_in(*space, element->buffer(1000).freeze()));
  element->move(tuple_of(5, of_a_mib));
  CHECK_THROWS_AS(element->move(tuple_of(6, of_a_mib)), SharedSpaceFull);
  buffers.clear();
  CHECK(used(*space) == mib);
  element->move(built_in(*element, tuple_of(6, 9)));
  CHECK(value_of(element->observe(1)) == 6);
}

TEST_CASE("shared space: a process can read any number of tuples in place") {
  const auto space = SharedSpace::make(own_name());
  const auto element = space->enter("e", values, {}, {.slots = 2000, .arena_bytes = 8 * mib});
  std::vector<pastset::Stored> read;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    element->move(tuple_of(i, 500));
    read.push_back(element->observe());
    CHECK(is_in(*space, read.back().payload));
  }
  element->axe(999);
  for (std::uint64_t i = 0; i < 1000; ++i) REQUIRE(value_of(read[i]) == i);
  CHECK(used(*space) > 4'000'000);
  read.clear();
  CHECK(used(*space) <= 2 * pastset::chunk_bytes(8 * mib));
}

TEST_CASE(
    "shared space: an element with keep_newest needs one spare tuple for any number of movers",
    "[without_tsan]") {
  const std::size_t count = GENERATE(std::size_t{1200}, std::size_t{of_a_mib});
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space = SharedSpace::make(own_name());
    const std::uint64_t keeps = count == of_a_mib ? 1 : 80;
    const std::uint64_t arena = pastset::arena_bytes_for(keeps + 1, tuple_of(1, count).size());
    const auto element =
        space->enter("e", values, {.keep_newest = keeps}, {.slots = 128, .arena_bytes = arena});
    std::atomic<int> refused{0};
    std::vector<runtime::Task> movers;
    for (std::uint64_t mover = 0; mover < 4; ++mover)
      movers.push_back(start(runtime, [&, mover] {
        for (std::uint64_t i = 0; i < 300; ++i) try {
            element->move(tuple_of(mover, count));
          } catch (const SharedSpaceFull&) {
            ++refused;
          }
      }));
    for (runtime::Task& mover : movers) mover.join();
    CHECK(refused == 0);
    CHECK(element->last() == 1200);
  });
}

TEST_CASE("shared space: memory of queued moves is freed when their element is deleted") {
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto space =
        SharedSpace::make(own_name(), {.bytes = SharedSpace::bytes_of(std::vector(1, eight))});
    const auto element = space->enter("e", values, {.delta = 1}, eight);
    element->move(tuple_of(0));
    auto begun = start_move(*element, tuple_of(1, 3 * of_a_mib));
    bool is_notified = false;
    runtime::Task mover = start(runtime, [&] {
      try {
        element->move(tuple_of(2, 3 * of_a_mib));
      } catch (const pastset::Deleted&) {
        is_notified = true;
      }
    });
    wait_until(runtime, [&] { return space->show().at(0).blocked_movers == 2; });
    CHECK(used(*space) == 6 * mib);
    SharedSpace::map(again(space->descriptor()))->delete_element("e");
    mover.join();
    CHECK(is_notified);
    CHECK_THROWS_AS(begun.wait(soon(runtime)), pastset::Deleted);
    const auto next = space->enter("e", values, {.delta = 1}, eight);
    CHECK(next->move(tuple_of(3, 8 * of_a_mib), soon(runtime)) == 0);
  });
}

TEST_CASE("shared space: memory of deleted elements is merged") {
  const pastset::SharedSizes small{.slots = 1000, .arena_bytes = mib, .line = 64};
  const pastset::SharedSizes large{.slots = 4400, .arena_bytes = 4 * mib, .line = 64};
  const auto space =
      SharedSpace::make(own_name(), {.bytes = SharedSpace::bytes_of(std::vector(5, small))});
  const auto enter = [&](const std::string& name, const pastset::SharedSizes& sizes) {
    return space->enter(name, values, {}, sizes);
  };
  for (const char* const name : {"a", "b", "c", "d", "e"}) enter(name, small)->move(tuple_of(1));
  CHECK_THROWS_AS(enter("f", small), SharedSpaceFull);
  for (const char* const name : {"b", "d", "c", "a"}) {
    CHECK_THROWS_AS(enter("f", large), SharedSpaceFull);
    space->delete_element(name);
  }
  const auto one = enter("f", large);
  for (int i = 0; i < 4000; ++i) one->move(tuple_of(1, 1));
  one->move(tuple_of(2, 4 * of_a_mib));
  CHECK(value_of(space->find("e")->observe()) == 1);
}
