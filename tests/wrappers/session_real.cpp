// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/session_real.cpp — programs that own main() and their threads.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paths/run/session.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/session_scene.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

const char* const one_thread = R"(
clusters: {alpha: {hosts: 1, threads: 1}}
collectives: {sum: {operation: sum, template: i64}}
elements: {work: {host: alpha-0, template: i64, keep_newest: 0, reach: all}}
)";

}  // namespace

TEST_CASE(
    "session: four threads can attach and reduce and exchange and detach twice before the end") {
  const Sim sim(two_hosts);
  Session session = session_of(sim);
  std::atomic<std::int64_t> sums{0}, taken{0};
  for (int time = 0; time < 2; ++time)
    by_four(session, [&](Attached& attached, int rank) {
      for (int round = 0; round < 100; ++round) sums += sum(attached, rank);
      if (rank < 2) attached->path("work").move_value(std::int64_t{rank + 1});
      if (rank >= 2) taken += attached->path("work").observe().payload.read<std::int64_t>();
    });
  CHECK(session.end().empty());
  CHECK(sums == 2 * 100 * 4 * 6);
  CHECK(taken == 2 * (1 + 2));
}

TEST_CASE("session: a thread that attaches continues with the round after the last one") {
  const Sim sim(two_hosts);
  Session session = session_of(sim);
  std::atomic<int> wrong{0};
  for (int time = 0; time < 50; ++time)
    by_four(session, [&](Attached& attached, int) {
      if (attached->path("sum").moves() != static_cast<std::uint64_t>(time)) ++wrong;
      if (sum(attached, time) != 4 * time) ++wrong;
    });
  CHECK(session.end().empty());
  CHECK(wrong == 0);
}

TEST_CASE("session: a thread belongs to the plan only while it is attached") {
  const Sim sim(two_hosts);
  Session session = session_of(sim);
  std::string before = runtime::describe_current_context();
  {
    Attached attached = session.attach("alpha-1", 1);
    CHECK(attached->rank() == 3);
    CHECK(attached->threads() == 4);
    CHECK(attached->cluster() == "alpha");
    CHECK_THAT(runtime::describe_current_context(), Catch::StartsWith("thread alpha-1/1 at "));
    const auto begin = attached->now();
    attached->sleep_for(1ms);
    CHECK(attached->now() - begin >= 1ms);
    attached->random().next();
  }
  CHECK(runtime::describe_current_context() == before);
  CHECK_FALSE(runtime::is_inside_a_run());
  CHECK(session.end().empty());
}

TEST_CASE("session: a session without attached threads ends and can be destroyed") {
  const Sim sim(two_hosts);
  Session session = session_of(sim);
  CHECK(session.end().empty());
  const Session dropped = session_of(sim);
}

TEST_CASE("session: several sessions exist in one process and a run can start between them") {
  const Sim sim(one_thread);
  Session first = session_of(sim), second = session_of(sim);
  elsewhere([&] {
    Attached attached = first.attach("alpha-0", 0);
    sum(attached, 1);
  });
  Attached attached = second.attach("alpha-0", 0);
  CHECK(sum(attached, 2) == 2);
  attached.detach();
  CHECK(sim.run([](paths::Thread&) {}, runtime::ClockKind::steady).ended_well());
  CHECK(first.end().empty());
  CHECK(second.end().empty());
}

TEST_CASE("session: the virtual clock is refused with a usage error") {
  const Sim sim(one_thread);
  CHECK_THAT(mistake_of([&] { session_of(sim, {.clock = runtime::ClockKind::virtual_time}); }),
             Catch::Contains("the virtual clock cannot stop"));
}

TEST_CASE("session: an unknown host is refused with a usage error") {
  const Sim sim(two_hosts);
  CHECK(mistake_of([&] { session_of(sim, {.is_one_host = true, .host = 2}); }) ==
        "a session as host number 2, counted from 0, of 2");
}

TEST_CASE("session: misuse throws a usage error and the session remains usable") {
  const Sim sim(two_hosts);
  Session session = session_of(sim);
  Attached attached = session.attach("alpha-0", 0);
  const auto attach = [&](const char* host, std::uint32_t index) {
    std::string words;
    elsewhere([&] { words = mistake_of([&] { session.attach(host, index); }); });
    return words;
  };
  CHECK(attach("alpha-0", 0) == "attach to thread alpha-0/0, which another thread is");
  CHECK(attach("alpha-0", 2) ==
        "attach to thread alpha-0/2: the host has 2 threads, counted from 0");
  CHECK(attach("alhpa-0", 0) ==
        "attach to thread alhpa-0/0, of a host that the plan does not have; did you mean "
        "'alpha-0'?");
  CHECK(mistake_of([&] { session.attach("alpha-0", 1); }) ==
        "attach to thread alpha-0/1 by a thread that is attached or of a run already");
  CHECK(mistake_of([&] { session.attach("alpha-0", 0); }) ==
        "attach to thread alpha-0/0 by a thread that is attached or of a run already");
  CHECK(mistake_of([&] { session_of(sim); }) ==
        "a session begun by a thread that is attached or of a run already");
  CHECK(mistake_of([&] { paths::run_plan(sim.shared_plan(), sim.kinds(), {}, [](auto&) {}); }) ==
        "a run may not begin inside a thread of another run");
  CHECK(mistake_of([&] { session.end(); }) ==
        "the end of a session by a thread that is attached or of a run already");
  std::string words;
  elsewhere([&] { words = mistake_of([&] { session.end(); }); });
  CHECK(words == "the end of a session with attached threads: thread alpha-0/0");
  elsewhere([&] { words = mistake_of([&] { attached.detach(); }); });
  CHECK(words ==
        "thread alpha-0/0: detach by a thread of the program's own: it is that thread's alone");
  elsewhere([&] { words = mistake_of([&] { sum(attached, 1); }); });
  CHECK(words ==
        "path sum of thread alpha-0/0: move by a thread of the program's own: it is that thread's "
        "alone");

  attached->path("work").move_value(std::int64_t{7});
  CHECK(attached->path("work").observe().payload.read<std::int64_t>() == 7);
  paths::Thread& thread = attached.thread();
  attached.detach();
  CHECK(mistake_of([&] { attached.detach(); }) ==
        "detach of a thread that has detached, or was moved elsewhere");
  CHECK(mistake_of([&] { attached.thread(); }) == "use of a thread that has detached");
  const auto refused = [&](const std::function<void()>& use) {
    CHECK_THAT(mistake_of(use), Catch::EndsWith(" by main thread: no thread is attached there"));
  };
  refused([&] { thread.path("sum").move_value(std::int64_t{1}); });
  refused([&] { thread.path("work").start(base::Payload::of(std::int64_t{1})); });
  refused([&] { thread.sleep_for(1ms); });
  refused([&] { thread.random(); });
  refused([&] { thread.fail("so"); });

  std::atomic<std::int64_t> sums{0};
  by_four(session, [&](Attached& one, int) { sums += sum(one, 1); });
  CHECK(sums == 4 * 4);
  CHECK(session.end().empty());
  CHECK(mistake_of([&] { session.end(); }) == "the end of a session that has ended");
  CHECK(mistake_of([&] { session.attach("alpha-0", 0); }) ==
        "attach to thread alpha-0/0 of a session that has ended");
}

TEST_CASE("session: detaching with operations under way throws and the destructor waits for them") {
  const Sim sim(one_thread);
  Session session = session_of(sim);
  {
    Attached attached = session.attach("alpha-0", 0);
    paths::Path& work = attached->path("work");
    work.set_delta(1);
    work.move_value(std::int64_t{0});
    paths::Started started = work.start(base::Payload::of(std::int64_t{1}));  // waits for room
    CHECK(mistake_of([&] { attached.detach(); }) ==
          "thread alpha-0/0: detach while an operation that it started on path work is under way; "
          "wait for it first");
    attached->host().element("work")->observe(runtime::Deadline::never());
    started.wait();
    attached.detach();
  }
  {
    std::future<void> room;
    {
      Attached dropped = session.attach("alpha-0", 0);
      dropped->path("work").start(base::Payload::of(std::int64_t{2}));
      room = std::async(std::launch::async, [element = dropped->host().element("work")] {
        pause(20ms);
        element->observe();
      });
    }  // the destructor waits until the element has room for the move
    Attached attached = session.attach("alpha-0", 0);
    CHECK(attached->path("work").last() == 3);
    room.get();
  }
  CHECK(session.end().empty());
}

TEST_CASE("session: a thread that ends without detaching is detached") {
  const Sim sim(two_hosts);
  Session session = session_of(sim);
  std::vector<Attached> kept;
  elsewhere([&] {
    kept.push_back(session.attach("alpha-0", 0));
    kept.back()->path("work").move_value(std::int64_t{1});
  });
  elsewhere([&] { CHECK(mistake_of([&] { sum(kept.back(), 1); }) != "nothing"); });
  std::atomic<std::int64_t> sums{0};
  by_four(session, [&](Attached& one, int) { sums += sum(one, 1); });
  CHECK(sums == 4 * 4);
  kept.clear();  // destroys objects of ranks that other threads use now
  // This thread never detaches; the static pointer keeps the object reachable.
  static std::atomic<Attached*> dropped{nullptr};
  elsewhere([&] { dropped = new Attached(session.attach("alpha-1", 0)); });
  by_four(session, [&](Attached& one, int) { sums += sum(one, 1); });
  CHECK(session.end().empty());
}

TEST_CASE("session: a failed thread fails the others and its place cannot be attached again") {
  const Sim sim(two_hosts);
  Session session = session_of(sim);
  std::atomic<int> told{0};
  std::vector<OwnThread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      Attached attached = session.attach(rank < 2 ? "alpha-0" : "alpha-1", rank % 2);
      if (rank == 3) return attached->fail("the grid does not converge");
      try {
        sum(attached, 1);
      } catch (const paths::TravelError& error) {
        told += std::string(error.what()).ends_with("the grid does not converge") ? 1 : 0;
      }
    });
  for (OwnThread& thread : threads) thread.join();
  CHECK(told == 3);
  CHECK(mistake_of([&] { session.attach("alpha-1", 1); }) ==
        "attach to thread alpha-1/1, which has released its paths");
  session.end();
}

TEST_CASE("session: a thread that called end() may still detach and is not awaited") {
  const Sim sim(two_hosts);
  Session session = session_of(sim);
  Attached attached = session.attach("alpha-0", 0);
  attached->end();
  CHECK_THAT(mistake_of([&] { sum(attached, 1); }), Catch::Contains("function has returned"));
  attached.detach();
  CHECK(session.end().empty());
}
