// SPDX-License-Identifier: Apache-2.0
// tests/paths/config_test.cpp — the low level of a config, read, printed and read again.

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include "base/errors.hpp"
#include "paths/config/algorithm.hpp"
#include "paths/joins/cluster_tuples.hpp"
#include "paths/joins/condition.hpp"
#include "tests/support/read_config.hpp"

namespace {

using paths::Plan;
using namespace std::chrono_literals;
using namespace test_support;

const std::string hosts = R"(
hosts:
  a: {cluster: one, threads: 3}
  b: {cluster: one, threads: 2}
elements:
  result: {host: a, template: f64, keep_newest: 1}
)";
const std::string wrappers_section = R"(
wrappers:
  join: {kind: allreduce, host: a, operation: sum, template: f64}
  wan: {kind: emulate_link, host: b, latency: 10ms}
)";
const std::string paths_section = R"(
paths:
  - {graph: sum, host: a, threads: 0-1, through: [join, store: {element: result}]}
  - graph: sum
    host: b
    threads: 0-1
    through: [wan: down, forward: {to: a}, join, store: {element: result}]
  - {graph: sum, host: a, threads: 2, through: [join, store: {element: result}]}
  - graph: own
    host: b
    threads: 1
    through: [wan: down, forward: {to: a}, store: {element: result}]
)";

const std::string text = hosts + wrappers_section + paths_section;

}  // namespace

TEST_CASE(
    "config: paths share stages from a join on and slots are numbered in the order of paths") {
  const Plan plan = read_config(text);
  REQUIRE(plan.paths.size() == 4);
  CHECK(plan.paths[0].stage == plan.paths[2].stage);
  CHECK(plan.paths[0].slot == 0);
  CHECK(plan.paths[2].slot == 4);
  const auto& join = plan.wrappers[plan.stages[plan.paths[0].stage].wrapper];
  CHECK(join.name == "join");
  CHECK(join.slots == 5);
  // The path of host b has two threads. The link and the forward of this path do not combine the
  // operations of the threads. The operations therefore arrive at the join in two slots, 2 and 3.
  const auto& link = plan.stages[plan.paths[1].stage];
  const auto& forward = plan.stages[link.below];
  CHECK(link.slot == 0);
  CHECK(forward.slot == 2);
  CHECK(forward.below == plan.paths[0].stage);
}

TEST_CASE("config: a wrapper that does not join is one instance on many paths") {
  const Plan plan = read_config(text);
  const auto& first = plan.stages[plan.paths[1].stage];
  const auto& other = plan.stages[plan.paths[3].stage];
  CHECK(plan.paths[1].stage != plan.paths[3].stage);
  CHECK(first.wrapper == other.wrapper);
  CHECK(plan.wrappers[first.wrapper].slots == 3);
}

TEST_CASE("config: a printed plan reads back with the same digest and prints the same text") {
  const Plan plan = read_config(text);
  const std::string low_level = low_level_of(plan);
  const Plan again = read_config(low_level);
  CHECK(again.digest == plan.digest);
  CHECK(low_level_of(again) == low_level);
}

TEST_CASE("config: every config that ships and its expansion can be read with every algorithm",
          "[without_asan]") {
  const std::filesystem::path folder = std::string(PATHS_SOURCE_DIR) + "/configs";
  const std::vector<std::string> algorithms = {
      "sequential", "magpie",   "conditional",        "exact",
      "periodic:5", "lagged:2", "conditional:demand", "budget:8,4"};
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    const std::string file = entry.path().string();
    const bool has_collectives = base::load_settings(file).find("collectives") != nullptr;
    for (const std::string& algorithm : has_collectives ? algorithms : std::vector<std::string>{""})
      for (const bool instrument : {false, true}) {
        INFO(entry.path() << " " << algorithm);
        paths::Overrides overrides;
        if (!algorithm.empty()) overrides.algorithm = algorithm;
        overrides.instrument = instrument;
        const Plan plan = paths::load_plan(file, wrappers::all_kinds(), overrides);
        // File names of the links' traces are relative to the folder of the config.
        const auto expanded =
            base::parse_settings(low_level_of(plan), (folder / "expanded.yaml").string());
        CHECK(paths::read_plan(expanded, wrappers::all_kinds()).digest == plan.digest);
      }
  }
  CHECK(count >= 5);
}

TEST_CASE("config: addresses are generated in the order of hosts") {
  const Plan tcp = read_config(text + "network: {port: 9000}\n");
  CHECK(tcp.hosts[0].address == "tcp://127.0.0.1:9000");
  CHECK(tcp.hosts[1].address == "tcp://127.0.0.1:9001");
  const Plan ipc = read_config(text + "network: {transport: ipc}\n");
  CHECK(ipc.hosts[1].address == "ipc://test/b");
}

TEST_CASE("config: program options change port and transport at both levels") {
  const std::string low_level = low_level_of(read_config(text));
  CHECK(read_config(low_level, given(&paths::Overrides::port, 9100)).hosts[1].address ==
        "tcp://127.0.0.1:9101");
  const Plan ipc = read_config(low_level, given(&paths::Overrides::transport, "ipc"));
  CHECK(ipc.transport->word == "ipc");
  CHECK(ipc.hosts[1].address == "ipc://test/b");
}

TEST_CASE("config: program options for the high level are refused at the low level") {
  paths::Overrides overrides = given(&paths::Overrides::root, "one/a");
  overrides.algorithm = "magpie";
  overrides.instrument = true;
  CHECK_THAT(config_error(text, overrides), Catch::Contains("--algorithm") &&
                                                Catch::Contains("--root") &&
                                                Catch::Contains("--instrument"));
}

TEST_CASE("config: liveness states when hosts send signs of life and when a silent one is gone") {
  const std::string text = "clusters: {a: {hosts: 1}, b: {hosts: 1}}\n";
  const std::string link = "links: [{between: [a, b], latency: 500ms}]\n";
  const auto times = [&](const std::string& more) { return read_config(text + more).liveness; };
  CHECK(times("").beat == 1s);
  CHECK(times("").silent == 15s);
  CHECK(times(link).beat == 4s);  // four round trips
  CHECK(times(link).silent == 60s);
  const Plan::Liveness written = times("network: {liveness: {beat: 100ms, silent: 2s}}\n");
  CHECK(written.beat == 100ms);
  CHECK(written.silent == 2s);
  CHECK(times("network: {liveness: {beat: 2s}}\n").silent == 30s);
  CHECK(times(link + "network: {liveness: {silent: 30s}}\n").beat == 4s);
  CHECK(times(link + "network: {liveness: {}}\n").silent == 60s);
  CHECK(times("network: {liveness: {beat: 10000h}}\n").silent == 150'000h);
  CHECK(times("links: [{between: [a, b], latency: 100000h}]\n").silent == 150'000h);
  const auto wrong = [&](const std::string& liveness, const std::string& what) {
    INFO(liveness);
    CHECK_THROWS_WITH(read_config(text + link + "network: {liveness: " + liveness + "}\n"),
                      Catch::Contains(what) && Catch::Contains(":3:"));
  };
  wrong("7s", "liveness: expected a map with `beat` and `silent`");
  wrong("{beat: 0}", "beat: expected a time");
  wrong("{beat: 0ms}", "beat: expected more than 0");
  wrong("{beat: 10001h}", "beat: expected at most 10000h, found '10001h'");
  wrong("{beat: 1s, silent: 20s}", "beat: expected at least 4s, four round trips");
  wrong("{beat: 4s, silent: 3s}", "silent: expected at least 4s, four round trips");
  wrong("{beat: 8s, silent: 6s}", "silent: expected at least 8s, the beat");
  wrong("{beats: 8s}", "beats");
}

TEST_CASE("config: hosts beyond the limit are refused before they are made") {
  const auto config_of = [](const std::string& hosts) {
    std::string text = "clusters:\n";
    for (int cluster = 0; cluster < 11; ++cluster)
      text +=
          fmt::format("  c{}: {{hosts: {}}}\n", cluster, fmt::format(fmt::runtime(hosts), cluster));
    return text;
  };
  for (const std::string hosts :
       {"100000", "\"n{}-[1-100000]\"", "[\"n{0}-[1-60000]\", \"m{0}-[1-60000]\", l{0}]"}) {
    INFO(hosts);
    CHECK_THROWS_WITH(read_config(config_of(hosts)),
                      Catch::Contains("expected at most 1000000 hosts in total, found 1"));
  }
  // Names of hosts may be numbers.
  CHECK(read_config(config_of("[9{0:03}01, 9{0:03}02]") + "links: {all: {latency: 1ms}}\n")
            .hosts.size() == 22);
}

TEST_CASE("config: addresses beyond loopback require the key security") {
  CHECK_THROWS_WITH(read_config(text + "network: {address: 10.0.0.1}\n"),
                    Catch::Contains("a `security` of run, network, plain"));
  for (const std::string_view word : Plan::security_words) {
    const Plan plan =
        read_config(text + fmt::format("network: {{address: 10.0.0.1, security: {}}}\n", word));
    CHECK(plan.hosts[1].address == "tcp://10.0.0.1:7701");
    CHECK(plan.security == Plan::security_named(word));
  }
  CHECK_THROWS_WITH(read_config(text + "network: {security: loopback}\n"),
                    Catch::Contains("loopback") && Catch::Contains("plain"));
}

TEST_CASE("config: a written deadline is part of the plan and the default is not") {
  CHECK_FALSE(read_config(text).deadline_written);
  const Plan plan = read_config(text + "deadline: 5s\n");
  CHECK(plan.deadline_written);
  CHECK(plan.deadline == std::chrono::seconds(5));
  CHECK(plan.digest != read_config(text).digest);
}

TEST_CASE("config: a deep path is refused before it could overflow the stack") {
  std::string through;
  for (int hop = 0; hop < 300; ++hop) through += "event_collector: {}, ";
  CHECK_THROWS_WITH(read_config(hosts + "paths:\n  - {graph: g, host: a, threads: 0, through: [" +
                                through + "store: {element: result}]}\n"),
                    Catch::Contains("at most 256 wrappers"));
}

TEST_CASE("condition: a part proves exactly what no further contribution can undo") {
  using paths::Comparison;
  const auto outcome = [](const char* operation, base::Sign sign, Comparison comparison) {
    return paths::provable_outcome(operation, sign, comparison);
  };
  const auto up = base::Sign::non_negative, down = base::Sign::non_positive;
  CHECK(outcome("sum", up, Comparison::greater) == true);
  CHECK(outcome("sum", up, Comparison::at_least) == true);
  CHECK(outcome("sum", up, Comparison::less) == false);
  CHECK(outcome("sum", up, Comparison::at_most) == false);
  CHECK(outcome("sum", up, Comparison::equal) == false);
  CHECK(outcome("sum", down, Comparison::less) == true);
  CHECK(outcome("sum", down, Comparison::greater) == false);
  CHECK(outcome("sum", base::Sign::any, Comparison::less) == std::nullopt);
  CHECK(outcome("max", base::Sign::any, Comparison::greater) == true);
  CHECK(outcome("min", base::Sign::any, Comparison::at_most) == true);
  CHECK(outcome("min", base::Sign::any, Comparison::equal) == false);
  CHECK(outcome("logical_or", base::Sign::any, Comparison::is_true) == true);
  CHECK(outcome("logical_and", base::Sign::any, Comparison::is_true) == false);
  CHECK(outcome("logical_or", base::Sign::any, Comparison::less) == std::nullopt);
  CHECK(outcome("product", up, Comparison::greater) == std::nullopt);
  CHECK(outcome("logical_xor", up, Comparison::is_true) == std::nullopt);
}

TEST_CASE("condition: equal is proved false only beyond the constant") {
  const paths::ConditionSpec spec{paths::Comparison::equal, base::Scalar::i32, std::int64_t{5}};
  const auto proves = [&](const char* operation, std::int32_t part) {
    const auto payload = base::Payload::of(part);
    return paths::proves(spec, operation, base::Sign::non_negative, payload.bytes());
  };
  CHECK_FALSE(proves("sum", 4));
  CHECK_FALSE(proves("sum", 5));
  CHECK(proves("sum", 6));
  CHECK(proves("min", 4));
  CHECK_FALSE(proves("min", 5));
  CHECK_FALSE(proves("min", 6));
}

TEST_CASE("condition: large integers are compared as integers") {
  const std::int64_t constant = (std::int64_t{1} << 53) + 1;
  const paths::ConditionSpec spec{paths::Comparison::less, base::Scalar::i64, constant};
  CHECK(paths::holds(spec, base::Payload::of(constant - 1).bytes()));
  CHECK_FALSE(paths::holds(spec, base::Payload::of(constant).bytes()));
  const std::uint64_t most = ~std::uint64_t{0};
  const paths::ConditionSpec top{paths::Comparison::at_least, base::Scalar::u64, most};
  CHECK(paths::holds(top, base::Payload::of(most).bytes()));
  CHECK_FALSE(paths::holds(top, base::Payload::of(most - 1).bytes()));
}

TEST_CASE("condition: ieee values are refused if a part would not prove the condition") {
  using base::Scalar;
  using base::Sign;
  using base::Values;
  using paths::Comparison;
  const auto why = [](const char* operation, Sign sign, Comparison comparison, Scalar scalar,
                      Values values = Values::ieee) {
    return paths::why_not_provable(operation, sign, comparison, scalar, values);
  };
  // A sum of integers can overflow, so that more contributions bring it below the constant again.
  for (const Comparison comparison : {Comparison::less, Comparison::greater, Comparison::equal}) {
    CHECK_THAT(why("sum", Sign::non_negative, comparison, Scalar::u64),
               Catch::Contains("a sum of u64 wraps round"));
    CHECK(why("sum", Sign::non_negative, comparison, Scalar::u64, Values::checked).empty());
    CHECK(why("max", Sign::any, comparison, Scalar::i32).empty());
  }
  // Every comparison with NaN fails. A further NaN can therefore undo a proof that a condition
  // holds, but not a proof that it fails.
  for (const char* operation : {"sum", "max"}) {
    CHECK_THAT(why(operation, Sign::non_negative, Comparison::greater, Scalar::f64),
               Catch::Contains("holds no more when a NaN is added"));
    CHECK(why(operation, Sign::non_negative, Comparison::less, Scalar::f64).empty());
    CHECK(why(operation, Sign::non_negative, Comparison::equal, Scalar::f32).empty());
  }
  CHECK_FALSE(why("min", Sign::any, Comparison::at_most, Scalar::f32).empty());
  CHECK(why("logical_or", Sign::any, Comparison::is_true, Scalar::f64).empty());
}

TEST_CASE("condition: NaN satisfies no comparison and is true") {
  const auto nan = base::Payload::of(std::nan(""));
  paths::ConditionSpec spec;
  spec.constant = 0.5;
  using paths::Comparison;
  for (const Comparison comparison : {Comparison::less, Comparison::at_most, Comparison::greater,
                                      Comparison::at_least, Comparison::equal}) {
    spec.comparison = comparison;
    CHECK_FALSE(paths::holds(spec, nan.bytes()));
  }
  spec.comparison = Comparison::is_true;
  CHECK(paths::holds(spec, nan.bytes()));
}

TEST_CASE("condition: the partial template holds the value and the last exact pair") {
  CHECK(paths::partial_template(*pastset::Template::parse("f64")).text() ==
        "partial: u64, u64, f64, u8, u64, f64");
}

TEST_CASE("config: an error about the numbers of a word names the allowed numbers") {
  const auto wrong_of = [](const std::string& word) {
    std::string wrong;
    CHECK(!paths::parse_algorithm(word, "allreduce", wrong));
    return wrong;
  };
  for (const std::string word : {"budget:4,8", "budget:4,0", "budget:8"})
    CHECK(wrong_of(word) ==
          "expected budget:HORIZON,EVERY with HORIZON from 1 to 1000000 and EVERY from 1 to "
          "HORIZON, found '" +
              word + "'");
  for (const std::string word : {"lagged:0", "lagged:99999999999"})
    CHECK(wrong_of(word) ==
          "expected lagged:ROUNDS with ROUNDS from 1 to 1000000, found '" + word + "'");
  CHECK(wrong_of("periodic:0") ==
        "expected periodic:EVERY with EVERY from 1 to 1000000, found 'periodic:0'");
  CHECK_THAT(wrong_of("conditional:subscribe:0"),
             Catch::Contains("conditional:subscribe:TUPLES with TUPLES from 1 to 1000000, found"));
}

TEST_CASE("config: a wrong number of hosts does not hide mistakes in other keys of the cluster") {
  for (const std::string hosts : {"010", "two", "0", "[]", "{}"}) {
    try {
      read_config("clusters: {a: {hosts: " + hosts + ", threads: 1e3, speed: fast}}\n");
      FAIL("the mistakes were accepted");
    } catch (const base::ConfigError& error) {
      INFO(error.what());
      REQUIRE(error.mistakes().size() == 3);
      CHECK_THAT(error.mistakes()[0].message, Catch::StartsWith("hosts: expected"));
      CHECK_THAT(error.mistakes()[1].message, Catch::StartsWith("threads: expected"));
      CHECK_THAT(error.mistakes()[2].message, Catch::StartsWith("speed: expected"));
    }
  }
}
