// SPDX-License-Identifier: Apache-2.0
// tests/commands/run_real.cpp — `paths run`: TCP ports, limits, standard input, and programs that
// take no part in the run.
#include <fmt/format.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "base/digest.hpp"
#include "paths/keys/run_key.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/sim.hpp"

namespace {

using Catch::Contains;
using test_support::Folder;

constexpr const char* two_clusters =
    "clusters: {a: {hosts: 2}, b: {hosts: 1}}\n"
    "links: [{between: [a, b], latency: 100us}]\n"
    "collectives: {sum: {operation: sum, template: f64}}\n"
    "deadline: 10s\n";

/// Returns the output of a shell command line with `paths` and `noise_allreduce` in PATH.
test_support::Said said(const std::string& line) {
  return test_support::run_shell(
      fmt::format("unset PATHS_CONFIG PATHS_HOST; PATH={}:$PATH; {}", PATHS_BUILD_BIN_DIR, line));
}

}  // namespace

TEST_CASE("paths run: a program that does not join the run is an error on either clock") {
  const Folder folder;
  const std::string config = folder.write("two.yaml", two_clusters);
  for (const char* const line : {"paths run {} -- /bin/true", "paths run {} --clock virtual -- ls",
                                 "paths run {} -- sh -c true"}) {
    const auto outcome = said(fmt::format(fmt::runtime(line), config));
    INFO(line << "\n" << outcome.text);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.text,
               Contains("paths run: no program joined the run: '") &&
                   Contains("' ended with exit code 0 and never ran a thread of the config") &&
                   Contains("check its name and arguments"));
  }
}

TEST_CASE("paths run: a config that ends early on standard input is a mistake with its place") {
  const std::string text = "clusters: {a: {hosts: 2}, b: {hosts: 1\n";
  for (const char* const command :
       {"check /dev/stdin", "run /dev/stdin -- true", "run /dev/stdin --clock virtual -- true"}) {
    const auto outcome = said(fmt::format("printf '{}' | paths {}", text, command));
    INFO(command << "\n" << outcome.text);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.text, Contains("/dev/stdin:2:1: not YAML: expected ',' or '}' of the '{' in "
                                      "line 1"));
  }
  const auto nothing = said("paths run /dev/stdin -- true </dev/null");
  CHECK(nothing.exit_code == 2);
  CHECK_THAT(nothing.text, Contains("expected settings, found an empty file"));
}

#if PATHS_HAS_BENCH
namespace {

constexpr const char* noise = "noise_allreduce --iterations 20 --compute-time 10us";

}  // namespace

TEST_CASE("paths run: hosts read the config from standard input or from a pipe") {
  const Folder folder;
  const std::string config = folder.write("two.yaml", two_clusters);
  for (const char* const line :
       {"cat {0} | paths run /dev/stdin -- {1}", "paths run /dev/stdin -- {1} <{0}",
        "cat {0} | paths run /dev/stdin --clock virtual -- {1}",
        "bash -c 'paths run <(cat {0}) -- {1}'"}) {
    const auto outcome = said(fmt::format(fmt::runtime(line), config, noise));
    INFO(line << "\n" << outcome.text);
    CHECK(outcome.exit_code == 0);
  }
}

TEST_CASE("paths run: the secret of a run is random and is in no command line, log or trace") {
  const Folder folder;
  const std::string config = folder.write("two.yaml", two_clusters);
  std::set<std::string> secrets;
  for (const char* const run : {"one", "two"}) {
    const std::string seen = folder.file(run);
    const auto outcome = said(fmt::format(
        "mkdir {0} && paths run {1} --trace {0}/trace -- sh -c 'printf %s $PATHS_RUN_KEY > "
        "{0}/secret.$PATHS_HOST; cat /proc/[0-9]*/cmdline > {0}/lines.$PATHS_HOST 2>/dev/null; "
        "exec {2}'",
        seen, config, noise));
    INFO(outcome.text);
    REQUIRE(outcome.exit_code == 0);
    const std::string secret = test_support::read_text(seen + "/secret.a-0");
    CHECK(std::regex_match(secret, std::regex("[0-9a-f]{64}")));
    CHECK(secrets.insert(secret).second);
    CHECK(test_support::read_text(seen + "/secret.b-0") == secret);
    const paths::RunKey key(paths::Secret::parse(secret).value());
    const base::Digest id = key.id();
    const auto bytes_of = [](std::uint64_t half) {
      return std::string(reinterpret_cast<const char*>(&half), sizeof half);
    };
    const paths::CurveKeys curve = key.curve_keys();
    const auto raw = key.secret().bytes(), raw_curve = curve.secret.bytes();
    std::string all = outcome.text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(seen))
      if (entry.is_regular_file() && !entry.path().filename().string().starts_with("secret."))
        all += test_support::read_text(entry.path());
    CHECK(all.find("noise_allreduce") != std::string::npos);
    for (const std::string& text :
         {secret, id.text(), bytes_of(id.high), bytes_of(id.low),
          std::string(raw.begin(), raw.end()), std::string(raw_curve.begin(), raw_curve.end())})
      CHECK(all.find(text) == std::string::npos);
  }
}

TEST_CASE("paths run: an impostor that says hello before a host does not change the result") {
  const std::string security = GENERATE("", ", security: plain");
  const Folder folder;
  const int port = test_support::free_ports(2);
  const std::string text = fmt::format(
      "network: {{port: {}{}}}\nshared_memory: false\ndeadline: 30s\n"
      "clusters: {{a: {{hosts: 2, threads: 1}}}}\n"
      "collectives: {{sum: {{operation: sum, template: f64, algorithm: sequential,\n"
      "              condition: {{less: 1e-9}}, contributions: non_negative}}}}\n"
      "exchanges: {{rows: {{template: \"f64[]\"}}}}\n"
      "elements: {{report: {{host: a-0, template: bytes, reach: all}}}}\n",
      port, security);
  const std::string config = folder.write("sor.yaml", text);
  const test_support::Sim sim(text);
  const auto command = [&](const std::string& grid) {
    return fmt::format(
        "{0}/paths run {1} -- sh -c 'while [ $PATHS_HOST = a-1 ] && [ ! -e {2} ]; do sleep 0.05; "
        "done; exec {0}/sor --size 40 --iterations 30 --raw {3}'",
        PATHS_BUILD_BIN_DIR, config, folder.file("go"), folder.file(grid));
  };
  test_support::HostProcess run = test_support::start_command(command("with"));
  const test_support::Stopwatch clock;
  while (!test_support::RawPeer(port).is_there() && clock.now() < std::chrono::seconds(20))
    test_support::pause(std::chrono::milliseconds(20));
  const base::Digest plan = sim.plan().digest;
  const test_support::RawHeader as{.run_high = plan.high,
                                   .run_low = plan.low,
                                   .text = "a-1",
                                   .from_host = 1,
                                   .stage = sim.plan().shares[0].entrances.at(0).stage};
  test_support::RawPeer impostor(port);
  impostor.send_frame(test_support::raw_hello(as, plan.high, plan.low));
  if (security.empty())
    CHECK(impostor.next_header() == std::nullopt);  // by default hosts need a key; it has none
  else
    CHECK(impostor.next_header() == test_support::raw_refusal("run"));
  impostor.send_frame(test_support::raw_move(as, 0), test_support::little_endian(1e6));
  folder.write("go", "");
  const int code = run.end();
  INFO(run.text());
  CHECK(code == 0);
  test_support::HostProcess alone = test_support::start_command(command("without"));
  REQUIRE(alone.end() == 0);
  const std::string grid = test_support::read_text(folder.file("without"));
  CHECK(grid.size() > 1000);
  CHECK(test_support::read_text(folder.file("with")) == grid);
}

TEST_CASE("paths run: concurrent runs on one machine use different ports") {
  const Folder folder;
  // The config uses sockets instead of shared memory. Each of the two runs is long enough to
  // overlap with the other run.
  const std::string config =
      folder.write("two.yaml", std::string(two_clusters) + "shared_memory: false\n");
  const std::string line = fmt::format(
      "paths run {} -- noise_allreduce --iterations 300 --compute sleep "
      "--compute-time 1ms",
      config);
  const auto outcome =
      said(fmt::format("({0} >{1}/one 2>&1; echo one $?) & ({0} >{1}/two 2>&1; echo two $?) & "
                       "({0} >{1}/three 2>&1; echo three $?) & wait; cat {1}/one {1}/two {1}/three",
                       line, folder.path().string()));
  INFO(outcome.text);
  for (const char* const one : {"one 0\n", "two 0\n", "three 0\n"})
    CHECK_THAT(outcome.text, Contains(one));
}

TEST_CASE("paths run: a run with given ports that are in use names the remedies") {
  const Folder folder;
  const int port = test_support::free_ports(3);
  const std::string config = folder.write("two.yaml", two_clusters);
  const std::string line = fmt::format(
      "paths run {} --port {} -- noise_allreduce --iterations 500 --compute sleep "
      "--compute-time 1ms",
      config, port);
  const auto outcome =
      said(fmt::format("{0} >{1}/one 2>&1 & {0} >{1}/two 2>&1 & wait; cat {1}/one {1}/two", line,
                       folder.path().string()));
  INFO(outcome.text);
  CHECK_THAT(outcome.text, Contains("the address is in use; is another run still going on? If so, "
                                    "choose other ports (--port") &&
                               Contains("--transport ipc"));
}

TEST_CASE("paths run: without shared memory frames use sockets and a warning is printed") {
  const Folder folder;
  const std::string config = folder.write("two.yaml", two_clusters);
  const std::string words = "no shared memory: `ulimit -f` forbids shared memory";
  // Sets `ulimit -f 0` on all hosts or on some of them. The outcome must not depend on which host
  // initiates a connection.
  for (const char* const of : {"a-0 a-1 b-0", "a-0", "b-0", "a-0 b-0"}) {
    const auto outcome = said(fmt::format(
        "paths run {} -- sh -c 'case \" {} \" in *\" $PATHS_HOST \"*) ulimit -f 0;; esac; exec {}'",
        config, of, noise));
    INFO(of << "\n" << outcome.text);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.text,
               Contains(words) || Contains("no shared memory: the system refuses it"));
    const std::regex line("no shared memory");
    const auto lines =
        std::distance(std::sregex_iterator(outcome.text.begin(), outcome.text.end(), line),
                      std::sregex_iterator());
    CHECK(lines <= 3);  // each of the three hosts prints the line at most once
  }
  const std::string strict =
      folder.write("strict.yaml", std::string(two_clusters) + "shared_memory: true\n");
  const auto refused = said(fmt::format("ulimit -f 0; paths run {} -- {}", strict, noise));
  INFO(refused.text);
  CHECK(refused.exit_code != 0);
  CHECK_THAT(refused.text, Contains("no shared memory, which the config requires: `ulimit -f` "
                                    "forbids shared memory"));
}

TEST_CASE("paths run: hosts with too few descriptors for their connections fail immediately") {
  const Folder folder;
  const std::string config =
      folder.write("two.yaml", std::string(two_clusters) + GENERATE("", "shared_memory: false\n"));
  // The host with the fewest connections needs 17 descriptors. It needs more if the shell leaves
  // some descriptors open.
  for (const int most : {10, 13, 16}) {
    const auto outcome =
        said(fmt::format("paths run {} -- sh -c 'ulimit -n {}; exec {}'", config, most, noise));
    INFO(outcome.text);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.text, Contains("it needs at least") &&
                                 Contains(fmt::format("open descriptors for its connections, but "
                                                      "may have {}",
                                                      most)));
    // No host reports a deadline, because all hosts fail before any of them waits for another host.
    CHECK_THAT(outcome.text, !Contains("deadline"));
  }
}

TEST_CASE(
    "paths run: more processes than the descriptor limit allows are refused with both figures") {
  const Folder folder;
  const std::string config = folder.write("two.yaml", two_clusters);
  const auto outcome = said(fmt::format("ulimit -n 30; paths run {} -- {}", config, noise));
  INFO(outcome.text);
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.text, Contains("to start 3 processes `paths run` needs 36 open descriptors, "
                                    "but there can be 30; raise the limit (ulimit -Hn)"));
}
#endif
