// SPDX-License-Identifier: Apache-2.0
// tests/paths/node_list_test.cpp — names of nodes in the short form of Slurm.
#include "paths/config/node_list.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/support/read_config.hpp"

namespace {

using test_support::config_error;
using test_support::read_config;
using Names = std::vector<std::string>;

Names names_of(const std::string& text) {
  const paths::NodeList list = paths::read_node_list(text, 1000);
  INFO(text << ": " << list.mistake);
  REQUIRE(list.mistake.empty());
  return list.names;
}

std::string mistake_of(const std::string& text) {
  const paths::NodeList list = paths::read_node_list(text, 1000);
  CHECK(list.names.empty());
  return list.mistake;
}

Names hosts_of(const paths::Plan& plan) {
  Names names;
  for (const auto& host : plan.hosts) names.push_back(host.name);
  return names;
}

}  // namespace

TEST_CASE("node list: ranges and commas and several brackets are expanded in order") {
  CHECK(names_of("node[1-3]") == Names{"node1", "node2", "node3"});
  CHECK(names_of("node[7,9-10]") == Names{"node7", "node9", "node10"});
  CHECK(names_of("a,b[2-3],c") == Names{"a", "b2", "b3", "c"});
  CHECK(names_of("r[0-1]n[0-1]-ib") == Names{"r0n0-ib", "r0n1-ib", "r1n0-ib", "r1n1-ib"});
  CHECK(names_of("[4-5]") == Names{"4", "5"});
  CHECK(names_of("lonely") == Names{"lonely"});
}

TEST_CASE("node list: a number has as many digits as the first of its range") {
  CHECK(names_of("n[08-11]") == Names{"n08", "n09", "n10", "n11"});
  CHECK(names_of("n[8-11]") == Names{"n8", "n9", "n10", "n11"});
  CHECK(names_of("n[098-101]") == Names{"n098", "n099", "n100", "n101"});
  CHECK(names_of("n[1,02]") == Names{"n1", "n02"});
}

TEST_CASE("node list: an invalid list is refused with the position in it") {
  CHECK(mistake_of("node[01-") == "character 9: expected a number, found the end");
  CHECK(mistake_of("node[01-16") == "character 11: expected ',', '-' or ']', found the end");
  CHECK(mistake_of("node[1-3]]") == "character 10: expected ',' or the end, found ']'");
  CHECK(mistake_of("node[a-b]") == "character 6: expected a number, found 'a'");
  CHECK(mistake_of("node[3-1]") == "character 6: expected a range that counts up, found '3-1'");
  CHECK(mistake_of("node[1-3/2]") == "character 9: expected ',', '-' or ']', found '/'");
  CHECK(mistake_of("node[]") == "character 6: expected a number, found ']'");
  CHECK(mistake_of("a,,b") == "character 3: expected a name, found ','");
  CHECK(mistake_of("a,") == "character 3: expected a name, found the end");
  CHECK(mistake_of("") == "character 1: expected a name, found the end");
  CHECK(mistake_of("node[1-1001]") == "character 6: expected at most 1000 names, found more");
  CHECK(mistake_of("a[1-100]b[1-11]") == "character 1: expected at most 1000 names, found more");
  CHECK(mistake_of("a,b[1-1000]") == "character 5: expected at most 1000 names, found more");
  CHECK(mistake_of("n[0-99999999999999999999]") == "character 3: expected at most 18 digits");
}

TEST_CASE("node list: any text is read or refused with a position in it") {
  const std::uint64_t seed = Catch::rngSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  constexpr std::string_view letters = "ab019[]--,,";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t j = random() % 16; j > 0; --j) text += letters[random() % letters.size()];
    CAPTURE(text);
    const paths::NodeList list = paths::read_node_list(text, 1000);
    REQUIRE(list.names.empty() == !list.mistake.empty());
    REQUIRE(list.names.size() <= 1000);
    for (const std::string& name : list.names) REQUIRE(name.find_first_of("[],") == name.npos);
  }
}

TEST_CASE(
    "config: hosts of a cluster and of a list and of a group and of a map may be node lists") {
  CHECK(hosts_of(read_config("clusters: {a: {hosts: \"node[01-03]\"}}")) ==
        Names{"node01", "node02", "node03"});
  CHECK(hosts_of(read_config("clusters:\n  a:\n    hosts: node[1-2],login\n")) ==
        Names{"node1", "node2", "login"});
  CHECK(hosts_of(read_config("clusters: {a: {hosts: [\"n[1-2]\", m]}}")) == Names{"n1", "n2", "m"});
  CHECK(hosts_of(read_config("clusters: {a: {hosts: {lan: \"n[1-2]\", wan: [m]}}}")) ==
        Names{"n1", "n2", "m"});
  const paths::Plan plan =
      read_config("clusters: {a: {hosts: \"n[1-4]\", threads: {\"n[1-2]\": 2, \"n[3,4]\": 5}}}");
  CHECK(plan.hosts[1].threads == 2);
  CHECK(plan.hosts[3].threads == 5);
}

TEST_CASE("config: an invalid node list is refused with its position in the file") {
  CHECK_THAT(config_error("clusters:\n  a: {hosts: \"node[01-\"}\n"),
             Catch::Contains("test.yaml:2:14: hosts: expected names of hosts such as node[01-16], "
                             "found 'node[01-': character 9: expected a number, found the end"));
  CHECK_THAT(config_error("clusters: {a: {hosts: \"n[1-2],n2\"}}"),
             Catch::Contains("a second host is named n2"));
  CHECK_THAT(config_error("clusters: {a: {hosts: \"n ode[1-2]\"}}"),
             Catch::Contains("expected a name for a host"));
  CHECK_THAT(config_error("clusters: {a: {hosts: \"n[1-2]\", threads: {\"n[1-\": 2}}}"),
             Catch::Contains("threads: expected names of hosts such as node[01-16]"));
  CHECK_THAT(config_error("clusters: {a: {hosts: \"n[1-2]\", threads: {\"n[2-3]\": 2}}}"),
             Catch::Contains("'n3'"));
}
