// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/schedule_file_test.cpp — schedule files: written, read, and refused.
#include "collectives/planner/schedule_file.hpp"

#include <catch2/catch.hpp>

#include "collectives/planner/min3_plus.hpp"
#include "collectives/planner/planners.hpp"
#include "collectives/schedule/verifier.hpp"
#include "tests/collectives/planner/networks.hpp"
#include "tests/support/thrown.hpp"

using namespace planning;
using namespace test_support;
using collectives::Collective;

namespace {

/// Returns the mistakes in `text` as a schedule file, one per line.
std::string mistakes_of(const std::string& text, const Blocks& blocks) {
  return test_support::thrown<base::ConfigError>([&] {
    base::Mistakes mistakes;
    read_schedule(base::parse_settings(text, "file"), blocks, mistakes);
    mistakes.throw_if_any();
  });
}

constexpr auto two_hosts = R"(name: by hand
ports: {sending: 1, receiving: 1}
blocks: {a: 16, b: 8}
pieces:
  - [a, 0, 8]
  - [a, 8, 8]
  - [b, 0, 8]
transfers:
  - [a, b, 0, 0, 5]
  - [a, b, 1, 5, 10]
  - [b, a, 2, 0, 5]
)";

/// Returns the file `two_hosts` with the text `old` replaced with `now`.
std::string with(const std::string& old, const std::string& now) {
  std::string text = two_hosts;
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), now);
}

}  // namespace

TEST_CASE("schedule files: a written schedule of every contender reads back the same") {
  const pricing::Network network = network_of(five_hosts(), 2);
  const std::vector<std::string> names = five_names();
  const auto listed = collectives::Counts::listed({1000, 10, 0, 3000, 77});
  for (const auto& counts : {collectives::Counts::each(1000, 5), listed}) {
    const collectives::CollectiveSpec task{Collective::allgather, network.topology, counts};
    const Blocks blocks{names, counts, 4};
    auto contenders = rivals_of(network, counts, 4, std::chrono::microseconds(50));
    for (auto& plus : min3_plus(network, counts, 4, std::chrono::microseconds(50)))
      contenders.push_back(std::move(plus));
    compare(contenders, network, counts, 4);
    for (const Contender& one : contenders) {
      const std::string text = print(one, blocks);
      base::Mistakes mistakes;
      std::vector<Contender> read{
          read_schedule(base::parse_settings(text, "file"), blocks, mistakes)};
      mistakes.throw_if_any();
      INFO(text);
      CHECK(print(read.front(), blocks) == text);
      CHECK(read.front().name == one.name);
      compare(read, network, counts, 4);
      CHECK(read.front().time == one.time);
      CHECK(verify(read.front().algorithm, task, read.front().parameters).mistake == "");
      if (one.plan) CHECK(read.front().plan->digest() == one.plan->digest());
    }
  }
}

TEST_CASE("schedule files: bytes are converted to the elements of the reader") {
  const std::vector<std::string> names{"a", "b"};
  const auto bytes = collectives::Counts::listed({16, 8});
  const auto words = collectives::Counts::listed({2, 1});
  CHECK(mistakes_of(two_hosts, {names, bytes, 1}) == "nothing");
  CHECK(mistakes_of(two_hosts, {names, words, 8}) == "nothing");
  CHECK_THAT(
      mistakes_of(with("[a, 0, 8]\n  - [a, 8, 8]", "[a, 0, 4]\n  - [a, 4, 12]"), {names, words, 8}),
      Catch::Contains("expected whole elements of 8 bytes, found 4 bytes from 0 on"));
}

TEST_CASE("schedule files: algorithms with limits in bytes use those of the reader") {
  const std::vector<std::string> names{"a", "b"};
  const auto words = collectives::Counts::listed({2, 1});
  base::Mistakes mistakes;
  const Contender read = read_schedule(
      base::parse_settings("name: x\nblocks: {a: 16, b: 8}\nschedule: mpich:element=1\n", "file"),
      {names, words, 8}, mistakes);
  mistakes.throw_if_any();
  CHECK(read.parameters.number("element") == 8);
}

TEST_CASE("schedule files: all mistakes are reported with their places") {
  const std::vector<std::string> names{"a", "b"};
  const auto counts = collectives::Counts::listed({16, 8});
  const auto wrong = [&](const std::string& old, const std::string& now) {
    return mistakes_of(with(old, now), {names, counts, 1});
  };
  const auto [old, now, message] = GENERATE(table<std::string, std::string, std::string>({
      {"name: by hand\n", "", "name"},
      {"sending: 1", "sendin: 1", "did you mean 'sending'?"},
      {"sending: 1", "sending: many", "file:2"},
      {"receiving: 1", "half_duplex: true", "expected `receiving` of at least 1"},
      {"a: 16", "a: 17", "expected 16 bytes, which is what the operation has, found 17"},
      {"{a: 16, b: 8}", "{b: 8, a: 16}", "expected hosts in their order, a here, found b"},
      {"{a: 16, b: 8}", "{a: 16}", "expected 2 hosts, found 1; b is missing"},
      {"b: 8}", "c: 8}", "expected a host that takes part, found 'c'"},
      {"blocks: {a: 16, b: 8}", "blocks: 7", "expected a map"},
      {"  - [a, 8, 8]\n", "", "expected all 16 bytes of a, found 8"},
      {"[a, 8, 8]", "[a, 4, 8]", "expected the bytes behind 8 of its 16, found 8 from 4 on"},
      {"[a, 8, 8]", "[a, 8, 9]", "file:6"},
      {"[a, 8, 8]", "[a, 8]", "expected a piece"},
      {"[a, b, 0, 0, 5]", "[b, a, 0, 0, 5]", "b does not have it yet when it must send it"},
      {"[a, b, 0, 0, 5]", "[a, b, 1, 0, 5]", "piece 1: b has it already"},
      {"[a, b, 0, 0, 5]", "[a, a, 0, 0, 5]", "a has it already"},
      {"[a, b, 0, 0, 5]", "[a, b, 3, 0, 5]", "file:9"},
      {"[a, b, 0, 0, 5]", "[a, b, -1, 0, 5]", "file:9"},
      {"[a, b, 0, 0, 5]", "[a, b, 0, x, 5]", "when a transfer begins"},
      {"[a, b, 0, 0, 5]", "[a, x, 0, 0, 5]", "found 'x'"},
      {"[a, b, 0, 0, 5]", "a to b", "expected a transfer"},
      {"  - [b, a, 2, 0, 5]\n", "", "piece 2 never reaches a"},
      {"name: by hand", "nam: by hand", "nam"},
      {"pieces:", "schedule: rinng\npieces:", "did you mean 'ring'?"},
      {"pieces:", "schedule: ring:x=1\npieces:", "expected no parameters, found 'x'"},
      {"pieces:", "schedule: [ring]\npieces:", "expected an algorithm, found a list"},
  }));
  INFO(old << " -> " << now);
  CHECK_THAT(wrong(old, now), Catch::Contains(message));
}
