// SPDX-License-Identifier: Apache-2.0
// tests/paths/value_types_test.cpp — types of the values that threads move down a path and read
// from it.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/usage_error.hpp"
#include "pastset/tuple.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
using base::Payload;

const char* const typed_config = R"(
clusters:
  alpha: {hosts: 2, threads: 2}
  beta: {hosts: 1, threads: 2}
links: [{between: [alpha, beta], latency: 10ms}]
collectives:
  sum: {operation: sum, template: f64, algorithm: sequential}
  pair: {operation: sum, template: "f64[2]", algorithm: best}
  place: {operation: min_location, template: "f64, i64", algorithm: sequential}
elements:
  work: {host: alpha-0, template: f64, keep_newest: 0, reach: all}
  mixed: {host: alpha-0, template: "u64, f64", keep_newest: 0, reach: all}
  text: {host: alpha-0, template: "bytes[8]", keep_newest: 0, reach: all}
exchanges:
  rows: {template: "f64"}
)";

/// Calls `use` with a value of every scalar type except f64.
void with_other_types(const std::function<void(const Payload&)>& use) {
  for (const std::string_view name : base::scalar_names()) {
    const base::Scalar scalar = *base::scalar_named(name);
    if (scalar == base::Scalar::f64) continue;
    base::with_scalar(scalar, [&](auto value) { use(Payload::of(value)); });
  }
}

std::string row_after(const paths::Thread& thread) {
  return fmt::format("rows.{}.from_previous", thread.rank() + 1);
}

struct ValueAndPlace {
  double value;
  std::int64_t place;
};

}  // namespace

TEST_CASE("value types: every call that moves refuses a value of another type and sends nothing") {
  const Sim sim(typed_config);
  sim.run_well([](paths::Thread& thread) {
    with_other_types([&](const Payload& value) {
      const auto names_all = [&](const std::string& path, std::string_view call,
                                 const std::string& words) {
        const std::string expected = fmt::format(
            "path {}: {} of a value that is no tuple of the path: it has values of type {}, but "
            "template \"f64\" takes f64",
            path, call, base::type_name(value.type()));
        if (words != expected) FAIL(words);
      };
      for (const std::string path : {"sum", "work"}) {
        paths::Path& there = thread.path(path);
        double into = 7;
        names_all(path, "move", mistake_of([&] { there.move(value); }));
        names_all(path, "move", mistake_of([&] { there.move(value, std::span(&into, 1)); }));
        names_all(path, "start", mistake_of([&] { there.start(value); }));
        names_all(path, "push", mistake_of([&] { there.push(value); }));
        names_all(path, "send", mistake_of([&] { there.send(value); }));
      }
      if (thread.rank() + 1 < thread.threads())
        names_all(row_after(thread), "send",
                  mistake_of([&] { thread.path(row_after(thread)).send(value); }));
    });
    // A refused value starts no round and leaves no tuple: later rounds have the right results, and
    // the element and the rows are empty.
    CHECK(thread.path("sum").move_value(1.0).value<double>() == 6);
    CHECK(thread.path("work").last() == 0);
    if (thread.rank() + 1 < thread.threads()) thread.path(row_after(thread)).send(Payload::of(2.0));
    if (thread.rank() > 0) {
      paths::Path& row = thread.path(fmt::format("rows.{}.from_previous", thread.rank()));
      CHECK(row.observe().payload.read<double>() == 2.0);
    }
  });
}

TEST_CASE("value types: six threads that move an i64 into an f64 sum all get an error") {
  const Sim sim(typed_config);
  const SimResult run =
      sim.run([](paths::Thread& thread) { thread.path("sum").move_value(std::int64_t{1}); });
  CHECK(run.failures.size() == 6);
  REQUIRE_FALSE(run.failures.empty());
  CHECK_THAT(run.failures.front(), Catch::Contains("path sum: move of a value") &&
                                       Catch::Contains("type i64") && Catch::Contains("\"f64\""));
}

TEST_CASE("value types: all waiters for a thread get its value of another type as an error") {
  enum class Waits { all, for_root, at_root };
  const std::vector<std::pair<std::string, Waits>> collectives = {
      {"operation: sum, algorithm: sequential", Waits::all},
      {"operation: sum, algorithm: magpie", Waits::all},
      {"operation: sum, algorithm: exact", Waits::all},
      {"operation: sum, algorithm: best", Waits::all},
      {"kind: broadcast", Waits::for_root},
      {"kind: reduce, operation: sum", Waits::at_root},
  };
  for (const std::string clusters :
       {"a: {hosts: 2}", "a: {hosts: 2, threads: 2}", "a: {hosts: 2}, b: {hosts: 1, threads: 2}"})
    for (const auto& [collective, waits] : collectives) {
      const Sim sim(
          fmt::format("deadline: 60s\nclusters: {{{}}}\nlinks: {{all: {{latency: 1ms}}}}\n"
                      "collectives: {{it: {{{}, template: f64}}}}\nlanes:\n",
                      clusters, collective));
      for (std::uint32_t wrong = 0; wrong < sim.plan().thread_count(); ++wrong) {
        std::map<std::uint32_t, std::string> errors;
        sim.run_well([&](paths::Thread& thread) {
          try {
            if (thread.rank() == wrong)
              thread.path("it").move_value(std::int64_t{1});
            else
              thread.path("it").move_value(1.0);
          } catch (const std::exception& error) {
            errors[thread.rank()] = error.what();
          }
          CHECK(thread.now() < 250ms);
          // Keeps this thread alive. Otherwise other threads would get an error about its end.
          thread.sleep_for(1s);
        });
        INFO(collective << " of " << clusters << ", thread " << wrong << " moves an i64");
        for (std::uint32_t rank = 0; rank < sim.plan().thread_count(); ++rank) {
          const bool must_learn = rank == wrong || waits == Waits::all ||
                                  (waits == Waits::for_root && wrong == 0) ||
                                  (waits == Waits::at_root && rank == 0);
          if (!must_learn && errors[rank].empty()) continue;
          INFO("thread " << rank << ": " << errors[rank]);
          CHECK_THAT(errors[rank], Catch::Contains("path it: move of a value that is no tuple of "
                                                   "the path: it has values of type i64, but "
                                                   "template \"f64\" takes f64"));
        }
      }
    }
}

TEST_CASE("value types: a round after one with a value of another type works") {
  const Sim sim(typed_config);
  sim.run_well([](paths::Thread& thread) {
    for (std::uint32_t wrong = 0; wrong < thread.threads(); ++wrong) {
      if (thread.rank() == wrong)
        CHECK_THROWS_AS(thread.path("sum").move_value(std::int64_t{1}), base::UsageError);
      else
        CHECK_THROWS_AS(thread.path("sum").move_value(1.0), paths::TravelError);
      CHECK(thread.path("sum").move_value(1.0).value<double>() == 6);
    }
  });
}

TEST_CASE("value types: a result can only be read as the type of its template") {
  const Sim sim(typed_config);
  sim.run_well([](paths::Thread& thread) {
    const paths::Result result = thread.path("sum").move_value(1.0);
    paths::Started started = thread.path("sum").start(Payload::of(2.0));
    const paths::Result later = started.wait();
    with_other_types([&](const Payload& value) {
      const auto scalar = base::scalar_named(base::type_name(value.type()));
      base::with_scalar(*scalar, [&](auto sample) {
        using T = decltype(sample);
        const std::string words = fmt::format(
            "path sum: the result was read as {}, but template \"f64\" has values of type f64",
            base::type_name(value.type()));
        for (const paths::Result& one : {result, later}) {
          CHECK(mistake_of([&] { one.read<T>(); }) == words);
          CHECK(mistake_of([&] { one.value<T>(); }) == words);
          CHECK(mistake_of([&] { one.values<T>(); }) == words);
          CHECK(mistake_of([&] { one.partial<T>(); }) == words);
          CHECK_THROWS_AS(one.payload.read<T>(), base::UsageError);
        }
        if constexpr (!std::is_same_v<T, bool>) {
          T into = 7;
          CHECK(mistake_of([&] {
                  thread.path("sum").move(Payload::of(1.0), std::span(&into, 1));
                }) == fmt::format("path sum: move with memory for values of type {}, but results "
                                  "of template \"f64\" have type f64",
                                  base::type_name(value.type())));
        }
      });
    });
    CHECK(result.value<double>() == 6);
    CHECK(result.value<double>() == 6);  // value() can be called again
    CHECK(later.read<double>() == 12);
    CHECK(result.read<std::array<std::byte, 8>>() != later.read<std::array<std::byte, 8>>());
  });
}

TEST_CASE("value types: a tuple of an element can only be read as the type of its template") {
  const Sim sim(typed_config);
  sim.run_well([](paths::Thread& thread) {
    if (thread.rank() != 5) return;
    paths::Path& work = thread.path("work");
    work.move_value(1.5);
    with_other_types([&](const Payload& value) {
      base::with_scalar(*base::scalar_named(base::type_name(value.type())), [&](auto sample) {
        using T = decltype(sample);
        CHECK_THROWS_AS(work.observe(0).payload.read<T>(), base::UsageError);
        CHECK_THROWS_AS(work.newest(0).payload.read<T>(), base::UsageError);
      });
    });
    CHECK(work.observe().payload.read<double>() == 1.5);
  });
}

TEST_CASE("value types: more or fewer values than those of the template are refused") {
  const Sim sim(typed_config);
  sim.run_well([](paths::Thread& thread) {
    paths::Path& pair = thread.path("pair");
    for (const std::size_t count : {0, 1, 3, 100}) {
      const std::string words =
          mistake_of([&] { pair.move(Payload::of(std::vector<double>(count, 1.0))); });
      CHECK_THAT(words, Catch::Contains(fmt::format("path pair: move of a value that is no tuple "
                                                    "of the path: it has {} byte",
                                                    8 * count)));
    }
    const paths::Result sums = pair.move(Payload::of(std::vector<double>{1, 2}));
    CHECK(sums.values<double>() == std::vector<double>{6, 12});
    CHECK(sums.read<double>(8) == 12);
    CHECK(mistake_of([&] { sums.value<double>(); }) ==
          "path pair: a result of 16 bytes was read as one value of 8 bytes");
    CHECK(mistake_of([&] { sums.read<double>(9); }) ==
          "a payload of 16 bytes was read as a value of 8 bytes at byte 9");
  });
}

TEST_CASE(
    "value types: bytes of unknown type and structs and tuples of several types are accepted") {
  const Sim sim(typed_config);
  sim.run_well([](paths::Thread& thread) {
    const double one = 1;
    const Payload bytes = Payload::copy_of(std::as_bytes(std::span(&one, 1)));
    CHECK(thread.path("sum").move(bytes).value<double>() == 6);
    const ValueAndPlace least =
        thread.path("place").move_value(ValueAndPlace{2.0, thread.rank()}).value<ValueAndPlace>();
    CHECK(least.place == 0);
    CHECK(mistake_of([&] { thread.path("place").move_value(2.0); }) != "nothing");
    const auto mixed = *pastset::Template::parse("u64, f64");
    const Payload tuple = pastset::TupleWriter(mixed).put(std::uint64_t{3}).put(0.5).payload();
    CHECK(thread.path("mixed").move(tuple).read<double>(8) == 0.5);
    CHECK(mistake_of([&] {
            thread.path("mixed").move(Payload::of(std::vector<double>{1, 2}));
          }) != "nothing");
    CHECK(mistake_of([&] { thread.path("pair").move(tuple); }) != "nothing");
    CHECK(thread.path("text").move_value(std::uint64_t{5}).payload.size() == 8);
  });
}

TEST_CASE("value types: a buffer has the type of the values that were written to it") {
  const Sim sim(typed_config);
  sim.run_well([](paths::Thread& thread) {
    base::Buffer wrong(16), right(16), viewed_twice(16);
    wrong.as<std::int64_t>()[0] = 1;
    for (base::Buffer* buffer : {&right, &viewed_twice})
      buffer->as<double>()[0] = buffer->as<double>()[1] = 1;
    viewed_twice.as<std::uint64_t>();  // reads the numbers as bits
    CHECK(mistake_of([&] { thread.path("pair").move(std::move(wrong).freeze()); }) != "nothing");
    CHECK(thread.path("pair").move(std::move(right).freeze()).read<double>() == 6);
    CHECK(thread.path("pair").move(std::move(viewed_twice).freeze()).read<double>() == 6);
  });
}
