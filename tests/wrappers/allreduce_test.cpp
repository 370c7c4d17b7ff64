// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/allreduce_test.cpp — leaders, waiters and results of allreduce.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/errors.hpp"
#include "base/large_memory.hpp"
#include "tests/support/joined.hpp"
#include "wrappers/joins.hpp"

namespace {

using base::Nanos;
using paths::OperationKind;
using paths::TravelError;
using namespace std::chrono_literals;
using namespace test_support;

struct Summed : Joined {
  explicit Summed(std::uint32_t threads, const Words& settings = {{"template", "f64"}})
      : Joined("allreduce", threads, settings) {}
};

}  // namespace

TEST_CASE("allreduce: only the last arriver continues down and all threads get the result") {
  Summed t(3);
  t.meet({{3ms, 0, 0, 1}, {2ms, 1, 0, 2}, {1ms, 2, 0, 4}});
  REQUIRE(t.arrived.size() == 1);
  CHECK(t.arrived[0].thread == 0);  // thread 0 arrived last, so it led the round
  CHECK(t.arrived[0].contributions == 3);
  CHECK(t.values == std::vector<double>{7, 7, 7});
  CHECK(t.answered_at == std::vector<Nanos>{3ms, 3ms, 3ms});
}

TEST_CASE("allreduce: values are combined in the order of slots for any order of arrival") {
  const double large = 1e16;  // large + 1 + 1 differs from 1 + 1 + large
  for (const bool reverse : {false, true}) {
    Summed t(3);
    t.meet({{reverse ? 3ms : 0ms, 0, 0, large},
            {reverse ? 2ms : 1ms, 1, 0, 1.0},
            {reverse ? 1ms : 2ms, 2, 0, 1.0}});
    CHECK(t.values == std::vector<double>(3, (large + 1) + 1));
  }
}

TEST_CASE("allreduce: arrays are combined elementwise") {
  Summed t(2, {{"template", "i32[3]"}, {"operation", "max"}});
  using Three = std::array<std::int32_t, 3>;
  t.here->run([&] {
    runtime::Task other = t.here->spawn([&] {
      const auto result = t.here->move(0, 1, 0, base::Payload::of(Three{1, 5, -7}));
      CHECK(result.payload.read<Three>() == Three{4, 5, -6});
    });
    t.here->move(0, 0, 0, base::Payload::of(Three{4, 2, -6}));
    other.join();
  });
}

TEST_CASE("allreduce: located operations return the location of the value") {
  Summed t(2, {{"template", "f64, i64"}, {"operation", "min_location"}});
  struct __attribute__((packed)) Located {
    double value;
    std::int64_t location;
  };
  t.here->run([&] {
    runtime::Task other = t.here->spawn([&] {
      t.here->move(0, 1, 0, base::Payload::of(Located{2.0, 11}));
    });
    const auto result = t.here->move(0, 0, 0, base::Payload::of(Located{3.0, 10}));
    CHECK(result.payload.read<Located>().location == 11);
    other.join();
  });
}

TEST_CASE("allreduce: several rounds are open at once and do not mix") {
  Summed t(2);
  t.here->run([&] {
    std::vector<runtime::Task> threads;
    for (std::uint64_t round = 0; round < 4; ++round)
      threads.push_back(t.later(0ns, 0, round, static_cast<double>(round)));
    t.here->sleep(1ms);
    for (std::uint64_t round = 0; round < 4; ++round)
      CHECK(t.move(1, round, 100.0) == 100.0 + static_cast<double>(round));
    join_all(threads);
  });
  CHECK(t.arrived.size() == 4);
}

TEST_CASE("allreduce: a fast next round does not overwrite a result that was not taken yet") {
  constexpr std::uint32_t count = 5;
  constexpr std::uint64_t rounds = 1000;
  Summed t(count);
  t.here->run([&] {
    t.here->together(count, [&](std::uint32_t thread) {
      for (std::uint64_t round = 0; round < rounds; ++round)
        REQUIRE(t.move(thread, round, static_cast<double>(round)) ==
                static_cast<double>(count * round));
    });
  });
  CHECK(t.arrived.size() == rounds);
}

TEST_CASE("allreduce: an error from below reaches all threads and leaves the next round intact") {
  Summed t(3);
  t.before_answer = [&](const paths::Operation& operation) {
    t.here->sleep(2ms);
    if (operation.sequence == 0) throw std::runtime_error("the element is on fire");
  };
  t.here->run([&] {
    std::vector<runtime::Task> threads;
    for (std::uint64_t round = 0; round < 2; ++round)
      for (std::uint32_t thread = 0; thread < 3; ++thread)
        threads.push_back(t.later(0ns, thread, round, 1.0));
    join_all(threads);
  });
  CHECK(t.values == std::vector<double>(3, 3.0));
  CHECK(std::count_if(t.answers.begin(), t.answers.end(), [](const std::string& answer) {
          return answer.find("the element is on fire") != std::string::npos;
        }) == 3);
}

TEST_CASE(
    "allreduce: a failure above reaches all contributors of the round and joins further down") {
  PlanBuilder builder;
  const auto fails = builder.does("fails", [](paths::Operation operation, paths::Next next) {
    if (operation.sequence == 1 && operation.thread == 1) throw std::runtime_error("torn");
    return next(std::move(operation));
  });
  const auto upper = builder.wrapper("allreduce", "upper", {{"template", "f64"}});
  const auto other = builder.wrapper("allreduce", "other", {{"template", "f64"}});
  const auto lower = builder.wrapper("allreduce", "lower", {{"template", "f64"}});
  const auto end = builder.returns();
  builder.path("graph", 2, {fails, upper, lower, end});
  builder.path("graph", 2, {other, lower, end});
  OneHost here(builder);
  here.run([&] {
    here.together(4, [&](std::uint32_t thread) {
      for (std::uint64_t round = 0; round < 4; ++round) {
        double value = 0;
        const std::string error = thrown<TravelError>(
            [&] { value = here.move_value(thread / 2, thread % 2, round, 1.0); });
        if (round == 1) {
          CHECK_THAT(error, Catch::Contains("torn"));
        } else {
          CHECK(value == 4.0);
        }
      }
    });
  });
}

TEST_CASE(
    "allreduce: an error about a value of the wrong sign names the thread and the round and the "
    "value") {
  Summed t(2, {{"template", "f64"}, {"contributions", "non_negative"}});
  t.meet({{0ns, 0, 5, 1.0}, {1ms, 1, 5, -0.25}});
  REQUIRE(t.answers.size() == 2);
  CHECK(t.answers[0] == t.answers[1]);
  CHECK_THAT(t.answers[0], Catch::Contains("thread here/1") && Catch::Contains("-0.25") &&
                               Catch::Contains("round 5") && Catch::Contains("sum") &&
                               Catch::Contains("non_negative"));
}

TEST_CASE("allreduce: an error about NaN names its contributor") {
  Summed t(2);
  t.meet({{0ns, 0, 0, std::numeric_limits<double>::quiet_NaN()}, {1ms, 1, 0, 1.0}});
  CHECK_THAT(t.answers.at(0), Catch::Contains("thread here/0") && Catch::Contains("NaN"));
}

TEST_CASE(
    "allreduce: of several NaN values the error names the first slot even if it is the only one") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Summed t(3);
  t.meet({{2ms, 0, 0, 1.0}, {1ms, 1, 0, nan}, {0ns, 2, 0, nan}});
  for (const std::string& answer : t.answers)
    CHECK_THAT(answer, Catch::Contains("thread here/1: NaN at index 0"));
  Summed alone(1);
  alone.here->run([&] { alone.later(0ns, 0, 0, nan).join(); });
  CHECK_THAT(alone.answers.at(0), Catch::Contains("thread here/0: NaN at index 0"));
}

TEST_CASE(
    "allreduce: a NaN is reported before a failure in a later slot and after one in an earlier "
    "slot") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::uint32_t failed : {0u, 2u}) {
    Summed t(3);
    t.here->run([&] {
      runtime::Task other = t.later(0ns, 1, 0, nan);
      runtime::Task last = t.later(2ms, 2 - failed, 0, 1.0);
      paths::Operation broken = t.here->operation(0, failed, 0, OperationKind::move);
      broken.failure =
          std::make_shared<const TravelError>("here", "graph", "above", "it broke above");
      const std::string error = thrown<TravelError>([&] { t.here->operate(broken); });
      CHECK_THAT(error, Catch::Contains(failed == 0 ? "it broke above" : "thread here/1: NaN"));
      other.join();
      last.join();
    });
  }
}

TEST_CASE("allreduce: with ieee values NaN and overflow are results") {
  Summed t(2, {{"template", "f64"}, {"operation", "max"}, {"values", "ieee"}});
  t.meet({{0ns, 0, 0, -std::numeric_limits<double>::quiet_NaN()}, {1ms, 1, 0, 1.0}});
  REQUIRE(t.values.size() == 2);
  CHECK(std::isnan(t.values[0]));
  CHECK_FALSE(std::signbit(t.values[0]));
  Summed bytes(2, {{"template", "u8[3]"}, {"values", "ieee"}});
  using Three = std::array<std::uint8_t, 3>;
  bytes.here->run([&] {
    runtime::Task other = bytes.here->spawn([&] {
      bytes.here->move(0, 1, 0, base::Payload::of(Three{100, 200, 1}));
    });
    const auto result = bytes.here->move(0, 0, 0, base::Payload::of(Three{100, 100, 255}));
    CHECK(result.payload.read<Three>() == Three{200, 44, 0});
    other.join();
  });
}

TEST_CASE(
    "allreduce: an error about integer overflow names the contributor whose value was too much") {
  Summed t(3, {{"template", "i32"}});
  std::vector<std::string> errors;
  t.here->run([&] {
    t.here->together(3, [&](std::uint32_t thread) {
      errors.push_back(thrown<TravelError>(
          [&] { t.here->move_value<std::int32_t>(0, thread, 0, 1'500'000'000); }));
    });
  });
  REQUIRE(errors.size() == 3);
  CHECK_THAT(errors[0], Catch::Contains("overflow") && Catch::Contains("thread here/1"));
}

TEST_CASE("allreduce: a tuple of the wrong size is a failed contribution") {
  Summed t(1);
  t.here->run([&] {
    const std::string error =
        thrown<TravelError>([&] { t.here->move(0, 0, 0, base::Payload::of(std::int32_t{1})); });
    CHECK_THAT(error, Catch::Contains("expected 8 bytes") && Catch::Contains("found 4"));
  });
}

TEST_CASE("allreduce: at the deadline the round fails for all threads and names the missing one") {
  Summed t(3);
  t.builder.set_deadline(50ms);
  t.here->run([&] {
    runtime::Task threads[] = {t.later(0ns, 0, 0, 1.0), t.later(10ms, 2, 0, 1.0),
                               t.later(70ms, 1, 0, 1.0)};
    join_all(threads);
    CHECK(t.answers[0] == t.answers[1]);
    CHECK(t.answers[0] == t.answers[2]);  // the late thread gets the same error
    CHECK_THAT(t.answers[0], Catch::Contains("missing") && Catch::Contains("thread here/1") &&
                                 Catch::Contains("round 0"));
    CHECK(t.answered_at == std::vector<Nanos>{50ms, 50ms, 70ms});
    // All three threads contribute to the next round.
    std::vector<runtime::Task> again;
    for (std::uint32_t thread = 0; thread < 3; ++thread)
      again.push_back(t.later(0ns, thread, 1, 1.0));
    join_all(again);
  });
  CHECK(t.values == std::vector<double>(3, 3.0));
}

TEST_CASE("allreduce: an expired round still continues down so that joins below fail too") {
  PlanBuilder builder;
  builder.set_deadline(50ms);
  const auto upper = builder.wrapper("allreduce", "upper", {{"template", "f64"}});
  const auto lower = builder.wrapper("allreduce", "lower", {{"template", "f64"}});
  const auto end = builder.does("end", [](paths::Operation, paths::Next) -> paths::Result {
    throw std::logic_error("nobody gets here");
  });
  builder.path("graph", 2, {upper, lower, end});
  builder.path("graph", 1, {lower, end});
  OneHost here(builder);
  here.run([&] {
    std::string below;
    runtime::Task other = here.spawn([&] {
      // Alone, this operation would reach its deadline at 70 ms. But the other path fails at 50 ms,
      // and this failure ends the wait.
      here.sleep(20ms);
      below = thrown<TravelError>([&] { here.move_value(1, 0, 0, 1.0); });
      CHECK(here.now() == 50ms);
    });
    const std::string above = thrown<TravelError>([&] { here.move_value(0, 0, 0, 1.0); });
    CHECK(here.now() == 50ms);
    other.join();
    CHECK(above == below);
    CHECK_THAT(below, Catch::Contains("thread here/1"));
  });
}

TEST_CASE("allreduce: a cancelled waiter leaves and the round continues with its value") {
  Summed t(3);
  t.here->run([&] {
    runtime::Task leaves = t.later(0ns, 0, 0, 1.0);
    runtime::Task stays = t.later(0ns, 1, 0, 2.0);
    t.here->sleep(1ms);
    leaves.cancel();
    leaves.join();
    CHECK(t.move(2, 0, 4.0) == 7.0);
    stays.join();
  });
  CHECK(t.values == std::vector<double>{7.0});
}

TEST_CASE("allreduce: a failure of the leader below reaches its waiters") {
  Summed t(2);
  t.before_answer = [&](const paths::Operation&) { t.here->sleep(10ms); };
  t.here->run([&] {
    runtime::Task waits = t.later(0ns, 0, 0, 1.0);
    runtime::Task below = t.later(1ms, 1, 0, 1.0);
    t.here->sleep(5ms);
    below.cancel();
    below.join();
    waits.join();
  });
  REQUIRE(t.answers.size() == 1);
  CHECK_THAT(t.answers[0], Catch::Contains("cancelled"));
}

TEST_CASE(
    "allreduce: releases never block and the first withdraws below and the last continues down") {
  Summed t(3);
  t.here->run([&] {
    t.release(0, 4);
    t.release(2, 4);
    REQUIRE(t.arrived.size() == 1);
    CHECK(t.arrived[0].kind == OperationKind::withdraw);
    CHECK(t.arrived[0].sequence == 4);
    t.release(1, 4);
    REQUIRE(t.arrived.size() == 2);
    CHECK(t.arrived[1].kind == OperationKind::release);
    CHECK(t.here->now() == 0ns);
  });
}

TEST_CASE(
    "allreduce: below gets a second withdrawal when another contributor ends in an earlier round") {
  Summed t(3);
  t.here->run([&] {
    const auto withdraw = [&](std::uint32_t thread, std::uint64_t sequence) {
      t.here->operate(t.here->operation(0, thread, sequence, OperationKind::withdraw));
      return t.arrived.back().sequence;
    };
    CHECK(withdraw(0, 5) == 5);
    CHECK(withdraw(0, 5) == 5);
    CHECK(withdraw(1, 7) == 5);
    CHECK(t.arrived.size() == 1);
    CHECK(withdraw(2, 3) == 3);
    CHECK(t.arrived.size() == 2);
    for (const std::uint32_t thread : {0, 1, 2}) t.release(thread, 7);
    CHECK(t.arrived.size() == 3);
    CHECK(t.arrived.back().sequence == 3);
  });
}

TEST_CASE("allreduce: a host that died is missing from the round after its last value on") {
  const bool says_why = GENERATE(false, true);
  Summed t(2);
  t.here->run([&] {
    runtime::Task waits = t.later(0ns, 1, 6, 1.0);
    t.here->sleep(1ms);
    paths::Operation gone = t.here->operation(0, 1, 0, OperationKind::release);
    if (says_why) gone.failure = t.here->host().failure("", 0, "host there is gone");
    thrown<TravelError>([&] { t.here->operate(gone); });
    if (!says_why) {  // only a withdrawal reaches the end of the path, not a failure
      REQUIRE(t.arrived.size() == 1);
      CHECK(t.arrived[0].sequence == 7);
    }
    CHECK(t.move(0, 6, 2.0) == 3.0);  // thread 1's value for round 6 had arrived before its release
    waits.join();
    CHECK_THAT(thrown<TravelError>([&] { t.move(0, 7, 2.0); }),
               Catch::Contains(says_why ? "host there is gone" : "here/1 released its path"));
  });
}

TEST_CASE("allreduce: a round does not wait for a contributor that released its path") {
  for (const bool released_first : {false, true}) {
    Summed t(3);
    t.here->run([&] {
      if (released_first) t.release(1, 7);
      runtime::Task waits = t.later(0ns, 0, 7, 1.0);
      t.here->sleep(1ms);
      if (!released_first) t.release(1, 7);
      waits.join();
      runtime::Task late = t.later(0ns, 2, 7, 1.0);
      late.join();
    });
    REQUIRE(t.answers.size() == 2);
    CHECK(t.answers[0] == t.answers[1]);
    CHECK_THAT(t.answers[0], Catch::Contains("thread here/1 released"));
  }
}

TEST_CASE("allreduce: a release does not affect earlier rounds") {
  Summed t(2);
  t.here->run([&] {
    runtime::Task waits = t.later(0ns, 0, 6, 1.0);
    t.here->sleep(1ms);
    t.release(1, 7);
    // The release of thread 1 arrived before its value for round 6.
    CHECK(t.move(1, 6, 2.0) == 3.0);
    waits.join();
  });
}

TEST_CASE("allreduce: operations other than move and release pass through") {
  Summed t(2);
  t.here->run([&] { t.here->operate(t.here->operation(0, 1, 0, OperationKind::observe)); });
  REQUIRE(t.arrived.size() == 1);
  CHECK(t.arrived[0].kind == OperationKind::observe);
}

TEST_CASE("allreduce: a second contribution of a slot to one round is a bug") {
  base::set_bugs_throw(true);
  Summed t(2);
  t.here->run([&] {
    runtime::Task first = t.later(0ns, 0, 0, 1.0);
    t.here->sleep(1ms);
    CHECK_THROWS(t.move(0, 0, 1.0));
    t.move(1, 0, 1.0);
    first.join();
  });
  base::set_bugs_throw(false);
}

TEST_CASE("allreduce: OS threads get the right result in thousands of rounds") {
  constexpr std::uint32_t count = 4;
  constexpr std::uint64_t rounds = 2000;
  PlanBuilder builder;
  const auto join = builder.wrapper("allreduce", "sum", {{"template", "u64"}});
  const auto end = builder.returns();
  builder.path("graph", count, {join, end});
  OneHost here(builder, runtime::ClockKind::steady);
  std::vector<std::uint64_t> wrong(count);
  here.run([&] {
    here.together(count, [&](std::uint32_t thread) {
      for (std::uint64_t round = 0; round < rounds; ++round)
        wrong[thread] += here.move_value(0, thread, round, round + thread) != 4 * round + 6;
    });
  });
  CHECK(wrong == std::vector<std::uint64_t>(count));
}

namespace {

/// Rounds of values so large that waiting OS threads help to combine them.
struct LargeRounds {
  static constexpr std::uint32_t threads = 4;
  // Number of values in a contribution. The number is not divisible by the number of parts, or by
  // the number of values in a SIMD register.
  static constexpr std::size_t count = 300'001;
  explicit LargeRounds(Words settings, runtime::ClockKind clock = runtime::ClockKind::steady) {
    settings.emplace_back("template", fmt::format("f64[{}]", count));
    const auto join = builder.wrapper("allreduce", "sum", settings);
    const auto end = builder.returns();
    builder.path("graph", threads, {join, end});
    here.emplace(builder, clock);
  }
  static std::vector<double> contribution(std::uint32_t thread, std::uint64_t round) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = 1.0 / static_cast<double>(1 + i * threads + thread + round);
    return values;
  }
  /// Returns the error of each thread; "" = all its results were right.
  std::vector<std::string> run(
      std::uint64_t rounds, const std::function<void(std::uint32_t, std::vector<double>&)>& change,
      const std::function<bool(std::uint64_t, const double*)>& is_right) {
    std::vector<std::string> errors(threads);
    here->run([&] {
      here->together(threads, [&](std::uint32_t thread) {
        for (std::uint64_t round = 0; round < rounds; ++round) {
          std::vector<double> mine = contribution(thread, round);
          if (round + 1 == rounds) change(thread, mine);
          const std::string error = thrown<TravelError>([&] {
            const auto result = here->move(0, thread, round, base::Payload::of(std::move(mine)));
            const auto bytes = result.payload.bytes();
            if (!is_right(round, reinterpret_cast<const double*>(bytes.data())))
              errors[thread] = "another sum";
          });
          if (error != "nothing") errors[thread] = error;
        }
      });
    });
    return errors;
  }
  PlanBuilder builder;
  std::optional<OneHost> here;
};

}  // namespace

TEST_CASE(
    "allreduce: large values that threads combine together have the bits of the slots' order") {
  LargeRounds large({});
  const auto is_right = [](std::uint64_t round, const double* sums) {
    std::vector<double> expected = LargeRounds::contribution(0, round);
    for (std::uint32_t thread = 1; thread < LargeRounds::threads; ++thread) {
      const std::vector<double> one = LargeRounds::contribution(thread, round);
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += one[i];
    }
    return std::equal(expected.begin(), expected.end(), sums);
  };
  const auto errors = large.run(
      20, [](auto, auto&) {}, is_right);
  CHECK(errors == std::vector<std::string>(LargeRounds::threads));
}

TEST_CASE("allreduce: with adopted large values only the sum takes memory and that is reused") {
  for (const auto clock : {runtime::ClockKind::steady, runtime::ClockKind::virtual_time}) {
    constexpr std::uint64_t warm = 3, rounds = 20;
    LargeRounds large({}, clock);
    std::vector<std::vector<double>> arrays;
    for (std::uint32_t thread = 0; thread < LargeRounds::threads; ++thread)
      arrays.push_back(LargeRounds::contribution(thread, 0));
    base::LargeMemory before;
    large.here->run([&] {
      large.here->together(LargeRounds::threads, [&](std::uint32_t thread) {
        const auto mine = base::Payload::adopt(std::as_bytes(std::span(arrays[thread])), [] {});
        for (std::uint64_t round = 0; round < warm + rounds; ++round) {
          large.here->move(0, thread, round, mine);
          if (round + 1 == warm && thread == 0) before = base::large_memory();
        }
      });
    });
    const base::LargeMemory after = base::large_memory();
    // The number can differ by one, because thread 0 counts while other threads are still in the
    // previous round or already in the next round.
    CHECK(after.taken - before.taken <= rounds + 1);
    CHECK(after.taken - before.taken >= rounds - 1);
    CHECK(after.mapped - before.mapped == 0);
  }
}

TEST_CASE("allreduce: errors about large values match those about small ones") {
  const auto errors_of = [](const Words& settings, const auto& change) {
    LargeRounds large(settings);
    auto errors = large.run(3, change, [](auto, auto) { return true; });
    CHECK(std::count(errors.begin(), errors.end(), errors[0]) == LargeRounds::threads);
    return errors[0];
  };
  const std::size_t last = LargeRounds::count - 1;
  CHECK_THAT(errors_of({},
                       [&](std::uint32_t thread, std::vector<double>& values) {
                         if (thread >= 2) values[thread == 2 ? last : 0] = std::nan("");
                       }),
             Catch::Contains(fmt::format("round 2: thread here/2: NaN at index {}", last)));
  CHECK_THAT(errors_of({{"contributions", "non_negative"}},
                       [&](std::uint32_t thread, std::vector<double>& values) {
                         if (thread == 0) values[last] = -1;
                       }),
             Catch::Contains(fmt::format("here/0: negative value -1 at index {}", last)));
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THAT(errors_of({},
                       [&](std::uint32_t thread, std::vector<double>& values) {
                         if (thread < 2) values[7] = thread == 0 ? infinity : -infinity;
                       }),
             Catch::Contains("combining what thread here/1 contributed: NaN in f64 sum of inf and "
                             "-inf at index 7"));
}

TEST_CASE(
    "allreduce: settings that cannot be combined are refused with all mistakes in one error") {
  const auto mistakes_of = [](const Words& words) {
    PlanBuilder builder;
    const auto join = builder.wrapper("allreduce", "sum", words);
    builder.path("graph", 1, {join, builder.does("end", nullptr)});
    return thrown<base::ConfigError>([&] { OneHost here(builder); });
  };
  CHECK_THAT(
      mistakes_of({{"operation", "summ"}, {"contributions", "positive"}}),
      Catch::Contains("sum") && Catch::Contains("template") && Catch::Contains("contributions"));
  CHECK_THAT(mistakes_of({{"template", "string"}}), Catch::Contains("one scalar or an array"));
  CHECK_THAT(mistakes_of({{"template", "f64, f64"}}), Catch::Contains("one scalar or an array"));
  CHECK_THAT(mistakes_of({{"template", "f64"}, {"operation", "bitwise_or"}}),
             Catch::Contains("bitwise_or does not take f64"));
  CHECK_THAT(mistakes_of({{"template", "f64"}, {"operation", "max_location"}}),
             Catch::Contains("f64, i64"));
  CHECK(mistakes_of({{"template", "f64[4]"}, {"operation", "product"}}) == "nothing");
}
