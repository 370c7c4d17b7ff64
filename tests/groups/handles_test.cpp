// SPDX-License-Identifier: Apache-2.0
// tests/groups/handles_test.cpp — rules that the handles of all kinds of operations share.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/usage_error.hpp"
#include "groups/group.hpp"
#include "pastset/local_element.hpp"
#include "paths/host/host.hpp"
#include "paths/messages/message_endpoint.hpp"
#include "runtime/handle.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
using base::Payload;
using runtime::ClockKind;
using runtime::Deadline;
using runtime::Handle;

/// Config in which messages wait for the receiver's grant, so that a send does not end immediately.
const char* const two_hosts = R"(
clusters: {a: {hosts: 2}}
collectives: {sum: {operation: sum, template: f64}}
lanes: {inbox: 0B}
)";

/// One of the two threads, with all objects that it needs for an operation of any kind.
struct Side {
  explicit Side(paths::Thread& of, pastset::Element& shared)
      : thread(of),
        element(shared),
        world(of),
        lanes(of.host().lanes().group_of("pair", {"a-0", "a-1"})),
        peer(1 - of.rank()) {}
  paths::Thread& thread;
  pastset::Element& element;
  groups::Group world;
  const std::unique_ptr<paths::MessageGroup> lanes;
  const std::uint32_t peer;
  const std::vector<double> in = {1};
  std::deque<std::vector<double>> outs;  // one per operation; several are under way at a time
  groups::Call sum() { return groups::allreduce(in, outs.emplace_back(1), "sum"); }
};

/// A kind of operation between two threads. One thread starts an operation with `start`. The
/// operation ends when the other thread has called `end`.
template <class T>
struct Kind {
  std::string name;
  std::function<Handle<T>(Side&)> start;
  std::function<void(Side&)> end;
  bool can_be_cancelled = false;
};

template <class Check>
void with_each_kind(const Check& check) {
  check(Kind<paths::Result>{
      "path", [](Side& side) { return side.thread.path("sum").start(Payload::of(1.0)); },
      [](Side& side) { side.thread.path("sum").move_value(1.0); }});
  check(Kind<void>{"group", [](Side& side) { return side.world.start(side.sum()); },
                   [](Side& side) { side.world.run(side.sum()); }});
  check(Kind<pastset::Stored>{"element", [](Side& side) { return start_observe(side.element); },
                              [](Side& side) { side.element.move(Payload::of(std::uint64_t{7})); },
                              true});
  check(Kind<void>{"sent message",
                   [](Side& side) { return side.lanes->send(side.peer, 0, Payload::of(1.0)); },
                   [](Side& side) { side.lanes->receive(side.peer, 0).wait(); }});
  check(Kind<paths::Received>{
      "received message", [](Side& side) { return side.lanes->receive(side.peer, 0); },
      [](Side& side) { side.lanes->send(side.peer, 0, Payload::of(1.0)).wait(); }});
}

void expect(bool is_so, const std::string& what) {
  if (!is_so) throw std::runtime_error("expected: " + what);
}

template <class Use>
void expect_refused(const Use& use, const std::string& what) {
  try {
    use();
  } catch (const base::UsageError&) {
    return;
  }
  throw std::runtime_error(what + " was not refused");
}

template <class T>
void expect_unusable(Handle<T>& handle) {
  expect_refused([&] { handle.wait(); }, "wait()");
  expect_refused([&] { (void)handle.done(); }, "done()");
  expect_refused([&] { (void)handle.completion(); }, "completion()");
  expect(!handle.cancel(), "cancel() returns false");
}

/// Calls `start` on one thread. `start` gets a function as its second argument. When `start` calls
/// that function, the other thread ends `times` operations.
template <class T, class Start>
void check_on(ClockKind clock, const Kind<T>& kind, int times, const Start& start) {
  INFO(kind.name << (clock == ClockKind::steady ? " on the steady clock" : ""));
  pastset::LocalElement element("e", *pastset::Template::parse("u64"));
  runtime::Completion may_end, is_over;
  const SimResult run = Sim(two_hosts).run(
      [&](paths::Thread& thread) {
        Side side(thread, element);
        if (thread.rank() == 0) {
          std::string wrong;
          try {
            start(side, [&] { may_end.complete(); });
          } catch (const std::exception& error) {
            wrong = error.what();
          }
          if (!may_end.done()) may_end.complete();
          is_over.wait(Deadline::never(), {"the other thread"});
          return expect(wrong.empty(), "no error, found " + wrong);
        }
        may_end.wait(Deadline::never(), {"the first thread"});
        try {
          for (int i = 0; i < times; ++i) kind.end(side);
        } catch (const paths::TravelError&) {  // the operation failed on the first thread
        }
        is_over.complete();
      },
      clock);
  CHECK(run.failures == std::vector<std::string>());
  CHECK(run.broke == "");
}

template <class Check>
void with_each_kind_and_clock(const Check& check) {
  for (const ClockKind clock : {ClockKind::virtual_time, ClockKind::steady})
    with_each_kind([&](const auto& kind) { check(clock, kind); });
}

}  // namespace

TEST_CASE("handles: an operation is done when it has ended and is waited for once") {
  with_each_kind_and_clock([](ClockKind clock, const auto& kind) {
    check_on(clock, kind, 1, [&](Side& side, const auto& let_end) {
      auto handle = kind.start(side);
      expect(!handle.done(), "not done before the end");
      const auto completion = handle.completion();
      expect(!completion->done(), "not complete before the end");
      let_end();
      completion->wait(Deadline::never(), {"the operation"});
      expect(handle.done(), "done after the end");
      expect(!handle.cancel(), "no cancellation after the end");
      handle.wait();
      expect_unusable(handle);
    });
  });
}

TEST_CASE("handles: an empty handle and one that was moved elsewhere refuse all uses") {
  with_each_kind_and_clock([](ClockKind clock, const auto& kind) {
    check_on(clock, kind, 1, [&](Side& side, const auto& let_end) {
      decltype(kind.start(side)) empty;
      expect_unusable(empty);
      auto handle = kind.start(side);
      auto other = std::move(handle);
      expect_unusable(handle);
      handle = std::move(other);
      expect_unusable(other);
      let_end();
      handle.wait();
    });
  });
}

TEST_CASE("handles: a handle that is dropped before the end disturbs no later operation") {
  with_each_kind_and_clock([](ClockKind clock, const auto& kind) {
    check_on(clock, kind, 3, [&](Side& side, const auto& let_end) {
      auto replaced = kind.start(side);
      {
        const auto dropped = kind.start(side);
        let_end();
      }
      replaced = kind.start(side);
      replaced.wait();
    });
  });
}

TEST_CASE("handles: a wait set waits for operations of all kinds and may outlive their handles") {
  with_each_kind_and_clock([](ClockKind clock, const auto& kind) {
    check_on(clock, kind, 2, [&](Side& side, const auto& let_end) {
      runtime::WaitSet set(side.thread.host().runtime());
      auto first = kind.start(side), second = kind.start(side);
      set.add(first);
      set.add(second);
      expect(!set.try_any().has_value(), "no member has happened");
      let_end();
      expect(set.any().has_value(), "a member happens");
      expect(set.all(), "all members happen");
      first.wait();
      second.wait();
      first = {};
      second = {};
    });
  });
}

TEST_CASE("handles: only an operation that can be cancelled and has not ended is cancelled") {
  with_each_kind_and_clock([](ClockKind clock, const auto& kind) {
    check_on(clock, kind, 1, [&](Side& side, const auto& let_end) {
      auto handle = kind.start(side);
      expect(handle.cancel() == kind.can_be_cancelled, "cancelled if that is possible");
      if (kind.can_be_cancelled) return expect_unusable(handle);
      let_end();
      handle.wait();
    });
  });
}

TEST_CASE("handles: a wait ends at its deadline and the handle is then spent") {
  with_each_kind_and_clock([](ClockKind clock, const auto& kind) {
    check_on(clock, kind, 1, [&](Side& side, const auto&) {
      auto handle = kind.start(side);
      const base::Nanos until = side.thread.now() + 20ms;
      std::string late;
      try {
        handle.wait(Deadline::written_at(until));
      } catch (const pastset::DeadlinePassed& passed) {
        late = passed.what();
        expect(kind.can_be_cancelled, "DeadlinePassed only of an element");
      } catch (const paths::TravelError& error) {
        late = error.what();
        expect(error.cause() == paths::FailureCause::deadline, "the cause is the deadline");
      }
      expect(late.find("before the deadline") != std::string::npos, "deadline, found " + late);
      expect(side.thread.now() >= until, "not earlier");
      if (clock == ClockKind::virtual_time) expect(side.thread.now() == until, "not later");
      expect_unusable(handle);
    });
  });
}

TEST_CASE("handles: a passed deadline of a started operation fails the group on all hosts") {
  const ClockKind clock = GENERATE(ClockKind::virtual_time, ClockKind::steady);
  // A block of 1 MB takes a second between the hosts, so the operation is under way at the
  // deadline.
  const Sim sim("clusters: {a: {hosts: 2, network: {latency: 1ms, bandwidth: 8Mbit}}}\nlanes:\n");
  const SimResult run = sim.run(
      [](paths::Thread& thread) {
        groups::Group world(thread);
        const std::vector<std::uint8_t> in(1 << 20);
        std::vector<std::uint8_t> out(2 << 20);
        groups::Started started = world.start(groups::allgather(in, out));
        if (thread.rank() == 1) return started.wait();
        started.wait(Deadline::written_at(thread.now() + 100ms));
      },
      clock);
  CHECK(run.broke == "");
  REQUIRE(run.failures.size() == 2);
  const std::string late = "did not end before the deadline of thread a-0/0";
  CHECK_THAT(run.failures[0], Catch::Contains(late));
  CHECK_THAT(run.failures[1], Catch::Contains(late));
  if (clock == ClockKind::virtual_time) CHECK(run.end < 1s);
}
