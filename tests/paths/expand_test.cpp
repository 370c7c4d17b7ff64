// SPDX-License-Identifier: Apache-2.0
// tests/paths/expand_test.cpp — expansion of clusters and collectives.
#include "paths/config/expand/expand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/read_config.hpp"

namespace {

using paths::Plan;
using namespace test_support;

/// Returns the names of the wrappers on the path of `graph` that begins on `host`, such as "join(2)
/// forward store".
std::string way(const Plan& plan, const std::string& graph, const std::string& host,
                std::uint32_t nth = 0) {
  for (const auto& path : plan.paths) {
    if (path.graph != graph || plan.hosts[path.host].name != host || nth-- > 0) continue;
    std::string text;
    for (auto id = path.stage; id != paths::no_stage; id = plan.stages[id].below) {
      const auto& wrapper = plan.wrappers[plan.stages[id].wrapper];
      const auto& kind = *wrappers::all_kinds().find(wrapper.kind);
      text += text.empty() ? "" : " ";
      text += wrapper.name.empty() ? wrapper.kind : wrapper.name;
      if (const auto* to = wrapper.settings.find("to")) text += ">" + to->text();
      if (kind.joins()) text += fmt::format("({})", wrapper.slots);
      if (!kind.roles.empty()) text += ":" + kind.roles.at(plan.stages[id].role);
    }
    return text;
  }
  return "no path";
}

const std::string two = R"(
clusters:
  a: {hosts: 2, threads: 2}
  b: {hosts: [x, y], threads: 2, gateway: gate, network: {latency: 50us}}
links:
  - {between: [a, b], latency: 10ms}
)";

std::string collective(const std::string& settings) {
  return "collectives:\n  s: {" + settings + "}\n";
}

}  // namespace

TEST_CASE("expand: a tree joins threads and then hosts and then clusters") {
  const Plan plan = read_config(two + collective("operation: sum, template: f64"));
  CHECK(way(plan, "s", "a-0") == "s.join.a-0(2) s.join.a(2) s.join(2) store");
  CHECK(way(plan, "s", "a-1") == "s.join.a-1(2) forward>a-0 s.join.a(2) s.join(2) store");
  CHECK(way(plan, "s", "y") ==
        "s.join.y(2) network.y:down forward>x network.x:up s.join.b(2) network.x:down "
        "forward>gate network.gate:up wan.b.a:down forward>a-0 wan.a.b:up s.join(2) store");
  CHECK(plan.elements[0].tuple_template.text() == "f64");
}

TEST_CASE("expand: all_to_all checks in every cluster and prefetches between all clusters") {
  const Plan plan =
      read_config(two + collective("operation: sum, template: f64, algorithm: magpie"));
  CHECK(way(plan, "s", "a-1") == "s.join.a-1(2) forward>a-0 s.join.a(2) condition_check store");
  CHECK(way(plan, "s", "a-0", 1) ==
        "prefetch wan.a.b:down forward>gate wan.b.a:up network.gate:down forward>x "
        "network.x:up observe");
  CHECK(way(plan, "s", "x", 1) ==
        "prefetch network.x:down forward>gate network.gate:up wan.b.a:down forward>a-0 "
        "wan.a.b:up observe");
  std::vector<std::string> elements;
  for (const auto& element : plan.elements) elements.push_back(element.name);
  CHECK(elements ==
        std::vector<std::string>{"s.result.a", "s.cache.a.b", "s.result.b", "s.cache.b.a"});
}

TEST_CASE("expand: caches are combined in the order of clusters with the own result among them") {
  const Plan plan =
      read_config(two + collective("operation: sum, template: f64, algorithm: magpie"));
  std::vector<std::string> combined;
  for (const auto& wrapper : plan.wrappers)
    if (wrapper.kind == "condition_check")
      for (const auto& item : wrapper.settings.find("combine")->items())
        combined.push_back(item.text());
  CHECK(combined ==
        std::vector<std::string>{"s.result.a", "s.cache.a.b", "s.cache.b.a", "s.result.b"});
}

TEST_CASE("expand: joins of one are left out except for a single thread") {
  const Plan plan = read_config("clusters:\n  a: {hosts: 2, threads: 1}\n" +
                                collective("operation: sum, template: f64"));
  CHECK(way(plan, "s", "a-0") == "s.join.a(2) store");
  for (const std::string kind : {"allreduce", "reduce", "broadcast", "barrier"}) {
    const Plan alone =
        read_config("clusters:\n  a: {hosts: 1}\n" +
                    collective("kind: " + kind + (kind == "barrier" ? "" : ", template: f64")));
    CHECK(way(alone, "s", "a-0") == "s.join.a-0(1) store");
  }
  const Plan two_threads = read_config("clusters:\n  a: {hosts: 1, threads: 2}\n" +
                                       collective("operation: sum, template: f64"));
  CHECK(way(two_threads, "s", "a-0") == "s.join.a-0(2) store");
}

TEST_CASE("expand: all_to_all of one cluster is a tree with a check") {
  const Plan plan = read_config("clusters:\n  a: {hosts: 2, threads: 1}\n" +
                                collective("operation: sum, template: f64, algorithm: conditional, "
                                           "condition: {less: 1}, contributions: non_negative"));
  CHECK(way(plan, "s", "a-1") == "forward>a-0 s.join.a(2) condition_check store");
}

TEST_CASE("expand: with a fan-out the hosts of a cluster form a tree") {
  const Plan plan = read_config("clusters:\n  a: {hosts: 7, threads: 1}\n" +
                                collective("operation: sum, template: f64, fan_out: 2"));
  CHECK(way(plan, "s", "a-0") == "s.join.a(3) store");
  CHECK(way(plan, "s", "a-1") == "s.fan.a-1(3) forward>a-0 s.join.a(3) store");
  CHECK(way(plan, "s", "a-6") == "forward>a-2 s.fan.a-2(3) forward>a-0 s.join.a(3) store");
}

TEST_CASE("expand: root chooses the host where a tree ends") {
  const Plan plan = read_config(two + collective("operation: sum, template: f64, root: b/y"));
  CHECK(way(plan, "s", "y") == "s.join.y(2) s.join.b(2) s.join(2) store");
  const Plan other = read_config(two + collective("operation: sum, template: f64"),
                                 given(&paths::Overrides::root, "a/a-1"));
  CHECK(way(other, "s", "a-1") == "s.join.a-1(2) s.join.a(2) s.join(2) store");
}

TEST_CASE("expand: slots follow the order of clusters for any root") {
  const Plan plan = read_config(two + collective("operation: sum, template: f64, root: b/y"));
  for (std::uint32_t wrapper = 0; wrapper < plan.wrappers.size(); ++wrapper) {
    if (plan.wrappers[wrapper].name != "s.join") continue;
    CHECK(plan.contributor(wrapper, 0) == "cluster a");
    CHECK(plan.contributor(wrapper, 1) == "cluster b");
  }
}

TEST_CASE("expand: a broadcast has its root in every join on the way") {
  const Plan plan = read_config(two + collective("kind: broadcast, template: f64, root: b/y"));
  const auto from = [&](const std::string& name) -> std::string {
    for (const auto& wrapper : plan.wrappers)
      if (wrapper.name == name) {
        const auto* setting = wrapper.settings.find("from");
        return setting != nullptr ? setting->text() : "none";
      }
    return "no wrapper";
  };
  CHECK(from("s.join.y") == "0");
  CHECK(from("s.join.b") == "1");
  CHECK(from("s.join") == "1");
  CHECK(from("s.join.x") == "none");
  CHECK(from("s.join.a") == "none");
}

TEST_CASE("expand: a barrier has the empty template") {
  const Plan plan = read_config(two + collective("kind: barrier"));
  CHECK(plan.elements[0].tuple_template.fields().empty());
  CHECK_THROWS_WITH(read_config(two + collective("kind: barrier, template: f64")),
                    Catch::Contains("unknown key 'template'"));
}

TEST_CASE("expand: a broadcast delay affects results in trees except at the root") {
  std::string text = two;
  text.replace(text.find("threads: 2, gateway"), 10, "broadcast_delay: 20ms, threads: 2");
  const std::string sum = "operation: sum, template: f64";
  CHECK(way(read_config(text + collective(sum)), "s", "x")
            .find("s.join.b(2) s.broadcast_delay.b:up network.x:down") != std::string::npos);
  CHECK(way(read_config(text + collective(sum + ", root: b/x")), "s", "x").find("delay") ==
        std::string::npos);
  CHECK(way(read_config(text + collective(sum + ", algorithm: magpie")), "s", "x").find("delay") ==
        std::string::npos);
}

TEST_CASE("expand: a link without latency and bandwidth is not emulated") {
  const Plan plan = read_config(
      "clusters:\n  a: {hosts: 1}\n  b: {hosts: 1}\nlinks:\n"
      "  - {between: [a, b], latency: 0s}\n" +
      collective("operation: sum, template: f64"));
  CHECK(way(plan, "s", "b-0") == "forward>a-0 s.join(2) store");
}

TEST_CASE("expand: directions of a link may differ") {
  const Plan plan = read_config(
      "clusters:\n  a: {hosts: 1}\n  b: {hosts: 1}\nlinks:\n"
      "  - {from: a, to: b, latency: 1ms}\n  - {from: b, to: a, latency: 9ms}\n" +
      collective("operation: sum, template: f64"));
  CHECK(way(plan, "s", "b-0") == "wan.b.a:down forward>a-0 wan.a.b:up s.join(2) store");
  for (const auto& wrapper : plan.wrappers) {
    if (wrapper.name == "wan.b.a") CHECK(wrapper.settings.find("latency")->text() == "9ms");
    if (wrapper.name == "wan.b.a") CHECK(plan.hosts[wrapper.host].name == "b-0");
  }
}

TEST_CASE("expand: collectors stand before every wrapper except the first one of a path") {
  const Plan plan = read_config(
      two + collective("operation: sum, template: f64, algorithm: magpie, instrument: true"));
  CHECK(way(plan, "s", "a-1") ==
        "event_collector s.join.a-1(2) event_collector forward>a-0 event_collector s.join.a(2) "
        "event_collector condition_check event_collector store");
  CHECK(way(plan, "s", "x", 1).find("prefetch event_collector network.x:down") == 0);
}

TEST_CASE("expand: elements reach hosts or clusters or all") {
  const std::string element = "elements:\n  log: {host: a-0, template: bytes, reach: ";
  const Plan all = read_config(two + element + "all}\n");
  CHECK(all.paths.size() == 4);
  CHECK(way(all, "log", "a-0") == "store");
  CHECK(all.elements[0].keep_newest == 0);
  CHECK(read_config(two + element + "[b]}\n").paths.size() == 2);
  CHECK(read_config(two + element + "[a-1, b, x]}\n").paths.size() == 3);
}

TEST_CASE("expand: collectors stand above a mapped element and not below it") {
  const std::string text = R"(
hosts:
  near: {threads: 2}
  owner: {threads: 1}
elements:
  log: {host: owner, template: f64, shared: true}
wrappers:
  sum: {kind: allreduce, host: near, operation: sum, template: f64}
paths:
  - graph: log
    host: near
    threads: 0-1
    through: [sum, map: {element: log}, forward: {to: owner}, store: {element: log}]
)";
  CHECK(way(read_config(text, traced()), "log", "near") ==
        "event_collector sum(2) event_collector map forward>owner store");
}

TEST_CASE("expand: own wrappers and paths stand next to expanded ones") {
  const Plan plan = read_config(two + collective("operation: sum, template: f64") + R"(
elements:
  mine: {host: a-1, template: u64}
wrappers:
  stamp: {kind: event_collector, host: a-1}
paths:
  - {graph: mine, host: a-1, threads: 0, through: [stamp, store: {element: mine}]}
)");
  CHECK(way(plan, "mine", "a-1") == "stamp store");
}

TEST_CASE("expand: program options change the digest as the config's algorithm does") {
  const std::string text = two + collective("operation: sum, template: f64");
  const Plan changed = read_config(text, given(&paths::Overrides::algorithm, "magpie"));
  CHECK(changed.digest != read_config(text).digest);
  CHECK(changed.digest ==
        read_config(two + collective("operation: sum, template: f64, algorithm: magpie")).digest);
}

TEST_CASE(
    "expand: exact over all_to_all pushes unless the config says pull and with pull it is magpie") {
  const auto digest = [](const std::string& words) {
    return read_config(two + collective("operation: sum, template: f64, " + words)).digest;
  };
  const auto exact = digest("algorithm: exact");
  const auto magpie = digest("algorithm: magpie");
  CHECK(exact != magpie);
  for (const std::string words :
       {"algorithm: 'exact:push'", "algorithm: 'magpie:push'", "graph: all_to_all",
        "graph: all_to_all, relaxation: exact", "graph: all_to_all, transfer: push"}) {
    INFO(words);
    CHECK(digest(words) == exact);
  }
  for (const std::string words :
       {"algorithm: 'exact:pull'", "graph: all_to_all, relaxation: exact, transfer: pull",
        "graph: all_to_all, relaxation: 'exact:pull'"}) {
    INFO(words);
    CHECK(digest(words) == magpie);
  }
  const auto periodic = digest("graph: all_to_all, relaxation: {periodic: 4}");
  CHECK(digest("algorithm: 'periodic:4'") == periodic);
  CHECK(digest("graph: all_to_all, relaxation: {periodic: 4}, transfer: pull") == periodic);
  CHECK(digest("graph: all_to_all, relaxation: {periodic: 4}, transfer: push") != periodic);
}

TEST_CASE("expand: speeds may be ratios of times") {
  const Plan plan = read_config("clusters:\n  a: {hosts: 2, speed: {a-1: 30/36}}\n" +
                                collective("operation: sum, template: f64"));
  CHECK(plan.hosts[0].speed == 1.0);
  CHECK(plan.hosts[1].speed == 30.0 / 36.0);
}

TEST_CASE("expand: 100000 threads are a plan of ranges") {
  std::string text = "clusters:\n";
  for (int cluster = 0; cluster < 1000; ++cluster)
    text += fmt::format("  c{}: {{hosts: 10, threads: 10}}\n", cluster);
  text += "links:\n";
  for (int cluster = 1; cluster < 1000; ++cluster)
    text += fmt::format("  - {{between: [c0, c{}], latency: 10ms}}\n", cluster);
  const Plan plan = read_config(text + collective("operation: sum, template: f64"));
  CHECK(plan.thread_count() == 100'000);
  CHECK(plan.paths.size() == 10'000);
  CHECK(plan.hosts.back().address == "tcp://127.0.0.1:17699");
}

TEST_CASE("expand: collectors stand before and after wrappers of the named kinds") {
  const auto ways = [](const std::string& instrument) {
    const paths::Plan plan =
        read_config(two + collective("operation: sum, template: f64, instrument: " + instrument));
    std::string kinds;
    for (paths::StageId stage = plan.paths.back().stage; stage != paths::no_stage;
         stage = plan.stages[stage].below)
      kinds += plan.wrappers[plan.stages[stage].wrapper].kind + " ";
    return kinds;
  };
  const std::string without = ways("false");
  std::string all, around_joins;
  std::istringstream words(without);
  bool was_join = false;
  for (std::string kind; words >> kind; was_join = kind == "allreduce") {
    all += "event_collector " + kind + " ";
    around_joins += (was_join || kind == "allreduce" ? "event_collector " : "") + kind + " ";
  }
  CHECK(ways("true") == all);
  CHECK(ways("allreduce") == around_joins);
  CHECK(ways("[allreduce]") == around_joins);
  CHECK(ways("[]") == without);
}

TEST_CASE("expand: a traced run instruments whatever does not refuse it at either level") {
  const auto collectors = [](const paths::Plan& plan) {
    return std::count_if(plan.wrappers.begin(), plan.wrappers.end(),
                         [](const auto& wrapper) { return wrapper.kind == "event_collector"; });
  };
  const std::string sum = two + collective("operation: sum, template: f64");
  const std::string silent = two + collective("operation: sum, template: f64, instrument: false");
  const auto read_traced = [](const std::string& text) { return read_config(text, traced()); };
  CHECK(collectors(read_traced(sum)) > 0);
  CHECK(collectors(read_traced(silent)) == 0);
  const std::string low = low_level_of(read_config(silent));
  const std::string collected = low_level_of(read_traced(low));
  CHECK(collectors(read_traced(low)) == collectors(read_traced(sum)));
  CHECK(low_level_of(read_traced(collected)) == collected);
}
