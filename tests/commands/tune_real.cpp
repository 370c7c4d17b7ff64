// SPDX-License-Identifier: Apache-2.0
// tests/commands/tune_real.cpp — `paths tune` with hosts on the virtual and on the steady clock,
// and the tables that it writes.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "collectives/tuner/decision_table.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace {

using Catch::Contains;
using namespace std::chrono_literals;

test_support::Said paths_program(const std::string& words) {
  return test_support::run_shell(
      "env -u PATHS_CONFIG -u PATHS_HOST " PATHS_BUILD_BIN_DIR "/paths " + words);
}

const std::string config =
    "clusters:\n"
    "  a: {hosts: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
    "  b: {hosts: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
    "links: {all: {latency: 10ms, bandwidth: 100Mbit}}\n"
    "lanes: {}\nnetwork: {transport: ipc}\n";

std::string read(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("tune: a table of a virtual run has the fastest schedules and a config can use it") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.file("decisions.yaml");
  const std::string words =
      "tune " + file + " -o " + table +
      " --clock virtual --collective allreduce --collective broadcast --sizes 8B:4KiB";
  const auto said = paths_program(words);
  CAPTURE(said.text);
  REQUIRE(said.exit_code == 0);
  CHECK_THAT(said.text, Contains("20 sizes to tune by race, each with about 5 runs"));
  CHECK_THAT(said.text, Contains("Written to " + table + ": 20 sizes"));
  const auto decisions = tuner::load_decision_table(table);
  REQUIRE(decisions->sections().size() == 2);
  for (const tuner::DecisionSection& section : decisions->sections()) {
    CHECK(section.clusters == tuner::Range{2, 2});
    CHECK(section.hosts == tuner::Range{4, 4});
    CHECK(section.transport == "ipc");
    for (const tuner::Decision& row : section.rows) {
      CHECK(row.why.time.count() > 10'000'000);  // more than the latency of a link
      CHECK(row.why.next_time >= row.why.time);
      CHECK(row.why.runs >= 2);
    }
  }
  const auto explained = paths_program("explain " + file +
                                       " --collective allreduce --size 64B "
                                       "--element 8B --decisions " +
                                       table);
  CAPTURE(explained.text);
  CHECK_THAT(explained.text, Contains("decisions.yaml:") && Contains("a row up to"));
  const std::string tuned = folder.write("tuned.yaml", config + "decisions: decisions.yaml\n");
  if (PATHS_HAS_BENCH == 0) return;  // this case runs `collective`, a program of the benchmarks
  const auto run = paths_program("run " + tuned + " --clock virtual -- collective allreduce -m 64");
  CAPTURE(run.text);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.text, Contains("allreduce by tuned"));
}

#if PATHS_HAS_BENCH  // `collective` is a program of the benchmarks
TEST_CASE("tune: with a trace only the sizes are tuned that its run used") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.file("decisions.yaml"), trace = folder.file("trace");
  REQUIRE(paths_program("run " + file + " --clock virtual --trace " + trace +
                        " -- collective allreduce,broadcast -m 1KiB:2KiB")
              .exit_code == 0);
  const std::string words =
      "tune " + file + " -o " + table + " --clock virtual --only-from " + trace;
  const auto said = paths_program(words + " --collective allreduce");
  CAPTURE(said.text);
  REQUIRE(said.exit_code == 0);
  for (const std::string size : {"8B", "1KiB", "2KiB"})  // `collective` itself uses 8 B
    CHECK_THAT(said.text, Contains("allreduce of " + size + ": "));
  CHECK_THAT(said.text, Contains("3 sizes to tune by race") && !Contains("broadcast"));
  const auto sections = tuner::load_decision_table(table)->sections();
  REQUIRE(sections.size() == 1);
  CHECK_THAT(paths_program(words + " --sizes 8B").text, Contains("--sizes excludes --only-from"));
  const auto wrong = paths_program(words + " --collective alltoall");
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.text, Contains("expected operations of groups of all hosts, by the named "
                                  "collectives, found none"));
}
#endif

TEST_CASE("tune: a tune that was ended continues without the runs that it has done") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.file("decisions.yaml");
  const std::string words =
      "tune " + file + " -o " + table + " --clock virtual --collective allreduce --sizes 8B:4KiB";
  REQUIRE(paths_program(words).exit_code == 0);
  const std::string samples = read(table + ".samples");
  const std::string whole = read(table);
  std::size_t end = 0;  // offset of the end of the first half of the lines
  for (std::size_t line = 0; line < lines_of(samples) / 2; ++line)
    end = samples.find('\n', end) + 1;
  std::ofstream(table + ".samples") << samples.substr(0, end + 20);
  std::filesystem::remove(table);
  const auto again = paths_program(words);
  CAPTURE(again.text);
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.text, Contains(" runs are taken from " + table + ".samples"));
  CHECK(read(table) == whole);
  // The file has one line for each run, and also the line that was cut off.
  CHECK(lines_of(read(table + ".samples")) == lines_of(samples) + 1);
  // `paths tune` neither continues a finished tune nor uses times of another config.
  CHECK_THAT(paths_program(words).text, !Contains("are taken"));
  std::ofstream(table + ".samples") << samples.substr(0, end);
  std::string farther = config;
  farther.replace(farther.find("10ms"), 4, "20ms");
  folder.write("sites.yaml", farther);
  CHECK_THAT(paths_program(words).text, !Contains("are taken"));
}

TEST_CASE("tune: a collective that is slower than another one for the same work is named") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.file("decisions.yaml");
  const std::string words = "tune " + file + " -o " + table +
                            " --clock virtual --collective reduce --collective allreduce "
                            "--sizes 1KiB";
  const auto first = paths_program(words);
  REQUIRE(first.exit_code == 0);
  CHECK_THAT(first.text, !Contains("would do the same"));
  // Continues a tune in which each reduce took 20 ms longer.
  std::string samples = read(table + ".samples");
  samples.erase(samples.find("{\"finished\""));
  std::istringstream lines(samples);
  std::ofstream slower(table + ".samples");
  for (std::string line; std::getline(lines, line); slower << line << "\n")
    if (line.find("reduce ") != std::string::npos && line.find("allreduce") == std::string::npos)
      line.replace(line.find(":1"), 2, ":3");
  slower.close();
  std::filesystem::remove(table);
  const auto said = paths_program(words);
  CAPTURE(said.text);
  CHECK(said.exit_code == 0);
  CHECK_THAT(said.text, Contains("reduce of 1KiB takes 30.") &&
                            Contains(" ms; allreduce would do the same in 10."));
  CHECK_THAT(read(table), Contains("note: \"1KiB: allreduce would do the same in 10."));
}

TEST_CASE("tune: pinned rows stay and other searches find schedules too") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.write(
      "decisions.yaml",
      "decisions: 1\nallreduce:\n"
      "  - shape: {clusters: 2, hosts: 4, machines: 1}\n    transport: ipc\n    rows:\n"
      "      - {up_to: 100B, use: \"tree:shape=chain\", pinned: true, note: by hand}\n"
      "      - {up_to: inf, use: \"tree:shape=flat\"}\n");
  for (const std::string search : {"predict", "mgd", "smgd"}) {
    const auto said = paths_program("tune " + file + " -o " + table +
                                    " --clock virtual --collective allreduce --sizes 8B:512B "
                                    "--tuner " +
                                    search);
    CAPTURE(said.text);
    REQUIRE(said.exit_code == 0);
    CHECK_THAT(said.text, Contains("is pinned and stays"));
    CHECK((said.text.find(", without a run\n") != std::string::npos) == (search == "predict"));
    const auto decisions = tuner::load_decision_table(table);
    REQUIRE(decisions->sections().size() == 1);
    const auto& rows = decisions->sections()[0].rows;
    CHECK(rows.front().is_pinned);
    CHECK(rows.front().up_to == 100);
    CHECK(rows.front().use() == "tree:shape=chain");
    CHECK(rows.back().use() != "tree:shape=flat");
  }
}

TEST_CASE("tune: a section for any machines does not hide the rows that were just tuned") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.write("decisions.yaml",
                                         "decisions: 1\nallreduce:\n"
                                         "  - shape: {clusters: 2, hosts: 4}\n"
                                         "    rows: [{up_to: inf, use: \"tree:shape=chain\"}]\n");
  const auto said = paths_program("tune " + file + " -o " + table +
                                  " --clock virtual --collective allreduce --sizes 8B");
  CAPTURE(said.text);
  REQUIRE(said.exit_code == 0);
  REQUIRE(tuner::load_decision_table(table)->sections().size() == 2);
  const auto explained =
      paths_program("explain " + file + " --collective allreduce --size 8B --decisions " + table);
  CAPTURE(explained.text);
  CHECK_THAT(explained.text, !Contains("tree:shape=chain"));
}

TEST_CASE("tune: a barrier is printed without a size") {
  const test_support::Folder folder;
  const auto said =
      paths_program("tune " + folder.write("sites.yaml", config) + " -o " +
                    folder.file("decisions.yaml") + " --clock virtual --collective barrier");
  CAPTURE(said.text);
  CHECK(said.exit_code == 0);
  CHECK_THAT(said.text, Contains("\nbarrier: ") && !Contains("barrier of"));
}

TEST_CASE("tune: with candidates trees only trees are run, with messages of each power of two") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.file("decisions.yaml");
  const auto said = paths_program("tune " + file + " -o " + table +
                                  " --clock virtual --collective scatter --sizes 1KiB --tuner "
                                  "exhaustive --candidates trees");
  CAPTURE(said.text);
  REQUIRE(said.exit_code == 0);
  CHECK_THAT(said.text,
             Contains("1 sizes to tune by exhaustive, each with up to 40 runs, of at least"));
  std::istringstream lines(read(table + ".samples"));
  std::size_t runs = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!Contains("scatter").match(line)) continue;
    CHECK_THAT(line, Contains("tree:"));
    ++runs;
  }
  CHECK(runs == 4 * 10);  // four trees; 8 B, 16 B and so on to the four blocks of the root
}

TEST_CASE("tune: the search pipeline tests the network, then runs chains and at last whole trees",
          "[without_asan]") {
  const test_support::Folder folder;
  const std::string network = "{hosts: 8, network: {latency: 50us, bandwidth: 100Mbit}}";
  const std::string file = folder.write(
      "one.yaml", "clusters: {a: " + network + "}\nlanes: {}\nnetwork: {transport: ipc}\n");
  const std::string table = folder.file("decisions.yaml");
  const auto tune = [&](const std::string& config_file, const std::string& search,
                        const std::string& size = "16KiB") {
    for (const std::string& old : {table, table + ".samples"}) std::filesystem::remove(old);
    const auto said = paths_program("tune " + config_file + " -o " + table +
                                    " --clock virtual --collective broadcast --sizes " + size +
                                    " --candidates trees --tuner " + search);
    CAPTURE(said.text);
    REQUIRE(said.exit_code == 0);
    return read(table + ".samples");
  };
  const auto runs = [](const std::string& samples, const std::string& end) {
    std::istringstream lines(samples);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);)
      count += line.starts_with("{\"nanos\"") && line.ends_with(end + "\"}");
    return count;
  };
  const std::string samples = tune(file, "pipeline");
  CHECK(runs(samples, " pair") == 1);
  CHECK(runs(samples, " pairs") == 1);
  const std::size_t chains = runs(samples, " longest_path");
  CHECK(chains > 8);
  CHECK(runs(samples, "") == 2 + chains + 4);  // pairs, chains and whole trees
  const tuner::Decision row = tuner::load_decision_table(table)->sections().at(0).rows.at(0);
  CHECK(row.why.candidates == "trees");
  tune(file, "exhaustive");
  const auto best = tuner::load_decision_table(table)->sections().at(0).rows.at(0).why.time;
  CHECK(row.why.time <= 1.05 * best);
  // All pairs of this config share the link between the clusters.
  const std::string sites = folder.write("sites.yaml", config);
  const std::string saturated = tune(sites, "pipeline", "128KiB");
  CHECK(runs(saturated, " pairs") == 1);
  CHECK(runs(saturated, " longest_path") == 0);
}

TEST_CASE("tune: the phases search at every size on the first hosts and on all of them") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.file("decisions.yaml");
  const auto said = paths_program("tune " + file + " -o " + table +
                                  " --clock virtual --collective broadcast --sizes 8B:32B "
                                  "--tuner exhaustive --phases --candidates trees");
  CAPTURE(said.text);
  REQUIRE(said.exit_code == 0);
  // Three sizes for two hosts, and three for four hosts. With two hosts all trees are equal.
  CHECK_THAT(said.text, Contains("6 sizes to tune by exhaustive"));
  CHECK_THAT(said.text, Contains("2 hosts\n  broadcast of 8B: tree:shape=flat: 0."));
  CHECK_THAT(said.text, Contains("4 hosts\n  broadcast of 8B: tree:shape=flat: 10.") &&
                            Contains("  broadcast of 32B: tree:shape=chain in messages of "));
  const auto sections = tuner::load_decision_table(table)->sections();
  REQUIRE(sections.size() == 2);
  CHECK(sections[0].hosts == tuner::Range{2, 2});
  CHECK(sections[0].clusters == tuner::Range{1, 1});
  CHECK(sections[1].hosts == tuner::Range{4, 4});
  CHECK(sections[1].clusters == tuner::Range{2, 2});
  // Two hosts of one cluster need no link between clusters.
  CHECK(sections[0].rows.front().why.time.count() < 1'000'000);
  CHECK(sections[1].rows.front().why.time.count() > 10'000'000);
  const std::string samples = read(table + ".samples");
  CHECK_THAT(samples, Contains("broadcast 1 tree:") && Contains(" on 2 hosts\""));
  CHECK_THAT(samples, !Contains(" on 4 hosts"));
}

TEST_CASE("tune: processes run the schedules and the table names their figures") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.file("decisions.yaml");
  const auto said =
      paths_program("tune " + file + " -o " + table + " --collective allreduce --sizes 64B");
  CAPTURE(said.text);
  const bool was_busy = said.text.find("the machine was too busy") != std::string::npos;
  if (said.exit_code == 1 && was_busy)
    return test_support::skip("other processes disturb all measurements");
  REQUIRE(said.exit_code == 0);
  const auto decisions = tuner::load_decision_table(table);
  REQUIRE(decisions->sections().size() == 1);
  const tuner::Decision& row = decisions->sections()[0].rows.front();
  CHECK(row.why.runs >= 4);
  CHECK(row.why.time.count() > 10'000'000);
}

namespace {

/// Returns a program that counts for about 2 s, and that appends the number of its process to
/// `file`.
std::string counting(const std::string& file) {
  return "sh -c 'echo $$ >> " + file +
         "; end=$(($(date +%s) + 2)); while [ $(date +%s) -lt $end ]; do :; done'";
}

/// Waits a limited time until no process of the file is left. Returns whether all have ended.
bool have_all_ended(const std::string& file) {
  std::ifstream lines(file);
  for (pid_t pid; lines >> pid;) {
    for (int i = 0; i < 500 && kill(pid, 0) == 0; ++i) test_support::pause(10ms);
    if (kill(pid, 0) == 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("tune: under a program it runs next to each host and the table names it") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.file("decisions.yaml"), pids = folder.file("pids");
  const std::string words =
      "tune " + file + " -o " + table + " --collective allreduce --sizes 64B --under -- ";
  const auto said = paths_program(words + counting(pids));
  CAPTURE(said.text);
  if (said.exit_code == 1 && Contains("the machine was too busy").match(said.text))
    return test_support::skip("other processes disturb all measurements");
  REQUIRE(said.exit_code == 0);
  CHECK_THAT(said.text, Contains(", or more because of the program next to each host"));
  CHECK(lines_of(read(pids)) >= 4);  // one process for each host
  CHECK(have_all_ended(pids));
  const auto decisions = tuner::load_decision_table(table);
  REQUIRE(decisions->sections().size() == 1);
  CHECK_THAT(decisions->sections()[0].rows.front().why.under, Contains("sh -c echo $$ >> "));
  CHECK_THAT(
      paths_program("explain " + file + " --collective allreduce --size 64B --decisions " + table)
          .text,
      Contains(", next to 'sh -c echo $$ >> "));
  CHECK_THAT(read(table + ".samples"), Contains("steady clock, under sh -c echo"));
}

TEST_CASE("tune: a signal or a failing program leaves no process of the program") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.file("decisions.yaml"), pids = folder.file("pids");
  const std::string words =
      "tune " + file + " -o " + table + " --collective allreduce --sizes 64B --under -- ";
  auto tune = test_support::start_command(PATHS_BUILD_BIN_DIR "/paths " + words + counting(pids));
  REQUIRE(tune.says("1 sizes to tune"));
  tune.signal_it(SIGINT);
  CHECK(tune.end() == 1);
  CHECK_THAT(tune.text(), Contains("paths run: stopped by Interrupt"));
  CHECK(lines_of(read(pids)) >= 4);
  CHECK(have_all_ended(pids));
  std::filesystem::remove(pids);
  const auto failed = paths_program(words + "sh -c 'echo $$ >> " + pids + "; sleep 1.5; exit 7'");
  CAPTURE(failed.text);
  CHECK(failed.exit_code == 1);
  // Any of the copies may be the first to end.
  CHECK_THAT(failed.text, Contains("sh next to host ") && Contains(" ended with exit code 7"));
  CHECK(have_all_ended(pids));
}

TEST_CASE("tune: wrong options are refused before any host starts") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config);
  const std::string table = folder.file("decisions.yaml");
  const auto refused = [&](const std::string& words, const std::string& why) {
    const auto said = paths_program("tune " + file + " -o " + table + " " + words);
    CAPTURE(said.text);
    CHECK(said.exit_code == 2);
    CHECK_THAT(said.text, Contains(why));
  };
  refused("--collective alreduce", "did you mean 'allreduce'?");
  refused("--sizes 1MiB:8B", "--sizes: expected a size of at least 8B");
  refused("--tuner rase", "did you mean 'race'?");
  refused("--phases", "--phases: expected --tuner exhaustive, found race");
  refused("--tuner pipeline", "--tuner pipeline: expected --candidates trees");
  refused("--candidates trees --collective alltoall",
          "--candidates trees: expected collectives that trees do, found alltoall");
  refused("--under -- no_such_program", "found no 'no_such_program'");
  refused("--under", "--under: expected a program and its arguments");
  refused("--clock virtual --under -- sleep 9", "--under: expected the steady clock");
  refused("-- sleep 9", "expected one config, found 'sleep', too; --under runs a program");
  const std::string alone = folder.write("alone.yaml", "clusters: {a: {hosts: 1}}\nlanes:\n");
  const auto said = paths_program("tune " + alone + " -o " + table);
  CHECK(said.exit_code == 2);
  CHECK_THAT(said.text, Contains("expected at least two hosts with threads, found 1"));
  std::ofstream(table) << "decisions: 1\nallreduce: [{rows: [{up_to: inf, use: nothing}]}]\n";
  const auto broken = paths_program("tune " + file + " -o " + table + " --clock virtual");
  CHECK(broken.exit_code != 0);
  CHECK_THAT(broken.text, Contains("decisions.yaml:2:"));
}
