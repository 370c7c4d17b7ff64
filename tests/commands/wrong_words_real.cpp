// SPDX-License-Identifier: Apache-2.0
// tests/commands/wrong_words_real.cpp — invalid values of options, and runs that exceed the memory
// of the machine.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/shell.hpp"

namespace {

using Catch::Contains;
using test_support::run_shell;
using test_support::Said;

const std::string bin = std::string(PATHS_BUILD_BIN_DIR) + "/";
const std::string config = PATHS_SOURCE_DIR "/configs/two-clusters.yaml";

struct Option {
  std::string command, name;
  bool is_real = false;
};

std::vector<Option> numeric_options() {
  std::vector<Option> all = {{"paths check " + config, "--port"},
                             {"paths analyze .", "--rows"},
                             {"paths analyze .", "--noise-thread"}};
#if PATHS_HAS_BENCH
  const std::string noise = "noise_allreduce --clock virtual --config " + config;
  const std::string sor = "sor --clock virtual --config " + config;
  const std::vector<Option> bench = {{noise, "--seed"},
                                     {noise, "--port"},
                                     {noise, "--iterations"},
                                     {noise, "--warmup"},
                                     {noise, "--variation", true},
                                     {sor, "--size"},
                                     {sor, "--data-seed"},
                                     {sor, "--iterations"},
                                     {sor, "--omega", true},
                                     {"sor_alone", "--size"},
                                     {"sor_alone", "--data-seed"},
                                     {"sor_alone", "--epsilon", true},
                                     {"sor_alone", "--blocks"},
                                     {"huge_tree", "--clusters"},
                                     {"huge_tree", "--stack-kib"}};
  all.insert(all.end(), bench.begin(), bench.end());
#endif
  return all;
}

}  // namespace

TEST_CASE("wrong words: every option refuses a number with two meanings or none") {
  for (const Option& option : numeric_options())
    for (const std::string word :
         {"010", "0x10", "+5", "' 5'", "'5 '", "nan", "inf", "5x", "1e400", "''", "1,000"}) {
      INFO(option.command << " " << option.name << " " << word);
      const Said said = run_shell(bin + option.command + " " + option.name + "=" + word);
      CHECK(said.exit_code == 2);
      CHECK_THAT(said.text, Contains(option.name + ": "));
    }
  for (const Option& option : numeric_options()) {
    if (option.is_real) continue;
    for (const std::string word : {"-1", "1e3", "1.5", "18446744073709551616"}) {
      INFO(option.command << " " << option.name << " " << word);
      CHECK(run_shell(bin + option.command + " " + option.name + "=" + word).exit_code == 2);
    }
  }
}

TEST_CASE("wrong words: an option with an empty value is refused") {
  for (const std::string& command : std::vector<std::string>{
           "check " + config + " --root", "check " + config + " --algorithm", "analyze . --json"}) {
    INFO(command);
    const Said said = run_shell(bin + "paths " + command + " ''");
    CHECK(said.exit_code == 2);
    CHECK_THAT(said.text, Contains("expected something, found ''"));
  }
}

#if PATHS_HAS_BENCH

TEST_CASE("wrong words: --json - writes only JSON to the standard output") {
  for (const std::string& command : std::vector<std::string>{
           "noise_allreduce --clock virtual --iterations 2 --config " + config,
           "sor --clock virtual --size 10 --iterations 2 --config " PATHS_SOURCE_DIR
           "/configs/sor-two-clusters.yaml --check",
           "sor_alone --size 10 --iterations 2", "fixed_work --method fwq --duration 10ms"}) {
    INFO(command);
    const Said said =
        run_shell(bin + command + " --json - 2>/dev/null | python3 -m json.tool >/dev/null");
    CHECK(said.text == "");
    CHECK(said.exit_code == 0);
    CHECK_FALSE(std::filesystem::exists("-"));
  }
}

TEST_CASE("wrong words: a run that is too large for the machine is refused before it starts") {
  const std::string million = "needs_real.yaml";
  std::ofstream(million) << "clusters: {a: {hosts: 1, threads: 1000000}}\n"
                            "collectives: {sum: {template: f64, condition: {less: 1}}}\n";
  struct Case {
    std::string command, said;
  };
  const std::string little = "ulimit -v 4000000; ";
  for (const auto& [command, text] : std::vector<Case>{
           {little + bin + "noise_allreduce --clock virtual --config " + million,
            "running the 1000000 threads of host a-0 needs 4.9 GiB of memory at least, but there "
            "are "
            "3.8 GiB"},
           {bin + "noise_allreduce --config " + million,
            "the 1000000 threads of host a-0 need 1000003 threads of the operating system"},
           {bin + "sor --clock virtual --size 1000000 --config " PATHS_SOURCE_DIR
                  "/configs/sor-one-host.yaml",
            "--size: a grid of 1000000 x 1000000 cells needs 7.3 TiB of memory at least"},
           {bin + "sor_alone --size 1000000",
            "--size: a grid of 1000000 x 1000000 cells needs 7.3 TiB of memory at least"},
           {little + bin + "noise_allreduce --clock virtual --iterations 1000000000 --config " +
                config,
            "times of each of"}}) {
    INFO(command);
    const Said said = run_shell(command);
    CHECK(said.exit_code == 2);
    CHECK_THAT(said.text, Contains(text));
  }
  std::filesystem::remove(million);
}

#endif
