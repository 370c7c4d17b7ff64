// SPDX-License-Identifier: Apache-2.0
// tests/commands/keys_real.cpp — keys on command lines: `paths keygen`, --run-key, and runs whose
// hosts are started by hand or by the launcher of a cluster.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/folder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/run_key.hpp"
#include "tests/support/shell.hpp"

namespace {

using Catch::Contains;
using test_support::Folder;
using test_support::Said;

/// Returns the output of a shell command line in a folder. The environment has no variables of a
/// launcher.
Said said_in(const Folder& folder, const std::string& line) {
  return test_support::run_shell(
      fmt::format("cd {} && unset PATHS_CONFIG PATHS_HOST PATHS_KEY PATHS_RUN_KEY XDG_CONFIG_HOME; "
                  "PATH={}:$PATH; {}",
                  folder.path().string(), PATHS_BUILD_BIN_DIR, line));
}

std::string config_of_two(const std::string& security, const std::string& more = "") {
  return fmt::format(
      "network: {{port: {}{}}}\nshared_memory: false\ndeadline: 10s\n{}"
      "clusters: {{a: {{hosts: 2, threads: 1}}}}\n"
      "collectives: {{sum: {{operation: sum, template: f64}}}}\n",
      test_support::free_ports(4), security.empty() ? "" : ", security: " + security, more);
}

}  // namespace

TEST_CASE("paths keygen: keys have mode 0600, and nothing is overwritten") {
  const Folder folder;
  CHECK(said_in(folder, "paths keygen --run -o job.key").exit_code == 0);
  CHECK(said_in(folder, "paths keygen a-0 a-1 -o keys").exit_code == 0);
  CHECK(said_in(folder, "stat -c %a job.key keys/a-0.key keys/a-1.key").text == "600\n600\n600\n");
  const std::string before = said_in(folder, "cat job.key keys/*").text;
  CHECK(before.find("PATHS host key 1") != std::string::npos);
  for (const auto& [words, expected] : std::vector<std::pair<std::string, std::string>>{
           {"--run -o job.key", "it exists, and a key is never overwritten"},
           {"a-2 a-0 -o keys", "has a key of host a-0 already"},
           {"a-2 a-2 -o keys", "'a-2' is given twice"},
           {"../a -o keys", "expected the name of a host, found '../a'"},
           {"a-2 --run -o x", "expected either --run or names of hosts"},
           {"-o x", "expected --run or the names of hosts"},
           {"--run", "--output is required"}}) {
    const Said outcome = said_in(folder, "paths keygen " + words);
    INFO(words << ": " << outcome.text);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.text, Contains(expected));
  }
  CHECK(said_in(folder, "cat job.key keys/*").text == before);
  CHECK(said_in(folder, "paths keygen a-2 -o keys").exit_code == 0);
  CHECK(said_in(folder, "grep -c ^a- keys/keys.yaml").text == "3\n");
}

TEST_CASE("paths run: a run of which other machines start hosts needs a key before it starts") {
  const Folder folder;
  const std::string hosts =
      "hosts:\n  a-0: {cluster: a, address: \"tcp://127.0.0.1:7700\", threads: 1}\n"
      "  a-1: {cluster: a, address: \"tcp://203.0.113.77:7700\", threads: 1}\n";
  for (const std::string security : {"run", "network"}) {
    folder.write("job.yaml", "network: {security: " + security + "}\ndeadline: 100ms\n" + hosts);
    const Said outcome = said_in(folder, "paths run job.yaml -- sh -c 'echo started'");
    INFO(security << ": " << outcome.text);
    const bool needs_key = security == "run";
    CHECK((outcome.text.find("started") == std::string::npos) == needs_key);
    CHECK((outcome.exit_code == 2) == needs_key);
    if (!needs_key) continue;
    CHECK_THAT(outcome.text, Contains("job.yaml: ") && Contains("`paths keygen --run -o FILE`"));
    said_in(folder, "paths keygen --run -o job.key");
    for (const std::string key : {"--run-key job.key -- ", "-- env PATHS_RUN_KEY= "})
      CHECK_THAT(said_in(folder, "paths run job.yaml " + key + "echo started").text,
                 Contains(key.starts_with("--run") ? "started" : "the run has no key"));
  }
}

TEST_CASE("paths run: a bad run key is refused before a process starts") {
  const Folder folder;
  folder.write("job.yaml", config_of_two(""));
  said_in(folder, "paths keygen --run -o job.key; cp job.key open.key; chmod 644 open.key");
  const std::string other = test_support::digits_of(*test_support::run_key());
  for (const auto& [line, expected] : std::vector<std::pair<std::string, std::string>>{
           {"paths run job.yaml --run-key open.key -- echo started", "other users may use"},
           {"paths run job.yaml --run-key none.key -- echo started", "No such file"},
           {"paths run job.yaml --run-key none.key --clock virtual -- echo started",
            "No such file"},
           {"PATHS_RUN_KEY=" + other + " paths run job.yaml --run-key job.key -- echo started",
            "the run key differs from that in PATHS_RUN_KEY"},
           {"PATHS_RUN_KEY=12ab paths run job.yaml -- echo started",
            "expected the 64 hexadecimal digits"}}) {
    const Said outcome = said_in(folder, line);
    INFO(line << "\n" << outcome.text);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.text, Contains(expected) && !Contains("started"));
  }
}

#if PATHS_HAS_BENCH

namespace {

constexpr const char* noise = "noise_allreduce --iterations 20";

/// Starts the processes of two hosts, and returns the output and the exit codes of both.
Said two_processes(const Folder& folder, const std::string& first, const std::string& second) {
  return said_in(folder, fmt::format("{} & first=$!; {}; second=$?; wait $first; "
                                     "echo exit codes $? $second",
                                     first, second));
}

}  // namespace

TEST_CASE("run keys: hosts that are started by hand meet with --run-key") {
  const Folder folder;
  folder.write("job.yaml", config_of_two("run"));
  said_in(folder, "paths keygen --run -o job.key");
  const std::string line = fmt::format("{} --config job.yaml --run-key job.key", noise);
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {line + " --host a-0", line + " --host a-1"},
           {"PATHS_HOST=a-0 " + line, "PATHS_HOST=a-1 " + line},
           {"OMPI_COMM_WORLD_RANK=0 " + line, "OMPI_COMM_WORLD_RANK=1 " + line},
           {"PMI_RANK=0 " + line, "PMI_RANK=1 " + line},
           {"SLURM_PROCID=0 " + line, "SLURM_PROCID=1 " + line}}) {
    const Said outcome = two_processes(folder, first, second);
    INFO(first << "\n" << outcome.text);
    CHECK_THAT(outcome.text, Contains("exit codes 0 0"));
  }
}

TEST_CASE("run keys: without a key a host does not listen, and says how to make one") {
  const Folder folder;
  folder.write("job.yaml", config_of_two(""));
  const Said outcome = said_in(folder, fmt::format("{} --config job.yaml --host a-0", noise));
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.text, Contains("host a-0: cannot listen on TCP: the run has no key; make one "
                                    "with `paths keygen --run -o FILE`"));
}

TEST_CASE("run keys: with security plain or network hosts meet without a key") {
  for (const std::string security : {"plain", "network"}) {
    const Folder folder;
    folder.write("job.yaml", config_of_two(security));
    const std::string line = fmt::format("{} --config job.yaml --host", noise);
    const Said outcome = two_processes(folder, line + " a-0", line + " a-1");
    INFO(outcome.text);
    CHECK_THAT(outcome.text, Contains("exit codes 0 0"));
    for (const char* const host : {"a-0", "a-1"})
      CHECK((outcome.text.find(fmt::format("host {}: `security: plain`", host)) !=
             std::string::npos) == (security == "plain"));
  }
}

TEST_CASE("host keys: the lines that docs tell users of ssh to type start a run") {
  const Folder folder;
  folder.write("job.yaml", config_of_two("{keys: keys/keys.yaml}"));
  // On a cluster each machine has a home folder of its own. Here each machine is a folder.
  const Said outcome = said_in(
      folder,
      fmt::format("paths keygen a-0 a-1 -o keys || exit 9\n"
                  "for h in a-0 a-1; do mkdir -p $h/job/keys $h/.config/paths; "
                  "cp -p keys/$h.key $h/.config/paths/; done\n"
                  "for h in a-0 a-1; do cp job.yaml $h/job/; cp keys/keys.yaml $h/job/keys/; done\n"
                  "for h in a-0 a-1; do (export HOME=$PWD/$h; cd $h/job && PATHS_HOST=$h {0} "
                  "--config job.yaml; echo $h exit code $?) & done; wait",
                  noise));
  INFO(outcome.text);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.text, Contains("a-0 exit code 0") && Contains("a-1 exit code 0"));
}

TEST_CASE("host keys: paths run starts hosts and a switch, which uses the key of its exit") {
  const Folder folder;
  folder.write(
      "job.yaml",
      fmt::format("network: {{port: {}, security: {{keys: keys/keys.yaml}}}}\n"
                  "shared_memory: false\ndeadline: 20s\nlanes: {{}}\n"
                  "clusters: {{a: {{hosts: 2, threads: 1, uplink: switch}}, b: {{hosts: 1}}}}\n"
                  "links: [{{between: [a, b], latency: 1ms}}]\n",
                  test_support::free_ports(8)));
  const Said outcome =
      said_in(folder,
              "paths keygen a-0 a-1 b-0 -o keys && mkdir -p config/paths && "
              "cp -p keys/*.key config/paths/ && export XDG_CONFIG_HOME=$PWD/config && "
              "paths run job.yaml -- lane_traffic --messages 20 --bytes 1000");
  INFO(outcome.text);
  CHECK(outcome.exit_code == 0);
}

#endif
