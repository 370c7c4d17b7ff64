// SPDX-License-Identifier: Apache-2.0
// tests/commands/command_line_golden.cpp — output of `paths` for valid and invalid command lines.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/version.hpp"
#include "tests/commands/command_outcome.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/shell.hpp"

using command_test::check_golden;
using command_test::Outcome;
using command_test::run;

namespace {

const std::string two_clusters = "configs/two-clusters.yaml";

}  // namespace

TEST_CASE("command line: invalid ones exit with 2 and print the reason and a hint to the help") {
  check_golden("nothing", {}, 2);
  check_golden("misspelt_command", {"chekc", two_clusters}, 2);
  check_golden("misspelt_option", {"show", two_clusters, "--fromat", "svg"}, 2);
  check_golden("check_nothing", {"check"}, 2);
  check_golden("unknown_format", {"show", two_clusters, "--format", "png"}, 2);
  check_golden("two_files", {"expand", two_clusters, two_clusters}, 2);
  check_golden("unknown_algorithm", {"check", two_clusters, "--algorithm", "magpei"}, 2);
  check_golden("algorithm_with_wrong_parameter", {"check", two_clusters, "--algorithm", "lagged:0"},
               2);
  check_golden("unknown_root", {"check", two_clusters, "--root", "gamma/g1"}, 2);
  check_golden("unknown_transport", {"check", two_clusters, "--transport", "udp"}, 2);
  check_golden("switch_misspelt_cluster", {"switch", "configs/two-by-four.yaml", "bteta"}, 2);
  check_golden("switch_that_is_none", {"switch", two_clusters, "alpha"}, 2);
  check_golden("port_out_of_range", {"check", two_clusters, "--port", "70000"}, 2);
  check_golden("no_such_file", {"check", "configs/missing.yaml"}, 2);
  check_golden("unknown_kind", {"kinds", "allreduc"}, 2);
  check_golden("describe_without_form", {"describe", "report"}, 2);
  check_golden("broken_config", {"check", "configs/broken/many_mistakes.yaml"}, 2);
}

TEST_CASE("command line: help and version exit with 0") {
  for (const std::string command :
       {"check", "show", "expand", "kinds", "describe", "explain", "plan", "schedule", "space"})
    check_golden("help_" + command, {command, "--help"}, 0);
  check_golden("help", {"--help"}, 0);
  for (const std::string command : {"check", "schedule"})
    CHECK(run({"help", command}).text() == run({command, "--help"}).text());
  CHECK(run({"help", "schedule", "print"}).text() == run({"schedule", "print", "--help"}).text());
  CHECK(run({"help"}).text() == run({"--help"}).text());
}

TEST_CASE("command line: help of an unknown command lists the existing commands") {
  CHECK(run({"help", "schedule", "prnt"}).err ==
        "paths: help: expected print, export or verify, found 'prnt'; did you mean 'print'?\n");
  CHECK(run({"help", "check", "now"}).err == "paths: help: check has no commands, found 'now'\n");
  CHECK(run({"help", "chekc"}).exit_code == 2);
}

TEST_CASE("command line: --version prints the commit, the compiler and the libraries") {
  const std::string version = run({"--version"}).out;
  CHECK_THAT(version, Catch::StartsWith("paths " + std::string(base::version) + "\n"));
  for (const std::string line :
       {"\ncommit: ", "\ncompiler: ", "\nZeroMQ: ", "\nOTF2: ", "\npage: "})
    CHECK_THAT(version, Catch::Contains(line));
  const auto said = test_support::run_shell(PATHS_BUILD_BIN_DIR "/paths --version");
  CHECK_THAT(said.text, !Catch::Contains("OTF2:     \n"));
}

TEST_CASE("command line: a program in the current folder without ./ is an error that explains it") {
  const test_support::Folder folder;
  std::filesystem::copy("/bin/true", folder.path() / "mine");
  const auto said = test_support::run_shell(
      fmt::format("cd {} && {}/paths run {}/configs/one-host.yaml -- mine", folder.path().string(),
                  PATHS_BUILD_BIN_DIR, PATHS_SOURCE_DIR));
  CHECK(said.exit_code == 2);
  CHECK(said.text ==
        "command line: expected a program next to paths or in PATH, found no 'mine'; did you mean "
        "'./mine'?\n");
}

TEST_CASE("command line: a wrong config does not hide the results of the correct ones") {
  const Outcome outcome =
      run({"check", "configs/one-host.yaml", "configs/broken/empty.yaml", two_clusters});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.find("configs/one-host.yaml: ok, 1 host, 4 threads, ") == 0);
  CHECK(outcome.out.find("configs/two-clusters.yaml: ok, 5 hosts, 8 threads, ") !=
        std::string::npos);
  CHECK(outcome.err.find("configs/broken/empty.yaml") == 0);
}

TEST_CASE("command line: check accepts the algorithm tuned with or without a table") {
  const Outcome by_option = run({"check", two_clusters, "--algorithm", "tuned"});
  CHECK(by_option.exit_code == 0);
  CHECK(by_option.err.empty());
  const std::string config =
      "clusters: {alpha: {hosts: 2, threads: 1}}\n"
      "collectives: {sum: {operation: sum, template: f64, algorithm: tuned}}\n";
  const std::string table =
      "decisions: {decisions: 1, allreduce: [{rows: [{up_to: inf, use: recursive_doubling}]}]}\n";
  for (const std::string& text : {config, config + table}) {
    const test_support::WrittenFile file(text);
    const Outcome outcome = run({"check", file.path()});
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out.find(": ok, 2 hosts") != std::string::npos);
    CHECK(outcome.err.empty());
  }
}

TEST_CASE("command line: show draws one of the graphs that differ only by a number") {
  const test_support::WrittenFile config(
      "clusters: {alpha: {hosts: 1, threads: 4}}\nexchanges: {rows: {template: f64}}\n");
  const auto outcome = run({"show", config.path()});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.find("graph rows.0.from_next, and 2 more like it, rows.N.from_next\n") !=
        std::string::npos);
  CHECK(outcome.out.find("rows.2.from_next") == std::string::npos);
}

TEST_CASE("command line: drawings of a config match the golden files") {
  check_golden("show_text", {"show", two_clusters}, 0);
  check_golden("show_text_magpie", {"show", two_clusters, "--algorithm", "magpie"}, 0);
  check_golden("show_dot", {"show", two_clusters, "--format", "dot"}, 0);
  check_golden("show_svg", {"show", two_clusters, "--format", "svg"}, 0);
  check_golden("show_json", {"show", two_clusters, "--format", "json"}, 0);
}

TEST_CASE("command line: expansions of a config match the golden files") {
  check_golden("expand_sequential", {"expand", two_clusters}, 0);
  check_golden("expand_conditional", {"expand", two_clusters, "--algorithm", "conditional"}, 0);
  check_golden("expand_instrumented", {"expand", "configs/one-host.yaml", "--instrument"}, 0);
}

TEST_CASE("kinds: the reference in the documentation equals the output of the program") {
  const std::string found =
      "# Kinds of wrappers and collectives, words of algorithms\n\n"
      "Written by `paths kinds --format markdown`; a test compares it.\n\n" +
      run({"kinds", "--format", "markdown"}).out;
  CHECK(found == test_support::golden("../../docs/reference/kinds.md", found));
}
