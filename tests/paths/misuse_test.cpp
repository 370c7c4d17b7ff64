// SPDX-License-Identifier: Apache-2.0
// tests/paths/misuse_test.cpp — misuse by programs, and its error messages.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <future>

#include "base/usage_error.hpp"
#include "pastset/tuple.hpp"
#include "paths/host/host.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
using base::Payload;
using runtime::ClockKind;

const char* const two_clusters = R"(
clusters:
  alpha: {hosts: 1, threads: 2}
  beta: {hosts: 1, threads: 1}
links: [{between: [alpha, beta], latency: 10ms}]
collectives:
  sum: {operation: sum, template: f64, algorithm: sequential}
  max: {operation: max, template: f64, algorithm: sequential}
elements:
  work: {host: alpha-0, template: f64, keep_newest: 0, reach: all}
)";

/// Runs a program in which thread alpha-0/1 calls `wrong` in the second round.
SimResult run_with(const std::function<void(paths::Thread&)>& wrong,
                   ClockKind clock = ClockKind::virtual_time) {
  const Sim sim(two_clusters);
  return sim.run(
      [&](paths::Thread& thread) {
        thread.path("sum").move_value(1.0);
        if (thread.rank() == 1) wrong(thread);
        thread.path("sum").move_value(1.0);
      },
      clock);
}

struct Misuse {
  std::string name;
  std::function<void(paths::Thread&)> wrong;
  std::string words;
};

paths::Path& released(paths::Thread& thread) {
  thread.path("work").release();
  return thread.path("work");
}

std::vector<Misuse> misuses() {
  const auto late = [](std::string_view what) {
    return fmt::format("path work: {} after its release", what);
  };
  const Payload one = Payload::of(1.0);
  return {
      {"move", [=](auto& thread) { released(thread).move(one); }, late("move")},
      {"start", [=](auto& thread) { released(thread).start(one); }, late("start")},
      {"push", [=](auto& thread) { released(thread).push(one); }, late("push")},
      {"send", [=](auto& thread) { released(thread).send(one); }, late("send")},
      {"observe", [](auto& thread) { released(thread).observe(); }, late("observe")},
      {"newest", [](auto& thread) { released(thread).newest(0); }, late("newest")},
      {"last", [](auto& thread) { released(thread).last(); }, late("last")},
      {"traffic", [](auto& thread) { released(thread).traffic("sum"); }, late("traffic")},
      {"wait twice",
       [=](auto& thread) {
         paths::Started started = thread.path("work").start(one);
         started.wait();
         started.wait();
       },
       "path work: wait for started move 0, which was waited for before"},
      {"wait for nothing", [](auto&) { paths::Started().wait(); },
       "wait for an operation that was never started, or moved elsewhere"},
      {"wait for what was moved elsewhere",
       [=](auto& thread) {
         paths::Started started = thread.path("work").start(one);
         const paths::Started other = std::move(started);
         started.wait();
       },
       "wait for an operation that was never started, or moved elsewhere"},
      {"unknown path", [](auto& thread) { thread.path("wrok"); },
       "thread alpha-0/1 has no path 'wrok' (did you mean 'work'?); it has sum, max, work"},
      {"unknown graph", [](auto& thread) { thread.path("work").traffic("sun"); },
       "path work: traffic of 'sun', which is no graph of the plan; did you mean 'sum'?"},
      {"unknown element", [](auto& thread) { thread.host().element("wrok"); },
       "host alpha-0 has no element 'wrok'"},
      {"read beyond",
       [=](auto& thread) { thread.path("work").move(one).payload.template read<double>(4); },
       "a payload of 8 bytes was read as a value of 8 bytes at byte 4"},
      {"any exception", [](auto&) { throw 42; }, "threw an exception that is not a std::exception"},
      {"run in a run",
       [](auto& thread) {
         const Sim inner(two_clusters);
         paths::run_plan(inner.shared_plan(), inner.kinds(), {}, [](paths::Thread&) {});
         thread.now();
       },
       "a run may not begin inside a thread of another run"},
  };
}

}  // namespace

TEST_CASE("misuse: a mistake of a thread is a usage error that the other threads get too") {
  const ClockKind clock = GENERATE(ClockKind::virtual_time, ClockKind::steady);
  for (const Misuse& misuse : misuses()) {
    INFO(misuse.name);
    const SimResult run = run_with(misuse.wrong, clock);
    CHECK(run.broke == "");
    REQUIRE(run.failures.size() == 3);
    CHECK(run.failures[0] == "thread alpha-0/1: " + misuse.words);
    const std::string told = "host alpha-0: thread alpha-0/1 failed: " + misuse.words;
    for (std::size_t other : {1, 2}) CHECK_THAT(run.failures[other], Catch::EndsWith(told));
  }
}

TEST_CASE("misuse: a usage error names the running thread and the time") {
  std::string text;
  run_with([&](paths::Thread& thread) {
    text = thrown<base::UsageError>([&] { released(thread).move_value(1.0); });
  });
  CHECK(text == "thread alpha-0/1 at 10ms: path work: move after its release");
}

TEST_CASE("misuse: a path and a clock and random numbers belong to one thread") {
  const ClockKind clock = GENERATE(ClockKind::virtual_time, ClockKind::steady);
  const auto elsewhere = [](const auto& work) {
    return [work](paths::Thread& thread) {
      std::async(std::launch::async, [&] { work(thread); }).get();
    };
  };
  const auto words = [](std::string_view what, std::string_view of) {
    return fmt::format(
        "{} of thread alpha-0/1: {} by a thread of the program's own: it is that "
        "thread's alone",
        of, what);
  };
  const std::vector<Misuse> all = {
      {"move", elsewhere([](auto& thread) { thread.path("sum").move_value(1.0); }),
       words("move", "path sum")},
      {"start", elsewhere([](auto& thread) { thread.path("sum").start(Payload::of(1.0)); }),
       words("start", "path sum")},
      {"observe", elsewhere([](auto& thread) { thread.path("work").observe(); }),
       words("observe", "path work")},
      {"release", elsewhere([](auto& thread) { thread.path("work").release(); }),
       words("release", "path work")},
      {"fail", elsewhere([](auto& thread) { thread.fail("so"); }), words("fail", "the paths")},
      {"sleep", elsewhere([](auto& thread) { thread.sleep_for(1ms); }),
       words("sleep_for", "the clock")},
      {"random", elsewhere([](auto& thread) { thread.random().next(); }),
       words("random", "the numbers")},
      {"wait",
       [](paths::Thread& thread) {
         paths::Started started = thread.path("work").start(Payload::of(1.0));
         std::async(std::launch::async, [&] { started.wait(); }).get();
       },
       "path work: wait for started move 0, which another thread started"},
  };
  for (const Misuse& misuse : all) {
    INFO(misuse.name);
    const SimResult run = run_with(misuse.wrong, clock);
    CHECK(run.broke == "");
    REQUIRE(run.failures.size() == 3);
    CHECK(run.failures[0] == "thread alpha-0/1: " + misuse.words);
  }
}

TEST_CASE("misuse: handles of an ended thread refuse every operation but answer queries") {
  const ClockKind clock = GENERATE(ClockKind::virtual_time, ClockKind::steady);
  const Sim sim(two_clusters);
  paths::Thread* ended = nullptr;
  paths::Path* work = nullptr;
  std::vector<std::string> words;
  sim.run_well(
      [&](paths::Thread& thread) {
        if (thread.rank() == 0) {
          ended = &thread;
          work = &thread.path("work");
          work->move_value(1.0);
          return;
        }
        if (thread.rank() != 1) return;
        thread.path("work").observe();
        thread.sleep_for(200ms);
        CHECK(ended->rank() == 0);
        CHECK(ended->path("work").graph() == "work");
        const auto refused = [&](const std::function<void()>& use) {
          const std::string mistake = mistake_of(use);
          words.push_back(mistake.substr(mistake.rfind(": ") + 2));
        };
        refused([&] { work->move_value(1.0); });
        refused([&] { work->release(); });
        refused([&] { ended->path("work").observe(); });
        refused([&] { ended->sleep_for(1ms); });
        refused([&] { ended->fail("so"); });
      },
      clock);
  const std::string gone = "that thread's function has returned";
  CHECK(words == std::vector<std::string>(5, gone));
}

TEST_CASE("misuse: an X-function may not call elements or block on a path") {
  const bool in = GENERATE(true, false);
  std::shared_ptr<pastset::Element> mine;
  std::vector<std::string> words;
  const SimResult run = run_with([&](paths::Thread& thread) {
    const auto wrong = [&](const Payload& tuple) {
      for (int use = 0; use < 4; ++use) {
        words.push_back(mistake_of([&] {
          if (use == 0) mine->last();
          if (use == 1) mine->move(tuple);
          if (use == 2) thread.path("work").last();
          if (use == 3) thread.sleep_for(1ms);
        }));
      }
      return tuple;
    };
    pastset::ElementOptions options;
    (in ? options.x_function.in : options.x_function.out) = wrong;
    thread.host().space().enter("mine", *pastset::Template::parse("f64"), options);
    mine = thread.host().element("mine");
    mine->move(Payload::of(1.0));
    CHECK(mine->observe().payload.read<double>() == 1.0);
  });
  CHECK(run.ended_well());
  const std::string end =
      " of thread alpha-0/1: {} by thread alpha-0/1 at 10ms: an X-function must "
      "not block";
  CHECK(words == std::vector<std::string>{
                     "element 'mine' was called by an X-function",
                     "element 'mine' was called by an X-function",
                     "path work" + fmt::format(fmt::runtime(end), "last"),
                     "the clock" + fmt::format(fmt::runtime(end), "sleep_for"),
                 });
}

TEST_CASE("misuse: an operation may not begin inside another one of its thread") {
  paths::Thread* caller = nullptr;
  paths::WrapperKind kind;
  kind.name = "calls";
  kind.read = [&](base::MapReader&, const paths::WrapperPlace&) -> paths::MakeWrapper {
    class Calls final : public paths::BlockingWrapper {
     public:
      explicit Calls(paths::Thread*& caller) : caller_(caller) {}
      paths::Result operate(paths::Operation operation, paths::Next next) override {
        if (operation.kind == paths::OperationKind::move) caller_->path("b").move_value(1.0);
        return next(std::move(operation));
      }

     private:
      paths::Thread*& caller_;
    };
    return [&](paths::Deployment&) { return std::make_unique<Calls>(caller); };
  };
  const Sim sim(R"(
hosts: {here: {threads: 1}}
elements: {a: {host: here, template: f64}, b: {host: here, template: f64}}
paths:
  - {graph: a, host: here, threads: 0, through: [{calls: {}}, {store: {element: a}}]}
  - {graph: b, host: here, threads: 0, through: [{store: {element: b}}]}
)",
                {}, {kind});
  const SimResult run = sim.run([&](paths::Thread& thread) {
    caller = &thread;
    thread.path("a").move_value(1.0);
  });
  CHECK(run.failures == std::vector<std::string>{
                            "thread here/0: host here, path a, wrapper calls: thread here/0 at "
                            "0ns: path b: move from inside another operation, move"});
}

TEST_CASE("start: it blocks at the limit of started operations until one has ended") {
  // Each operation takes 20 ms for both directions. All operations are under way at the same time.
  const Sim sim(two_clusters);
  constexpr std::uint64_t most = paths::Path::started_max;
  sim.run_well([&](paths::Thread& thread) {
    if (thread.cluster() != "beta") return;
    paths::Path& work = thread.path("work");
    for (std::uint64_t i = 0; i < 10 * most; ++i) {
      work.start(Payload::of(1.0));
      CHECK(thread.now() == 20ms * (i / most));
    }
    CHECK(work.last() == 10 * most);
  });
}

TEST_CASE("start: at the limit it waits no longer than the deadline of incomplete rounds") {
  const Sim sim(R"(
deadline: 1s
clusters: {alpha: {hosts: 1, threads: 2}}
collectives: {sum: {operation: sum, template: f64, algorithm: sequential}}
)");
  sim.run_well([&](paths::Thread& thread) {
    if (thread.rank() == 0) {
      for (std::uint64_t i = 0; i < paths::Path::started_max; ++i)
        thread.path("sum").start(Payload::of(1.0));
      CHECK(thread.now() == 0s);
      thread.path("sum").start(Payload::of(1.0));
      CHECK(thread.now() == 1s);
    }
    thread.sleep_for(3s);
  });
}

TEST_CASE("misuse: programs may run one after another in one process") {
  for (int time = 0; time < 3; ++time) CHECK(run_with([](paths::Thread&) {}).ended_well());
}
