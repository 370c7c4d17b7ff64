// SPDX-License-Identifier: Apache-2.0
// tests/paths/scarce_real.cpp — hosts with too few descriptors, and hosts whose disk is full, as
// processes.
//
// PATHS_FAULTS=200 makes that many rounds of each kind.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

#if PATHS_HAS_BENCH
namespace {

using namespace test_support;
using namespace std::chrono_literals;
using Catch::Contains;

const std::vector<std::string> host_names = {"alpha-0", "alpha-1",   "b1",
                                             "b2",      "beta-gate", "gamma-0"};
/// Deadline of the runs. Hosts wait this long for a host that ended before it connected.
constexpr base::Nanos deadline = 2s;
/// Longest time until the last survivor ends. A loaded machine delays processes.
constexpr base::Nanos end_longest = deadline + 5s;

constexpr const char* noise =
    "noise_allreduce --compute sleep --compute-time 100us --values worst --iterations ";

std::string config(const std::string& network, bool has_memory) {
  return network + fmt::format(R"(
deadline: {}
shared_memory: {}
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: [b1, b2, beta-gate], threads: 2}}
  gamma: {{hosts: 1, threads: 1}}
links: {{all: {{latency: 1ms}}}}
collectives:
  sum: {{operation: sum, template: f64, condition: {{less: 1e-300}}, contributions: non_negative}}
)",
                               base::format_time(deadline), has_memory);
}

/// Starts the hosts of a config. The host `victim` may open at most `most` descriptors.
std::map<std::string, HostProcess> start_with_limit(const Folder& folder, const std::string& text,
                                                    const std::string& victim, int most,
                                                    const std::string& program) {
  const std::string file = folder.write("scarce.yaml", text), key = folder.file("run.key");
  const std::string bin = PATHS_BUILD_BIN_DIR;
  REQUIRE(run_shell(fmt::format("{}/paths keygen --run -o {}", bin, key)).exit_code == 0);
  std::map<std::string, HostProcess> all;
  for (const std::string& host : host_names)
    all.emplace(host, start_command(fmt::format(
                          "sh -c 'ulimit -n {}; exec env -u PATHS_CONFIG -u PATHS_SEED {}/{} "
                          "--config {} --host {} --run-key {}'",
                          host == victim ? most : 1024, bin, program, file, host, key)));
  return all;
}

/// Runs a script with a disk of `size` mounted at $DISK. The script runs as root of a user
/// namespace.
Said on_a_small_disk(const Folder& folder, const std::string& size, const std::string& script) {
  const std::string disk = folder.file("disk");
  return run_shell(fmt::format(
      "mkdir -p {0}; unshare -rm sh -c 'DISK={0}; mount -t tmpfs -o size={1} none $DISK; {2}'",
      disk, size, script));
}

}  // namespace

TEST_CASE("liveness: a host of a small run starts with 40 descriptors but not with 20") {
  const std::string network = network_line("tcp", static_cast<int>(host_names.size()));
  for (const int most : {20, 40}) {
    const Folder folder;
    INFO(most << " descriptors");
    auto hosts = start_with_limit(folder, config(network, false), "alpha-0", most,
                                  fmt::format("{}3 --algorithm magpie", noise));
    each_end(hosts, [&](const std::string&, const HostProcess& process, int code) {
      CHECK(code == (most == 20 ? 1 : 0));
      if (most == 20) CHECK_THAT(process.text(), Contains("host alpha-0"));
    });
  }
}

TEST_CASE("liveness: descriptors of lanes are counted before a host starts or joins a group") {
  const bool has_key = GENERATE(true, false);  // whether the config has the key `lanes`
  const std::string transport = GENERATE("tcp", "ipc");
  INFO(transport << (has_key ? " with" : " without") << " the key lanes");
  const std::string text = fmt::format(
      "{}deadline: {}\nshared_memory: false\n{}clusters: {{all: {{hosts: [{}], "
      "threads: 1}}}}\n",
      network_line(transport, static_cast<int>(host_names.size())), base::format_time(deadline),
      has_key ? "lanes:\n" : "", fmt::join(host_names, ", "));
  const Folder folder;
  const Stopwatch clock;
  auto hosts = start_with_limit(folder, text, "b1", 30, "collective allreduce -m 8KiB -i 3");
  each_end(hosts, [&](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == 1);
    // Without the key, a host names only the host for which it waits itself.
    if (has_key) CHECK_THAT(process.text(), Contains("host b1"));
    if (name == "b1")
      CHECK_THAT(process.text(), Contains("host b1: it needs at least ") &&
                                     Contains(" open descriptors for its connections, but may "
                                              "have 30; raise the limit"));
  });
  CHECK(clock.now() < end_longest);
}

TEST_CASE("liveness: hosts that fill their disk name the file and the host and end well") {
  const Folder probe;
  if (on_a_small_disk(probe, "64k", "true").exit_code != 0)
    return skip("a small disk (user namespaces)");
  runtime::Random random(from_environment("PATHS_SEED", 1));
  const std::uint64_t rounds = from_environment("PATHS_FAULTS", 1);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::string transport = random.chance(0.5) ? "tcp" : "ipc";
    const std::uint64_t kib = 64 + random.below(128);
    INFO(transport << ", " << kib << " KiB");
    const Folder folder;
    const std::string file = folder.write(
        "disk.yaml", config(network_line(transport, static_cast<int>(host_names.size())), false));
    const std::string bin = PATHS_BUILD_BIN_DIR;
    std::string script =
        fmt::format("{}/paths keygen --run -o {}/key; ", bin, folder.path().string());
    for (const std::string& host : host_names)
      script += fmt::format(
          "(timeout 60 {0}/{1}1000 --config {2} --host {3} --run-key {4}/key --trace $DISK/trace "
          ">{4}/{3} 2>&1; echo code $? >>{4}/{3}) & ",
          bin, noise, file, host, folder.path().string());
    script += fmt::format("wait; {}/paths analyze $DISK/trace --rows 1", bin);
    const Said analysis = on_a_small_disk(folder, fmt::format("{}k", kib), script);
    INFO(analysis.text);
    CHECK(analysis.exit_code == 0);
    CHECK_THAT(analysis.text, Contains("records missing: not written, or not readable"));
    for (const std::string& host : host_names) {
      const std::string said = read_text(folder.file(host));
      INFO(host << ": " << said);
      CHECK_THAT(said, Contains("code 0") &&
                           Contains(fmt::format("/trace/{}.trace: cannot write: No space left on "
                                                "device",
                                                host)) &&
                           Contains(fmt::format("nothing more of host {} is traced", host)) &&
                           Contains(fmt::format("the trace of host {} lacks ", host)));
    }
  }
}

TEST_CASE("liveness: a host whose disk is full before it starts names itself and the file") {
  const Folder folder;
  const std::string file = folder.write("disk.yaml", config(network_line("ipc", 6), false));
  if (on_a_small_disk(folder, "64k", "true").exit_code != 0)
    return skip("a small disk (user namespaces)");
  const Said said =
      on_a_small_disk(folder, "64k",
                      fmt::format("dd if=/dev/zero of=$DISK/filler bs=1k count=64 2>/dev/null; "
                                  "{}/{}1 --config {} --host b1 --trace $DISK/trace",
                                  PATHS_BUILD_BIN_DIR, noise, file));
  CHECK(said.exit_code == 1);
  CHECK_THAT(said.text, Contains("host b1: ") && Contains("/disk/trace") &&
                            Contains("No space left on device"));
}
#endif
