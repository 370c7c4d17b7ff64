// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/decision_table_test.cpp — reading, lookup and printing of tables of
// schedules.
#include "collectives/tuner/decision_table.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

namespace {

using base::ConfigError;
using collectives::Collective;
using collectives::Order;
using tuner::DecisionTable;
using tuner::Shape;

const std::string example = R"(decisions: 1
about: {made: 2026-11-22, by: race}
allreduce:
  - shape: {clusters: 2, hosts: 8, machines: 2}
    transport: tcp
    order: in order
    rows:
      - up_to: 2KiB
        use: recursive_doubling
        why:
          {time: 31ms, predicted: 30.2ms, next: "tree:shape=flat", next_time: 33.1ms, runs: 12,
           candidates: trees, under: "sh -c \"a\\nb\""}
      - {up_to: 64KiB, use: "multilevel:shapes=flat/knomial,arity=4"}
      - up_to: inf
        use: "multilevel:shapes=flat/chain"
        segment: 32KiB
        pinned: true
        note: "Monday's runs"
)";
const Shape eight{.clusters = 2, .hosts = 8, .machines = 2, .transport = "tcp"};

DecisionTable read(const std::string& text) {
  base::Mistakes mistakes;
  DecisionTable table(base::parse_settings(text, "t.yaml"), mistakes);
  mistakes.throw_if_any();
  return table;
}

/// Returns the number of the row that a lookup finds, from 0; nullopt if no row applies.
std::optional<std::size_t> row_of(const DecisionTable& table, tuner::Bytes size,
                                  const Shape& shape = eight, Order worst = Order::in_order) {
  const auto found = table.find(Collective::allreduce, shape, worst, size);
  if (!found) return std::nullopt;
  return static_cast<std::size_t>(found->decision - found->section->rows.data());
}

std::vector<std::string> mistakes_in(const std::string& text) {
  std::vector<std::string> all;
  try {
    read(text);
  } catch (const ConfigError& error) {
    for (const auto& [position, message] : error.mistakes())
      all.push_back(fmt::format("{}: {}", position.text(), message));
  }
  return all;
}

std::string with_rows(const std::string& rows, const std::string& collective = "allreduce") {
  return fmt::format("decisions: 1\n{}:\n  - rows:\n{}", collective, rows);
}

}  // namespace

TEST_CASE("decisions: a size takes the row with the least limit that is not below it") {
  const DecisionTable table = read(example);
  CHECK(row_of(table, 0) == 0);
  CHECK(row_of(table, 8) == 0);
  CHECK(row_of(table, 2048) == 0);
  CHECK(row_of(table, 2049) == 1);
  CHECK(row_of(table, 65536) == 1);
  CHECK(row_of(table, 65537) == 2);
  CHECK(row_of(table, tuner::Decision::no_limit) == 2);
}

TEST_CASE("decisions: lengths in bytes become whole elements") {
  const DecisionTable table = read(example);
  const tuner::Decision& chain = table.sections()[0].rows[2];
  CHECK(chain.parameters_for(8, 1 << 20).word("segment") == "4096");
  CHECK(chain.parameters_for(24, 1 << 20).word("segment") == "1365");
  CHECK(chain.parameters_for(65536, 1 << 20).word("segment") == "1");
  // 0 = the whole vector is one segment.
  CHECK(chain.parameters_for(8, 32 * 1024).word("segment") == "0");
}

TEST_CASE("decisions: a row is for its group and transport and order of sums only") {
  const DecisionTable table = read(example);
  CHECK(row_of(table, 8, {.clusters = 3, .hosts = 8, .machines = 2, .transport = "tcp"}) ==
        std::nullopt);
  CHECK(row_of(table, 8, {.clusters = 2, .hosts = 8, .machines = 1, .transport = "tcp"}) ==
        std::nullopt);
  CHECK(row_of(table, 8, {.clusters = 2, .hosts = 8, .machines = 2, .transport = "ipc"}) ==
        std::nullopt);
  CHECK(row_of(table, 8, eight, Order::canonical) == std::nullopt);
  CHECK(row_of(table, 8, eight, Order::by_block) == 0);
  CHECK(!table.find(Collective::broadcast, eight, Order::differs, 8));
}

TEST_CASE("decisions: a row for at most twice or half as many hosts is borrowed") {
  const DecisionTable table = read(example);
  for (const std::uint32_t hosts : {4, 5, 9, 16}) {
    Shape other = eight;
    other.hosts = hosts;
    const auto found = table.find(Collective::allreduce, other, Order::in_order, 8);
    REQUIRE(found);
    CHECK(found->is_borrowed);
  }
  for (const std::uint32_t hosts : {3, 17}) {
    Shape other = eight;
    other.hosts = hosts;
    CHECK(!table.find(Collective::allreduce, other, Order::in_order, 8));
  }
  CHECK(!table.find(Collective::allreduce, eight, Order::in_order, 8)->is_borrowed);
}

TEST_CASE("decisions: pinned rows come first and then exact groups and ranges and near groups") {
  const auto section = [](const std::string& hosts, const std::string& row) {
    return fmt::format(
        "  - {{shape: {{hosts: {}, clusters: 1}}, rows: [{{up_to: inf, use: {}}}]}}\n", hosts, row);
  };
  const std::string head = "decisions: 1\nallreduce:\n";
  const std::string near = section("9", "\"tree:shape=chain\""),
                    range = section("4..16", "\"tree:shape=flat\""),
                    exact = section("8", "recursive_doubling");
  const auto use_for = [](const std::string& text) {
    const DecisionTable table = read(text);
    return table
        .find(Collective::allreduce, {.clusters = 1, .hosts = 8, .transport = "tcp"},
              Order::by_block, 8)
        ->decision->use();
  };
  CHECK(use_for(head + near + range + exact) == "recursive_doubling");
  CHECK(use_for(head + near + range) == "tree:shape=flat");
  CHECK(use_for(head + near) == "tree:shape=chain");
  const std::string pinned =
      "  - {shape: {hosts: any}, rows: [{up_to: inf, use: rabenseifner, pinned: true}]}\n";
  CHECK(use_for(head + exact + range + pinned) == "rabenseifner");
}

TEST_CASE("decisions: of sections for one group the one with fewer ranges comes first") {
  const auto section = [](const std::string& keys, const std::string& use) {
    return fmt::format("  - {{{}, rows: [{{up_to: inf, use: {}}}]}}\n", keys, use);
  };
  const std::string head = "decisions: 1\nallreduce:\n";
  const std::string tuned =
      section("shape: {clusters: 2, hosts: 8, machines: 2}, transport: tcp", "recursive_doubling");
  const std::vector<std::string> looser = {
      section("shape: {clusters: 2, hosts: 8}", "rabenseifner"),
      section("shape: {clusters: 2, hosts: 8}, transport: tcp", "rabenseifner"),
      section("shape: {clusters: 2, hosts: 8, machines: 2}", "rabenseifner"),
      section("shape: {clusters: 2, hosts: 8, machines: 1..4}, transport: tcp", "rabenseifner"),
  };
  for (const std::string& other : looser)
    for (const std::string& text : {head + other + tuned, head + tuned + other}) {
      INFO(text);
      const DecisionTable table = read(text);
      const auto found = table.find(Collective::allreduce, eight, Order::in_order, 8);
      REQUIRE(found);
      CHECK(found->decision->use() == "recursive_doubling");
    }
}

TEST_CASE("decisions: all mistakes are reported together with their positions") {
  const std::string text =
      "decisions: 2\n"
      "alreduce: []\n"
      "allreduce:\n"
      "  - shape: {clusters: 0, hosts: 8..4, cores: 2}\n"
      "    transport: carrier-pigeon\n"
      "    rows:\n"
      "      - {up_to: 2KiB, use: recursive_dobling}\n"
      "      - {up_to: 1KiB, use: \"tree:shape=chain,segment=5\"}\n"
      "      - {up_to: 4KiB, use: recursive_doubling, segment: 8KiB}\n"
      "      - {up_to: 1XB, use: \"tree:shap=chain\", pinned: perhaps}\n"
      "broadcast:\n"
      "  - {order: canonical, rows: [{up_to: inf, use: recursive_doubling}]}\n";
  const std::vector<std::string> all = mistakes_in(text);
  const auto has = [&](const std::string& words) {
    INFO(words);
    CHECK(std::any_of(all.begin(), all.end(), [&](const std::string& one) {
      return one.find(words) != std::string::npos;
    }));
  };
  for (const std::string& one : all) UNSCOPED_INFO(one);
  has("t.yaml:1:12: decisions: this version of PATHS reads tables up to version 1, found 2");
  has("did you mean 'allreduce'?");
  has("t.yaml:4:23: clusters: expected a number such as 8, a range such as 5..16, or any, found "
      "'0'");
  has("found '8..4'");
  has("cores");
  has("carrier-pigeon");
  has("recursive_dobling");
  has("t.yaml:8:9: up_to: expected more than 2KiB, the limit of the row before, found 1KiB");
  has("expected the segment as a key of the row, in bytes");
  has("recursive_doubling has no segment");
  has("expected a size such as 2KiB, or inf, found '1XB'");
  has("shap");
  has("expected true or false");
  has("broadcast has no sums");
  has("recursive_doubling does no broadcast");
}

TEST_CASE("decisions: a wrong algorithm does not make the keys of its row unknown") {
  for (const std::string use : {"ring", "broadcast_only", "dissemination"}) {
    const auto mistakes =
        mistakes_in(with_rows("      - {up_to: inf, use: " + use + ", segment: 4KiB}\n"));
    REQUIRE(mistakes.size() == 1);
    CHECK_THAT(mistakes[0], Catch::Contains(use));
  }
}

TEST_CASE("decisions: a table without a last row or with two sections for a group is refused") {
  CHECK(
      mistakes_in(with_rows("      - {up_to: 2KiB, use: recursive_doubling}\n")) ==
      std::vector<std::string>{
          "t.yaml:4:9: up_to: expected inf in the last row, found 2KiB; larger sizes have no row"});
  const std::string section =
      "  - {shape: {hosts: 4}, rows: [{up_to: inf, use: recursive_doubling}]}\n";
  const auto twice = mistakes_in("decisions: 1\nallreduce:\n" + section + section);
  REQUIRE(twice.size() == 1);
  CHECK_THAT(twice[0],
             Catch::Contains("a second section for the same groups; the first is at t.yaml:3"));
  CHECK(mistakes_in("allreduce: []\n") ==
        std::vector<std::string>{"t.yaml:1:1: decisions: expected the version, 1, found none"});
}

TEST_CASE("decisions: a printed table reads back to the same rows") {
  const DecisionTable table = read(example);
  const std::string printed = print_decisions(table.sections(), *table.settings().find("about"));
  const DecisionTable again = read(printed);
  CHECK(print_decisions(again.sections(), *again.settings().find("about")) == printed);
  REQUIRE(again.sections().size() == 1);
  REQUIRE(again.sections()[0].rows.size() == 3);
  for (std::size_t row = 0; row < 3; ++row) {
    const tuner::Decision& before = table.sections()[0].rows[row];
    const tuner::Decision& now = again.sections()[0].rows[row];
    CHECK(now.up_to == before.up_to);
    CHECK(now.use() == before.use());
    CHECK(now.length == before.length);
    CHECK(now.is_pinned == before.is_pinned);
    CHECK(now.note == before.note);
    CHECK(now.why.time == before.why.time);
    CHECK(now.why.next == before.why.next);
    CHECK(now.why.candidates == before.why.candidates);
    CHECK(now.why.under == before.why.under);
  }
}
