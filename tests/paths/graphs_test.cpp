// SPDX-License-Identifier: Apache-2.0
// tests/paths/graphs_test.cpp — graphs (paths with the same name) in high-level and low-level
// configs.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/read_config.hpp"

namespace {

using Catch::Contains;
using paths::Plan;
using namespace test_support;

const Plan::PlanGraph& graph(const Plan& plan, const std::string& name) {
  return plan.graphs.at(plan.graph_named(name).value());
}

std::string high(const std::string& sum) {
  return fmt::format(R"(
clusters: {{a: {{hosts: 1, threads: 2}}, b: {{hosts: 1, threads: 1}}}}
links: [{{between: [a, b], latency: 10ms}}]
collectives:
  sum: {{template: f64, {}}}
  end: {{kind: barrier}}
exchanges: {{rows: {{template: "f64[]"}}}}
elements: {{work: {{host: a-0, template: f64, reach: all}}}}
)",
                     sum);
}

const std::string low = R"(
hosts: {here: {threads: 2}}
elements: {result: {host: here, template: f64, keep_newest: 1}}
wrappers: {join: {kind: allreduce, host: here, operation: max, template: f64}}
paths: [{graph: most, host: here, threads: 0-1, through: [join, store: {element: result}]}]
)";

}  // namespace

TEST_CASE(
    "graphs: a plan has the kind and algorithm and reduction and condition of each collective") {
  const Plan plan =
      read_config(high("operation: max, algorithm: 'budget:8,4', condition: {less: 2}"));
  const Plan::PlanGraph& sum = graph(plan, "sum");
  CHECK(sum.kind == "allreduce");
  CHECK(sum.of == "sum");
  CHECK(sum.algorithm == "budget:8,4");
  CHECK(sum.settings.find("operation")->text() == "max");
  CHECK(sum.settings.find("template")->text() == "f64");
  CHECK(sum.condition.find("less")->text() == "2");
  CHECK(graph(plan, "end").kind == "barrier");
  CHECK(graph(plan, "end").algorithm == "");  // a barrier has no choice of algorithm
}

TEST_CASE("graphs: graphs of an exchange have its kind and a graph of an element has none") {
  const Plan plan = read_config(high("algorithm: magpie"));
  CHECK(graph(plan, "rows.1.from_previous").kind == "exchange");
  CHECK(graph(plan, "rows.1.from_previous").of == "rows");
  CHECK(graph(plan, "work").kind == "");
}

TEST_CASE("graphs: the low level has the same graphs and the same digest") {
  for (const char* algorithm : {"sequential", "magpie", "lagged:3", "periodic:4"}) {
    const Plan plan = read_config(high(fmt::format("algorithm: '{}'", algorithm)));
    const std::string text = low_level_of(plan);
    const Plan again = read_config(text);
    CHECK(again.digest == plan.digest);
    CHECK(low_level_of(again) == text);
    for (const char* name : {"sum", "end", "rows.1.from_previous", "work"}) {
      CHECK(graph(again, name).kind == graph(plan, name).kind);
      CHECK(graph(again, name).of == graph(plan, name).of);
      CHECK(graph(again, name).algorithm == graph(plan, name).algorithm);
    }
  }
}

TEST_CASE("graphs: a low level without the section graphs gives graphs without a kind") {
  CHECK(graph(read_config(low), "most").kind == "");
  CHECK(
      graph(read_config(low + "graphs: {most: {kind: allreduce, operation: max, template: f64}}\n"),
            "most")
          .kind == "allreduce");
}

TEST_CASE("graphs: a written graph must match the wrappers of its paths") {
  const auto said = [](const std::string& graphs) {
    return config_error(low + "graphs: " + graphs);
  };
  CHECK_THAT(said("{most: {kind: allreduce, operation: min, template: f64}}"),
             Contains("graph most: has operation: min, but join on its paths has max"));
  CHECK_THAT(
      said("{most: {kind: barrier}}"),
      Contains("is declared to be of kind barrier, but its paths meet in join of kind allreduce"));
  CHECK_THAT(said("{least: {kind: barrier}}"), Contains("graph least: no path belongs to it"));
  CHECK_THAT(said("{most: {kind: alreduce}}"), Contains("did you mean 'allreduce'?"));
  CHECK_THAT(said("{most: {operation: max}}"), Contains("kind: missing in graph most"));
  CHECK_THAT(said("{most: {kind: allreduce, template: f64, algorithm: magpi}}"),
             Contains("did you mean 'magpie'?"));
}

TEST_CASE("graphs: a written graph must match the checks at roots of clusters") {
  std::string text = low_level_of(read_config(high("operation: max, algorithm: magpie")));
  REQUIRE(config_error(text) == "nothing");
  const std::size_t check = text.find("condition_check");
  REQUIRE(check != std::string::npos);
  const std::string most = "operation: max";
  text.replace(text.find(most, check), most.size(), "operation: min");
  CHECK_THAT(config_error(text),
             Contains("graph sum: has operation: max, but condition_check on its paths has min"));
}
