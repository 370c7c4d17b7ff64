// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/fold_yield_real.cpp — a service that folds large values, or waits for them, lets
// other services run meanwhile.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <vector>

#include "base/settings.hpp"
#include "groups/calls/fold.hpp"
#include "paths/joins/decision.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/one_host.hpp"

namespace {

using namespace test_support;
using base::Payload;
using runtime::ContextRole;
using runtime::Runtime;

/// Returns whether a service that is ready when `fold` begins runs before `fold` ends. `fold` runs
/// in a service, too.
bool lets_others_run(Runtime& runtime, const std::function<void()>& fold) {
  bool has_run = false, has_run_meanwhile = false;
  runtime
      .spawn(ContextRole::service, {"folding"},
             [&] {
               runtime::Task other =
                   runtime.spawn(ContextRole::service, {"other"}, [&] { has_run = true; });
               fold();
               has_run_meanwhile = has_run;
               other.join();
             })
      .join();
  return has_run_meanwhile;
}

Payload ones(std::size_t count) { return Payload::of(std::vector<double>(count, 1.0)); }

/// Registers a sum that can only fold whole values, and returns its name.
const char* whole_sum() {
  static const char* const name = [] {
    base::ReduceOperation made = *base::reduce_operation("sum");
    made.name = "sum of the whole";
    made.elements = nullptr;
    base::add_reduce_operation(std::move(made));
    return "sum of the whole";
  }();
  return name;
}

}  // namespace

TEST_CASE("join: a service that folds large contributions lets other services run") {
  const std::string operation = GENERATE(as<std::string>(), "sum", whole_sum());
  for (const std::size_t count : {std::size_t{1} << 15, std::size_t{1} << 19}) {
    INFO(operation << " of " << count << " values");
    PlanBuilder builder;
    const std::uint32_t join = builder.wrapper(
        "allreduce", "sum",
        Words{{"operation", operation}, {"template", fmt::format("f64[{}]", count)}});
    builder.path("graph", 3, {join, builder.returns()});
    OneHost here(builder, runtime::ClockKind::steady);
    here.run([&] {
      std::vector<runtime::Task> early;
      for (const std::uint32_t thread : {0u, 1u})
        early.push_back(here.runtime().spawn(ContextRole::service, {"early"}, [&, thread] {
          here.move(0, thread, 0, ones(count));
        }));
      paths::Result result;
      CHECK(lets_others_run(here.runtime(), [&] { result = here.move(0, 2, 0, ones(count)); }));
      for (runtime::Task& task : early) task.join();
      CHECK(result.values<double>() == std::vector<double>(count, 3.0));
    });
  }
}

TEST_CASE("decision: a service that combines large values lets other services run") {
  constexpr std::size_t count = 100'003;
  paths::Decision decision;
  decision.reduction = paths::reduction_of(base::parse_settings(
      fmt::format("{{operation: sum, template: \"f64[{}]\"}}", count), "here"));
  const std::vector<paths::ClusterValue> values(3, {"e", ones(count)});
  on_steady_clock([&](Runtime& runtime) {
    Payload sum;
    CHECK(lets_others_run(runtime, [&] { sum = decision.combine(values); }));
    CHECK(sum == Payload::of(std::vector<double>(count, 3.0)));
  });
}

TEST_CASE("groups: a service that folds large or many blocks lets other services run") {
  for (const std::size_t at_once : {std::size_t{1} << 20, std::size_t{1} << 12}) {
    std::vector<double> sum(1 << 17, 0.0), one(1 << 17, 1.0);
    groups::Fold fold(*base::reduce_operation("sum"), base::Scalar::f64, base::Values::checked);
    on_steady_clock([&](Runtime& runtime) {
      CHECK(lets_others_run(runtime, [&] {
        const auto into = std::as_writable_bytes(std::span(sum));
        const auto right = std::as_bytes(std::span(one));
        for (std::size_t at = 0; at < into.size(); at += at_once)
          fold(into.subspan(at, at_once), into.subspan(at, at_once), right.subspan(at, at_once));
      }));
    });
    CHECK(sum == one);
  }
}
