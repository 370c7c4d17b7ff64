// SPDX-License-Identifier: Apache-2.0
// tests/commands/schedules_golden.cpp — output of `paths` about schedules.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "tests/commands/command_outcome.hpp"
#include "tests/support/folder.hpp"

using command_test::check_golden_line;
using command_test::run_line;

namespace {

const std::string config = "configs/two-clusters.yaml";

}  // namespace

TEST_CASE("explain: schedules with time and reason and what would change them match the files",
          "[without_asan]") {
  check_golden_line("explain_allreduce",
                    "explain " + config + " --collective allreduce --size 4KiB --all", 0);
  check_golden_line(
      "explain_allreduce_any",
      "explain " + config + " --collective allreduce --size 4KiB --grouping any --all", 0);
  check_golden_line("explain_declared", "explain configs/multicluster.yaml --collective sum", 0);
  check_golden_line(
      "explain_costs",
      "explain configs/examples/costs.yaml --collective allreduce --size 64KiB --element 8B --all",
      0);
  check_golden_line("explain_declared_size",
                    "explain " + config + " --collective sum --size 8B --root b1", 2);
  check_golden_line("explain_broadcast",
                    "explain " + config + " --collective broadcast --size 8B --root beta/b2 --all",
                    0);
  check_golden_line("explain_barrier", "explain " + config + " --collective barrier --all", 0);
  check_golden_line(
      "explain_unequal",
      "explain " + config + " --collective allgather --size 8B,0B,16B,8B --element 8B --all", 0);
}

TEST_CASE("explain: it says where processes of one machine use shared memory") {
  const auto explained = [](const std::string& config_text, const std::string& size = "8B") {
    const test_support::Folder folder;
    return run_line("explain " + folder.write("config.yaml", config_text) +
                    " --collective allreduce --size " + size + " --element 8B")
        .text();
  };
  const std::string one_cluster = "clusters: {a: {hosts: 3}}\nlanes:\n";
  const auto names_it = Catch::Contains("Processes of one machine use shared memory");
  CHECK_THAT(explained(one_cluster), names_it);
  CHECK_THAT(explained(one_cluster + "shared_memory: false\n"), !names_it);
  CHECK_THAT(explained("clusters: {a: {hosts: 2}, b: {hosts: 2}}\nlanes:\n"), !names_it);
  const auto names_mapped = Catch::Contains("shared_memory:mapped");
  CHECK_THAT(explained(one_cluster), !names_mapped);
  CHECK_THAT(explained(one_cluster, "1MiB"), names_mapped);
}

TEST_CASE("plan: pools with reasons and plans next to the alternatives match the golden files") {
  check_golden_line("plan_allgather", "plan configs/three-sites.yaml --size 64KiB", 0);
  check_golden_line("plan_pools", "plan configs/three-sites.yaml --pools", 0);
  check_golden_line("plan_wrong", "plan configs/three-sites.yaml --collective alltoall --size 1KB",
                    2);
  check_golden_line("plan_no_size", "plan configs/three-sites.yaml", 2);
}

TEST_CASE("schedule: the golden examples of the stretched family are printed") {
  check_golden_line("schedule_print_broadcast",
                    "schedule print --clusters 2,2 --collective broadcast --size 4B --algorithm "
                    "stretched:stretch=2",
                    0);
  check_golden_line("schedule_print_allreduce",
                    "schedule print " + config +
                        " --collective allreduce --size 32B --element 8B "
                        "--algorithm stretched:exchange=all --host b1",
                    0);
}

TEST_CASE("schedule: a GOAL export matches the golden file") {
  check_golden_line(
      "schedule_export",
      "schedule export --clusters 2,1 --collective allreduce --size 3B --algorithm tree", 0);
}

TEST_CASE("schedule: verified schedules are reported with the reduced vector length") {
  check_golden_line("schedule_verify_all", "schedule verify --clusters 2,1", 0);
  check_golden_line("schedule_verify_one",
                    "schedule verify " + config +
                        " --collective allreduce --size 32MiB --element 8B "
                        "--algorithm stretched:stretch=65536",
                    0);
  check_golden_line("schedule_verify_roots",
                    "schedule verify --clusters 3,2 --collective gather --size 5B,0B,1B,0B,2B "
                    "--algorithm multilevel",
                    0);
}

TEST_CASE("show: a schedule is drawn as its tree or by its steps") {
  check_golden_line("show_tree",
                    "show " + config +
                        " --collective broadcast --size 1MiB --algorithm "
                        "multilevel:segment=524288 --root b2",
                    0);
  check_golden_line(
      "show_tree_allreduce",
      "show configs/multicluster-small.yaml --collective allreduce --size 8B --algorithm "
      "multilevel:shapes=binomial/flat",
      0);
  check_golden_line("show_steps",
                    "show " + config +
                        " --collective allreduce --size 64B --algorithm "
                        "recursive_doubling",
                    0);
}

TEST_CASE("schedules: every mistake is reported with the nearest known word") {
  check_golden_line("schedule_words",
                    "schedule print --clusters 4,x --collective allredcue --algorithm strecthed",
                    2);
  check_golden_line(
      "schedule_both_groups",
      "schedule print " + config + " --clusters 2,2 --collective scan --algorithm chain", 2);
  check_golden_line("schedule_nothing", "schedule print", 2);
  check_golden_line("schedule_no_command", "schedule", 2);
  check_golden_line("schedule_parameters",
                    "schedule print --clusters 4,4 --collective allreduce --size 1kb --element 8B "
                    "--root 3 --algorithm stretched:strech=4,exchange=three",
                    2);
  check_golden_line("schedule_impossible",
                    "schedule print --clusters 3,3 --collective broadcast --root 6 --algorithm "
                    "van_de_geijn:allgather=doubling",
                    2);
  check_golden_line("schedule_impossible_here",
                    "schedule print --clusters 3,3 --collective broadcast --algorithm "
                    "van_de_geijn:allgather=doubling",
                    2);
  check_golden_line("schedule_other_collective",
                    "schedule print --clusters 3,3 --collective reduce --algorithm farfirst", 2);
  check_golden_line("schedule_overflow",
                    "schedule print --clusters 4,4 --collective alltoall --size 1000000000GiB "
                    "--algorithm pairwise",
                    2);
  check_golden_line(
      "schedule_counts",
      "schedule print --clusters 2,2 --collective allgather --size 1B,2B,3B --algorithm "
      "ring",
      2);
  check_golden_line("explain_no_size", "explain " + config + " --collective reduce --root b3", 2);
  check_golden_line("explain_broken",
                    "explain configs/broken/many_mistakes.yaml --collective redcue", 2);
  check_golden_line("show_schedule_format",
                    "show " + config + " --collective barrier --algorithm tree --format svg", 2);
  check_golden_line("show_size_alone", "show " + config + " --size 1MiB", 2);
  check_golden_line("schedule_verify_size_alone", "schedule verify --clusters 2,2 --size 1MiB", 2);
}

TEST_CASE("schedules: a config with unlinked clusters has no predicted times") {
  const test_support::WrittenFile file("clusters: {alpha: {hosts: 1}, beta: {hosts: 2}}\n");
  const auto outcome = run_line("explain " + file.path() + " --collective barrier");
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err == fmt::format("{0}: the config has no link from cluster alpha to cluster "
                                   "beta\n{0}: the config has no link from cluster beta to "
                                   "cluster alpha\n",
                                   file.path()));
}

namespace {

/// Returns the text without the words that mention groups of hosts.
std::string without_groups(const std::string& text) {
  return std::regex_replace(text, std::regex(", groups: [^,}]*"), "");
}

std::string clusters_with(const std::string& alpha, const std::string& beta) {
  return "clusters:\n  alpha: {hosts: " + alpha +
         ", threads: 2, gateway: gate}\n  beta: {hosts: " + beta +
         "}\nlinks: [{between: [alpha, beta], latency: 1ms}]\nlanes: {}\n";
}

}  // namespace

TEST_CASE("groups: the tree of Karonis et al. 2002 for 20 processes of 10 and 5 + 5") {
  check_golden_line("show_groups",
                    "show configs/examples/groups.yaml --collective broadcast --size 8B "
                    "--algorithm multilevel:shapes=flat/binomial",
                    0);
  check_golden_line("show_groups_other_root",
                    "show configs/examples/groups.yaml --collective broadcast --size 8B "
                    "--algorithm multilevel:shapes=flat/binomial --root ncsa-7",
                    0);
}

TEST_CASE("groups: hosts have the same names and plan as without groups") {
  const std::string flat =
      run_line("expand " + test_support::WrittenFile(clusters_with("6", "[b1, b2]")).path()).out;
  const std::string grouped =
      run_line("expand " +
               test_support::WrittenFile(
                   clusters_with("{north: {m1: 1, m2: 2}, south: {m1: 3}}", "{b: [b1], c: [b2]}"))
                   .path())
          .out;
  CHECK(flat.find("groups") == std::string::npos);
  CHECK(grouped.find("address: tcp://127.0.0.1:7703, groups: south/m1}") != std::string::npos);
  CHECK(without_groups(grouped) == flat);
}

TEST_CASE("groups: an expanded config keeps its groups") {
  const std::string show =
      " --collective reduce --size 8B --root b2 --algorithm multilevel:shapes=binomial";
  const std::string config =
      clusters_with("{north: {m1: 1, m2: 2}, south: {m1: 3}}", "{b: [b1], c: [b2]}");
  std::string expanded, drawn;
  {
    const test_support::WrittenFile high(config);
    expanded = run_line("expand " + high.path()).out;
    drawn = run_line("show " + high.path() + show).out;
  }
  const test_support::WrittenFile low(expanded);
  CHECK(run_line("expand " + low.path()).out == expanded);
  CHECK(run_line("show " + low.path() + show).out == drawn);
  CHECK(drawn.find("8 hosts in 2 clusters (alpha 6, beta 2)") != std::string::npos);
}

TEST_CASE("groups: a single cluster with groups is explained and shown and planned and verified") {
  const test_support::WrittenFile config("clusters: {a: {hosts: {g1: 2, g2: 2}}}\nlanes: {}\n");
  for (const std::string line :
       {"explain {} --collective broadcast --size 8B",
        "explain {} --collective allreduce --size 1MiB",
        "show {} --collective broadcast --size 8B --algorithm multilevel",
        "show {} --collective allreduce --size 8B --algorithm two_tier", "plan {} --size 64KiB",
        "plan {} --pools", "check {}", "schedule verify {}"}) {
    const auto outcome = run_line(fmt::format(fmt::runtime(line), config.path()));
    INFO(line << ": " << outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.err == "");
  }
}
