// SPDX-License-Identifier: Apache-2.0
// tests/bench/noise_allreduce_real.cpp — noise_allreduce with processes on the steady clock.
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/noise_allreduce/noise_allreduce.hpp"
#include "tests/support/as_child.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/sim.hpp"

namespace {

/// Makes all later calls of memfd_create() fail with `error` in this process and its children.
void refuse_memory_files(int error) {
  std::array<sock_filter, 4> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // number of the system call
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  const bool is_set = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  if (!is_set) std::perror("no filter of system calls");
}

/// Runs a program on two hosts. In both processes memfd_create() fails with `error`, so they cannot
/// create shared memory. The returned output ends with "exit code N".
std::string run_without_memory_files(int error, bool requires_memory) {
  const std::string name = fmt::format("{} {}", error, requires_memory);
  return test_support::as_child(
             name,
             [&] {
               refuse_memory_files(error);
               const test_support::Said said = test_support::run_shell(fmt::format(
                   "D=$(mktemp -d) && cd $D && printf '%s\\n' 'network: {{transport: ipc}}' '{1}' "
                   "'clusters: {{a: {{hosts: 2}}}}' 'collectives: {{sum: {{template: f64}}}}' > "
                   "a.yaml "
                   "&& {0}/paths run a.yaml -- {0}/noise_allreduce --iterations 3 --compute sleep "
                   "--compute-time 1us; echo exit code $?; rm -r $D",
                   PATHS_BUILD_BIN_DIR, requires_memory ? "shared_memory: true" : ""));
               std::fputs(said.text.c_str(), stdout);
               std::fflush(stdout);
             })
      .text;
}

}  // namespace

TEST_CASE(
    "noise_allreduce: hosts that cannot create shared memory use sockets unless it is required") {
  std::vector<std::string> usual, required;
  for (const int error : {EPERM, ENOSYS}) {
    usual.push_back(run_without_memory_files(error, false));
    required.push_back(run_without_memory_files(error, true));
  }
  for (const std::string& text : usual) {
    INFO(text);
    CHECK_THAT(text, Catch::Contains("exit code 0"));
    for (const std::string host : {"host a-0", "host a-1"}) {
      const std::size_t line = text.find(host + ": no shared memory");
      CHECK(line != std::string::npos);
      CHECK(text.find(host + ": no shared memory", line + 1) == std::string::npos);
    }
  }
  for (const std::string& text : required) {
    INFO(text);
    CHECK_THAT(text, Catch::Contains("exit code 1"));
    CHECK_THAT(text, Catch::Contains("no shared memory, which the config requires"));
  }
}

TEST_CASE("noise_allreduce: a single process for all hosts reports no processor time per host") {
  const test_support::Sim sim(R"(
clusters: {alpha: {hosts: 3, threads: 1}}
collectives: {sum: {template: f64}}
elements: {report: {host: alpha-0, template: bytes, reach: all}}
)");
  bench::NoiseOptions options;
  options.iterations = 3;
  options.compute = "sleep";
  options.compute_time = "1us";
  bench::NoiseAllreduce noise(options);
  const paths::RunOptions of_all_hosts;
  noise.prepare(sim.plan(), of_all_hosts);
  nlohmann::ordered_json json;
  const auto failures = paths::run_plan(
      sim.shared_plan(), sim.kinds(), of_all_hosts,
      [&](paths::Thread& thread) { noise.run(thread); },
      [&](const paths::RunSummary& summary) { json = bench::to_json(noise.figures(summary)); });
  CHECK(failures == std::vector<std::string>());
  CHECK(json["threads"] == 3);
  CHECK(json["cpu_ms"].empty());
}

TEST_CASE(
    "noise_allreduce: WAN figures that a process lacks are null and not those of its own host") {
  const std::string folder = test_support::run_shell("mktemp -d").text;
  const std::string in = folder.substr(0, folder.find('\n'));
  const test_support::Said said = test_support::run_shell(
      fmt::format("cd {0} && printf '%s\\n' 'network: {{transport: ipc}}' "
                  "'clusters: {{alpha: {{hosts: 1, threads: 1}}, beta: {{hosts: 1, threads: 1}}}}' "
                  "'links: [{{between: [alpha, beta], latency: 1ms, bandwidth: 100Mbit}}]' "
                  "'collectives: {{sum: {{template: f64}}}}' > a.yaml && "
                  "{1}/paths run a.yaml -- {1}/noise_allreduce --iterations 3 --compute sleep "
                  "--compute-time 1us --json a.json; cat a.json; rm -r {0}",
                  in, PATHS_BUILD_BIN_DIR));
  INFO(said.text);
  const std::size_t begin = said.text.rfind("\n{");
  REQUIRE(begin != std::string::npos);
  const auto json = nlohmann::json::parse(said.text.substr(begin));
  CHECK(json["wan"]["messages_per_iteration"].is_null());
  CHECK(json["wan"]["unknown_hosts"] == std::vector<std::string>{"beta-0"});
  CHECK(!json["clusters"][0]["wan"]["messages_per_iteration"].is_null());
  CHECK_THAT(said.text, Catch::Contains("WAN per iteration           - messages") &&
                            Catch::Contains("no WAN figures of other hosts"));
}

// This case does not run under sanitizers, because they need more address space than the limits
// below.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE(
    "noise_allreduce: a host with too little `ulimit -v` ends with an error and not by a signal") {
  const std::string folder = test_support::run_shell("mktemp -d").text;
  const std::string in = folder.substr(0, folder.find('\n'));
  int refused = 0;
  // Limits of the address space in KiB. With these limits ZeroMQ cannot start its threads.
  for (const int kib : {48'000, 54'000, 60'000}) {
    const test_support::Said said = test_support::run_shell(fmt::format(
        "cd {0} && printf '%s\\n' 'network: {{transport: ipc}}' 'deadline: 20s' "
        "'clusters: {{a: {{hosts: 2}}}}' 'collectives: {{sum: {{template: f64}}}}' > a.yaml && "
        "ulimit -v {2} && {1}/paths run a.yaml -- {1}/noise_allreduce --iterations 3 "
        "--compute sleep --compute-time 1us",
        in, PATHS_BUILD_BIN_DIR, kib));
    INFO(kib << " KiB: " << said.text);
    CHECK(said.exit_code == 1);
    refused += said.text.find("ulimit") == std::string::npos ? 0 : 1;
    // Either host can be the last host that reports: the host without address space, or the other
    // host, which reports that its peer is gone.
    CHECK_THAT(said.text, Catch::Contains("ulimit") || Catch::Contains("is gone"));
    CHECK_THAT(said.text, !Catch::Contains("Aborted") && !Catch::Contains("terminate called"));
  }
  CHECK(refused > 0);
  test_support::run_shell("rm -r " + in);
}
#endif
