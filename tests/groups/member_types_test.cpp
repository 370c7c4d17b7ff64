// SPDX-License-Identifier: Apache-2.0
// tests/groups/member_types_test.cpp — members of a group that use different types.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/groups/members.hpp"

namespace {

using namespace std::chrono_literals;
using namespace test_support;

/// Returns the errors of two members in an operation. The first member uses the type `First`, the
/// second member uses the type `Second`; "" = no error.
template <class First, class Second, class Operate>
std::vector<std::string> errors_of(const std::string& hosts, Operate operate) {
  const Sim sim(fmt::format("clusters: {{a: {}}}\nlanes:\n", hosts));
  return errors_of_members(sim, [&](groups::Group& world) {
    if (world.rank() == 0)
      operate(world, std::array<First, 4>{});
    else
      operate(world, std::array<Second, 4>{});
  });
}

using Operate = std::function<void(groups::Group&, bool is_first)>;

/// Functions that call a collective, keyed by its name. Their arrays contain f64 if `is_first`,
/// otherwise i64.
std::map<std::string, Operate> typed_collectives() {
  const auto typed = [](auto operate) -> Operate {
    return [operate](groups::Group& world, bool is_first) {
      if (is_first)
        operate(world, std::vector<double>(4));
      else
        operate(world, std::vector<std::int64_t>(4));
    };
  };
  return {
      {"broadcast", typed([](groups::Group& world, auto values) {
         world.run(groups::broadcast(std::span(values), 0));
       })},
      {"reduce", typed([](groups::Group& world, auto values) {
         auto out = values;
         world.run(groups::reduce(values, out, "sum", 0));
       })},
      {"allreduce", typed([](groups::Group& world, auto values) {
         auto out = values;
         world.run(groups::allreduce(values, out, "sum"));
       })},
      {"gather", typed([](groups::Group& world, auto values) {
         auto out = values;
         out.resize(world.rank() == 0 ? 4 * world.size() : 0);
         world.run(groups::gather(values, out, 0));
       })},
      {"scatter", typed([](groups::Group& world, auto values) {
         auto in = values;
         in.resize(world.rank() == 0 ? 4 * world.size() : 0);
         world.run(groups::scatter(in, values, 0));
       })},
      {"allgather", typed([](groups::Group& world, auto values) {
         auto out = values;
         out.resize(4 * world.size());
         world.run(groups::allgather(values, out));
       })},
      {"alltoall", typed([](groups::Group& world, auto values) {
         values.resize(4 * world.size());
         auto out = values;
         world.run(groups::alltoall(values, out));
       })},
      {"reduce_scatter", typed([](groups::Group& world, auto values) {
         auto in = values;
         in.resize(4 * world.size());
         world.run(groups::reduce_scatter(in, values, "sum"));
       })},
      {"scan", typed([](groups::Group& world, auto values) {
         auto out = values;
         world.run(groups::scan(values, out, "sum"));
       })},
      {"exscan", typed([](groups::Group& world, auto values) {
         auto out = values;
         world.run(groups::exscan(values, out, "sum"));
       })},
  };
}

}  // namespace

TEST_CASE("groups: different types in any collective are an error for all members or the run") {
  const std::string hosts = GENERATE("{hosts: 1, threads: 2}", "{hosts: 2}", "{hosts: 3}");
  const std::uint32_t first = GENERATE(0, 1);
  const bool is_last = GENERATE(false, true);
  for (const auto& [name, operate] : typed_collectives()) {
    INFO(name << " of " << hosts << ", member " << first << " has f64, last: " << is_last);
    const Sim sim(fmt::format("clusters: {{a: {}}}\nlanes:\n", hosts));
    std::map<std::uint32_t, std::string> errors;
    const SimResult run = sim.run([&, &operate = operate](paths::Thread& thread) {
      groups::Group world(thread);
      try {
        operate(world, world.rank() == first);
        if (!is_last) thread.sleep_for(250ms);
        if (!is_last) world.run(groups::barrier());
      } catch (const std::exception& error) {
        errors[world.rank()] = error.what();
        CHECK(thread.now() < 1s);
      }
    });
    CHECK(run.broke.empty());
    std::string all = errors.empty() ? "" : errors.begin()->second;
    for (const std::string& failure : run.failures) all += failure;
    CHECK_THAT(all, Catch::Contains("f64") || Catch::Contains("i64"));
    if (!is_last) {
      CHECK(errors.size() == sim.plan().thread_count());
      CHECK(run.failures.empty());
    } else if (errors.size() < sim.plan().thread_count()) {
      CHECK_FALSE(run.failures.empty());
    }
  }
}

TEST_CASE("groups: values of equal size and different types are an error for all members") {
  const std::string hosts = GENERATE("{hosts: 1, threads: 2}", "{hosts: 2, threads: 1}");
  const auto check = [&](auto operate) {
    const auto errors = errors_of<double, std::int64_t>(hosts, operate);
    REQUIRE(errors.size() == 2);
    CHECK_THAT(errors[0], Catch::Contains("f64, 4"));  // each error names the call of its member
    CHECK_THAT(errors[1], Catch::Contains("i64, 4"));
    CHECK(errors_of<double, double>(hosts, operate) == std::vector<std::string>(2));
  };
  check([](groups::Group& world, auto values) {
    auto out = values;
    world.run(groups::allreduce(values, out, "sum"));
  });
  check([](groups::Group& world, auto values) {
    std::vector<typename decltype(values)::value_type> out(8);
    world.run(groups::allgather(values, out));
  });
}
