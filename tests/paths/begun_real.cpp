// SPDX-License-Identifier: Apache-2.0
// tests/paths/begun_real.cpp — operations that wait without a context: started operations, and
// operations of other hosts.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pastset/element.hpp"
#include "paths/host/host.hpp"
#include "runtime/completion.hpp"
#include "runtime/random.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/thrown.hpp"
#include "tests/support/wrongs.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

/// Returns the kind of clock for this run of the test case. A test case that calls each_clock()
/// runs twice, once on each clock.
runtime::ClockKind each_clock() {
  return GENERATE(runtime::ClockKind::virtual_time, runtime::ClockKind::steady);
}

void run_well(const Sim& sim, runtime::ClockKind clock,
              const std::function<void(paths::Thread&)>& thread) {
  sim.run_well(thread, clock);
}

std::string four_hosts(const std::string& more) {
  return "clusters: {alpha: {hosts: 4, threads: 2}}\n" + more;
}

/// Counts operations that pass the wrapper in a context of their own, and operations that pass it
/// without a context.
struct Passed {
  std::atomic<int> with{0}, without{0};
  /// For each round, number of results with the mark `last_arriver`.
  std::array<std::atomic<int>, 100> last_arrivers{};
};
class Counter final : public paths::Wrapper {
 public:
  explicit Counter(Passed& passed) : passed_(passed) {}
  void handle(paths::Operation&& operation, paths::Next next,
              paths::Responder& responder) override {
    if (!paths::is_housekeeping(operation.kind))
      ++(responder.owns_context() ? passed_.with : passed_.without);
    responder.on_reply(
        [this, round = operation.sequence](paths::Responder up, paths::Outcome&& outcome) {
          if (outcome.result.last_arriver) ++passed_.last_arrivers.at(round);
          up.reply(std::move(outcome));
        });
    next.handle(std::move(operation), std::move(responder));
  }

 private:
  Passed& passed_;
};

paths::WrapperKind counter_kind(Passed& passed) {
  paths::WrapperKind kind;
  kind.name = "counter";
  kind.help = "Counts what passes.";
  kind.read = [&passed](base::MapReader&, const paths::WrapperPlace&) -> paths::MakeWrapper {
    return [&passed](paths::Deployment&) { return std::make_unique<Counter>(passed); };
  };
  return kind;
}

/// Wrapper that sets `last_arriver` in each result. A join below sets it in the result of the last
/// thread to arrive.
class Marker final : public paths::Wrapper {
 public:
  void handle(paths::Operation&& operation, paths::Next next,
              paths::Responder& responder) override {
    responder.on_reply([](paths::Responder up, paths::Outcome&& outcome) {
      outcome.result.last_arriver = true;
      up.reply(std::move(outcome));
    });
    next.handle(std::move(operation), std::move(responder));
  }
};

paths::WrapperKind marker_kind() {
  paths::WrapperKind kind;
  kind.name = "marker";
  kind.help = "Marks what comes up.";
  kind.read = [](base::MapReader&, const paths::WrapperPlace&) -> paths::MakeWrapper {
    return [](paths::Deployment&) { return std::make_unique<Marker>(); };
  };
  return kind;
}

/// Returns the config of one host whose thread joins with the threads of `others` other hosts.
/// Their contributions pass `counter` and the join, and then the stages of `below`.
std::string star(int others, const std::string& below,
                 const std::string& join = "kind: allreduce, operation: sum, template: u64",
                 const std::string& moved = "u64") {
  std::string text =
      "hosts:\n  here: {cluster: alpha, threads: 1, address: \"tcp://127.0.0.1:1\"}\n";
  for (int i = 0; i < others; ++i)
    text += fmt::format(
        "  far-{0}: {{cluster: alpha, threads: 1, address: \"tcp://127.0.0.1:{1}\"}}\n", i, i + 2);
  text += fmt::format("elements: {{result: {{host: here, template: \"{}\", keep_newest: 1}}}}\n",
                      moved);
  text += fmt::format("wrappers: {{join: {{host: here, {}}}}}\n", join);
  const std::string rest = fmt::format("join{}, store: {{element: result}}]}}\n", below);
  text += "paths:\n  - {graph: sum, host: here, threads: 0, through: [" + rest;
  for (int i = 0; i < others; ++i)
    text += fmt::format(
        "  - {{graph: sum, host: far-{}, threads: 0, through: [forward: {{to: here}}, "
        "counter: {{}}, {}",
        i, rest);
  return text;
}

}  // namespace

TEST_CASE("begun: a wait set covers many started rounds of a thread on both clocks") {
  Wrongs wrongs;
  const auto clock = each_clock();
  constexpr std::uint64_t rounds = 200;
  const Sim sim(four_hosts("collectives: {sum: {kind: allreduce, template: u64, operation: sum}}"));
  sim.run_well(
      [&](paths::Thread& thread) {
        paths::Path& sum = thread.path("sum");
        std::vector<paths::Started> started;
        runtime::WaitSet set(thread.host().runtime());
        for (std::uint64_t round = 0; round < rounds; ++round) {
          started.push_back(sum.start(base::Payload::of(round + thread.rank())));
          wrongs.check(set.add(started.back()) == round, "set.add(started.back()) == round");
        }
        std::vector<bool> seen(rounds);
        while (set.size() > 0) {
          const auto round = set.any();
          if (!round) return wrongs.check(false, "any() without a deadline gave up");
          wrongs.check(!seen[*round], "told of twice");
          seen[*round] = true;
          wrongs.check(started[*round].done(), "started[*round].done()");
          wrongs.equal<std::uint64_t>(started[*round].wait().payload.read<std::uint64_t>(),
                                      8 * *round + 28);
        }
      },
      clock);
}

TEST_CASE("begun: contributions of other hosts enter a join without a context and get replies") {
  const auto clock = each_clock();
  Wrongs wrongs;
  Passed passed;
  const Sim sim(star(6, ""), {}, {counter_kind(passed)});
  constexpr std::uint64_t rounds = 50;
  run_well(sim, clock, [&](paths::Thread& thread) {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      if (thread.rank() == round % 7) thread.host().runtime().sleep_for(1ms);
      const paths::Result sum = thread.path("sum").move_value(round + thread.rank());
      wrongs.equal<std::uint64_t>(sum.payload.read<std::uint64_t>(), 7 * round + 21);
    }
  });
  CHECK(passed.with == 0);
  CHECK(passed.without == 6 * rounds);
}

TEST_CASE("begun: a stage below the join that needs a context gets one") {
  const auto clock = each_clock();
  Wrongs wrongs;
  Passed passed;
  const Sim sim(star(3, ", thrower: {round: 5}"), {}, {counter_kind(passed)});
  run_well(sim, clock, [&](paths::Thread& thread) {
    for (std::uint64_t round = 0; round < 20; ++round) {
      const std::string error = thrown<paths::TravelError>([&] {
        const paths::Result sum = thread.path("sum").move_value(round);
        wrongs.equal<std::uint64_t>(sum.payload.read<std::uint64_t>(), 4 * round);
      });
      if (round == 5)
        wrongs.contains(error, thrown_text);
      else
        wrongs.contains(error, "nothing");
    }
  });
  CHECK(passed.with == 0);
}

TEST_CASE("begun: an incomplete round fails at its deadline and names the missing thread") {
  const auto clock = each_clock();
  Wrongs wrongs;
  Passed passed;
  const Sim sim("deadline: 300ms\n" + star(3, ""), {}, {counter_kind(passed)});
  run_well(sim, clock, [&](paths::Thread& thread) {
    if (thread.rank() == 2) {
      thread.host().runtime().sleep_for(900ms);
      return;
    }
    // Rank 0 contributes after 600 ms: later than the deadline of 300 ms, but before rank 2.
    if (thread.rank() == 0) thread.host().runtime().sleep_for(600ms);
    const std::string error =
        thrown<paths::TravelError>([&] { thread.path("sum").move_value(std::uint64_t{1}); });
    wrongs.contains(error, "round 0: missing at the deadline: ");
    wrongs.contains(error, "far-1");
  });
}

TEST_CASE(
    "begun: a thread that ends early fails the rounds of contributions that wait without a "
    "context") {
  const auto clock = each_clock();
  Wrongs wrongs;
  Passed passed;
  const Sim sim(star(4, ""), {}, {counter_kind(passed)});
  run_well(sim, clock, [&](paths::Thread& thread) {
    for (std::uint64_t round = 0; round < 5; ++round) {
      if (thread.rank() == 3 && round == 3) return;
      const std::string error =
          thrown<paths::TravelError>([&] { thread.path("sum").move_value(round); });
      if (round < 3)
        wrongs.contains(error, "nothing");
      else
        wrongs.contains(error, "released its path before");
    }
  });
}

TEST_CASE("begun: in each kind of join contributions of any host may arrive first and last") {
  const auto clock = each_clock();
  Wrongs wrongs;
  for (const std::string join :
       {"kind: allreduce, operation: max, template: u64", "kind: barrier",
        "kind: broadcast, from: 2, template: u64", "kind: reduce, operation: max, template: u64"}) {
    INFO(join);
    Passed passed;
    const bool is_barrier = join == "kind: barrier";
    const Sim sim(star(4, "", join, is_barrier ? "" : "u64"), {}, {counter_kind(passed)});
    run_well(sim, clock, [&](paths::Thread& thread) {
      runtime::Random random(thread.rank());
      for (std::uint64_t round = 0; round < 100; ++round) {
        if (random.chance(0.1)) thread.host().runtime().sleep_for(200us);
        const paths::Result got = thread.path("sum").move_value(10 * round + thread.rank());
        if (join.find("broadcast") != std::string::npos)
          wrongs.equal<std::uint64_t>(got.payload.read<std::uint64_t>(), 10 * round + 2);
        if (join.find("allreduce") != std::string::npos ||
            (join.find("reduce") != std::string::npos && thread.rank() == 0))
          wrongs.equal<std::uint64_t>(got.payload.read<std::uint64_t>(), 10 * round + 4);
      }
    });
    CHECK(passed.with == 0);
  }
}

TEST_CASE("begun: in a round of an allreduce or barrier only one result is the last arriver's") {
  const auto clock = each_clock();
  struct Case {
    const char* join;
    const char* moved;
    int marked;
  };
  // With arrays of 10,000 values a context of its own leads the round, because combining 80 kB
  // takes long.
  const Case one = GENERATE(
      Case{"kind: allreduce, operation: max, template: u64", "u64", 1},
      Case{"kind: allreduce, operation: max, template: \"u64[10000]\"", "u64[10000]", 1},
      Case{"kind: barrier", "", 1}, Case{"kind: broadcast, from: 2, template: u64", "u64", 0},
      Case{"kind: broadcast", "", 0},
      Case{"kind: reduce, operation: max, template: u64", "u64", 0});
  const std::string below = GENERATE(as<std::string>(), "", ", marker: {}");
  INFO(one.join << below);
  constexpr std::uint64_t rounds = 50;
  Passed passed;
  const Sim sim(star(4, below, one.join, one.moved), {}, {counter_kind(passed), marker_kind()});
  const std::size_t values = one.moved == std::string("u64[10000]") ? 10'000 : 1;
  run_well(sim, clock, [&](paths::Thread& thread) {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      // In every second round, waits until the contribution of another host has arrived before this
      // host contributes.
      while (thread.rank() == 0 && round % 2 == 1 && passed.without <= int(4 * round))
        thread.host().runtime().sleep_for(50us);
      const paths::Result got = thread.path("sum").move(
          base::Payload::of(std::vector<std::uint64_t>(values, round + thread.rank())));
      if (thread.rank() == 0 && got.last_arriver) ++passed.last_arrivers.at(round);
    }
  });
  CHECK(passed.with == 0);
  CHECK(passed.without == 4 * rounds);
  for (const auto& marked : std::span(passed.last_arrivers).first(rounds))
    CHECK(marked == one.marked);
}

TEST_CASE("begun: rounds led by different threads may overtake each other") {
  constexpr auto clock = runtime::ClockKind::steady;
  Wrongs wrongs;
  const Sim sim(four_hosts("collectives: {word: {kind: broadcast, template: f64}}\n"));
  run_well(sim, clock, [&](paths::Thread& thread) {
    constexpr int rounds = 20, at_once = 100;
    for (int round = 0; round < rounds; ++round) {
      std::vector<paths::Started> started;
      for (int i = 0; i < at_once; ++i)
        started.push_back(thread.path("word").start(base::Payload::of(double(i))));
      for (int i = 0; i < at_once; ++i)
        wrongs.check(started[std::size_t(i)].wait().payload.read<double>() == i, "a word");
    }
  });
}

TEST_CASE("begun: large values that threads combine together are led in a context") {
  constexpr auto clock = runtime::ClockKind::steady;
  Wrongs wrongs;
  Passed passed;
  const Sim sim(
      star(2, "", "kind: allreduce, operation: sum, template: \"f64[200000]\"", "f64[200000]"), {},
      {counter_kind(passed)});
  run_well(sim, clock, [&](paths::Thread& thread) {
    for (int round = 0; round < 10; ++round) {
      if (thread.rank() == 0 && round % 2 == 0) thread.host().runtime().sleep_for(5ms);
      std::vector<double> mine(200'000, thread.rank() + round);
      const paths::Result sum = thread.path("sum").move(base::Payload::of(std::move(mine)));
      wrongs.equal<double>(sum.payload.read<double>(8 * 199'999), 3 + 3 * round);
    }
  });
  CHECK(passed.with == 0);
}

TEST_CASE("begun: reads from another host wait in the element without a context each") {
  const auto clock = each_clock();
  Wrongs wrongs;
  const Sim sim(
      "deadline: 300ms\n"
      "clusters: {alpha: {hosts: 2, threads: 4}}\n"
      "elements: {work: {host: alpha-0, template: u64, reach: all, delta: 2}}\n");
  std::atomic<std::uint64_t> seen{0};
  run_well(sim, clock, [&](paths::Thread& thread) {
    paths::Path& work = thread.path("work");
    if (thread.rank() == 0) {
      for (std::uint64_t i = 0; i < 40; ++i) work.move_value(std::uint64_t{1} << i);
      return;
    }
    if (thread.rank() < 4) return;
    for (int i = 0; i < 10; ++i) seen += work.observe().payload.read<std::uint64_t>();
    if (thread.rank() == 7)
      wrongs.contains(thrown<paths::TravelError>([&] { work.newest(1000); }),
                      "element 'work': no tuple 1000 before the deadline");
  });
  CHECK(seen == (std::uint64_t{1} << 40) - 1);
}

TEST_CASE("begun: reads pass a cache without a context and later ones end there") {
  const auto clock = each_clock();
  Wrongs wrongs;
  Passed passed;
  const Sim sim(
      "hosts:\n"
      "  here: {cluster: alpha, threads: 1, address: \"tcp://127.0.0.1:1\"}\n"
      "  between: {cluster: alpha, address: \"tcp://127.0.0.1:2\"}\n"
      "  far: {cluster: alpha, threads: 3, address: \"tcp://127.0.0.1:3\"}\n"
      "elements: {log: {host: here, template: u64}}\n"
      "wrappers: {shelf: {kind: cache, host: between, keep: 100}}\n"
      "paths:\n"
      "  - {graph: log, host: here, threads: 0, through: [store: {element: log}]}\n"
      "  - {graph: log, host: far, threads: 0-2, through: [forward: {to: between}, counter: {},\n"
      "     shelf, forward: {to: here}, store: {element: log}]}\n",
      {}, {counter_kind(passed)});
  constexpr std::uint64_t tuples = 20;
  run_well(sim, clock, [&](paths::Thread& thread) {
    paths::Path& log = thread.path("log");
    for (std::uint64_t number = 0; number < tuples; ++number) {
      if (thread.rank() == 0) {
        thread.host().runtime().sleep_for(200us);
        log.move_value(number * 10);
      } else {
        wrongs.equal<std::uint64_t>(log.observe(number).payload.read<std::uint64_t>(), number * 10);
      }
    }
    if (thread.rank() != 0)
      wrongs.equal<std::uint64_t>(log.observe(0).payload.read<std::uint64_t>(), 0);
  });
  CHECK(passed.with == 0);
  CHECK(passed.without == 3 * (tuples + 1));
}

TEST_CASE("begun: a run ends when its program fails while operations wait without a context") {
  const auto clock = each_clock();
  for (int end = 0; end < 3; ++end) {
    Passed passed;
    const Sim sim(star(4, ""), {}, {counter_kind(passed)});
    const auto thread_function = [&](paths::Thread& thread) {
      std::vector<paths::Started> started;
      paths::Path& sum = thread.path("sum");
      for (std::uint64_t i = 0; i < 30; ++i) started.push_back(sum.start(base::Payload::of(i)));
      if (thread.rank() == 1 && end == 0) throw std::runtime_error("the test");
      if (thread.rank() == 1 && end == 1) return;
      for (auto& one : started) thrown<paths::TravelError>([&] { one.wait(); });
      if (end == 2 && thread.rank() == 2) throw std::runtime_error("the test");
      thrown<paths::TravelError>([&] { sum.move_value(std::uint64_t{1}); });
    };
    const SimResult result = sim.run(thread_function, clock);
    CHECK(result.broke == "");
    CHECK(result.failures.size() == (end == 1 ? 0u : 1u));
  }
}
