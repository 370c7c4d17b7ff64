// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/join_test.cpp — rules that all kinds of join share.
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/joined.hpp"

namespace {

using namespace std::chrono_literals;
using test_support::join_all;
using test_support::OneHost;
using test_support::PlanBuilder;
using test_support::Words;

constexpr std::uint32_t contributors = 3;

struct Kind {
  std::string name;
  Words settings;
  bool marks_last_arriver = false;
};

/// By thread: whether its result is marked as the last arriver's. Thread 0 arrives last; what comes
/// up from below may be marked, as a join further down marks it.
std::array<bool, contributors> marked_by(const Kind& kind, bool is_marked_below) {
  PlanBuilder builder;
  const auto join = builder.wrapper(kind.name, "join", kind.settings);
  const auto end = builder.does("end", [=](paths::Operation operation, paths::Next) {
    paths::Result result;
    result.payload = operation.payload;
    result.last_arriver = is_marked_below;
    return result;
  });
  builder.path("graph", contributors, {join, end});
  OneHost here(builder);
  std::array<bool, contributors> marked = {};
  here.run([&] {
    std::vector<runtime::Task> threads;
    for (std::uint32_t thread = 0; thread < contributors; ++thread)
      threads.push_back(here.spawn([&, thread] {
        here.sleep((contributors - thread) * 1ms);
        marked[thread] = here.move(0, thread, 0, base::Payload::of(1.0)).last_arriver;
      }));
    join_all(threads);
  });
  return marked;
}

}  // namespace

TEST_CASE(
    "join: an allreduce and a barrier mark the last arriver's result alone, others mark none") {
  const std::vector<Kind> kinds = {{"allreduce", {{"template", "f64"}}, true},
                                   {"barrier", {}, true},
                                   {"broadcast", {{"from", "1"}}, false},
                                   {"broadcast", {}, false},
                                   {"reduce", {{"template", "f64"}}, false}};
  for (const Kind& kind : kinds) {
    for (const bool is_marked_below : {false, true}) {
      INFO(kind.name << (kind.settings.empty() ? "" : " with settings")
                     << (is_marked_below ? ", marked below" : ""));
      CHECK(marked_by(kind, is_marked_below) ==
            std::array<bool, contributors>{kind.marks_last_arriver, false, false});
    }
  }
}
