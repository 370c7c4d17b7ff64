// SPDX-License-Identifier: Apache-2.0
// tests/bench/collective_real.cpp — validated collectives between processes, and the death of one
// process.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

/// Runs the collective on three hosts of two threads in two clusters, with one process per host.
test_support::Said run_collective(const std::string& more, const std::string& options) {
  return test_support::run_shell(fmt::format(
      "config=$(mktemp --suffix .yaml); cat >$config <<'END'\n"
      "network: {{transport: ipc}}\n"
      "clusters:\n"
      "  a: {{hosts: 2, threads: 2, network: {{latency: 50us, bandwidth: 1Gbit}}}}\n"
      "  b: {{hosts: 1, threads: 2, network: {{latency: 50us, bandwidth: 1Gbit}}}}\n"
      "links: {{all: {{latency: 2ms, bandwidth: 1Gbit}}}}\n"
      "lanes:\n{}END\n"
      "timeout 500 {}/paths run $config -- collective {}; code=$?; rm $config; exit $code",
      more, PATHS_BUILD_BIN_DIR, options));
}

/// Runs collectives that would take a long time, and kills one of the hosts. Returns the output.
test_support::Said run_and_kill() {
  return run_collective("",
                        "allreduce -m 1MiB -i 1000 & run=$!; "
                        "hosts() { pgrep -P $(pgrep -P $run -x paths); }; "
                        "until [ $(hosts | wc -l) -ge 3 ] || ! kill -0 $run; do sleep 0.1; done "
                        "2>/dev/null; sleep 1; "
                        "kill -9 $(hosts | tail -1) && echo killed; wait $run");
}

}  // namespace

TEST_CASE("collective: processes compute correct values over shared memory and sockets") {
  const std::string shared_memory = GENERATE("true", "false");
  const test_support::Said said = run_collective(
      fmt::format("shared_memory: {}\n", shared_memory),
      "broadcast,reduce,allreduce,gather,scatter,allgather,reduce_scatter,alltoall,scan,exscan,"
      "barrier -m 8:256KiB -i 1 --validation");
  INFO(said.text);
  CHECK(said.exit_code == 0);
  CHECK(said.text.find("# exscan by best, 6 threads") != std::string::npos);
}

TEST_CASE("collective: processes that use shared memory get no predicted time") {
  const std::string clusters = GENERATE("clusters: {a: {hosts: 3}}",
                                        "clusters: {a: {hosts: 2}, b: {hosts: 2}}\n"
                                        "links: {all: {latency: 1ms}}");
  const test_support::Said said = test_support::run_shell(fmt::format(
      "config=$(mktemp --suffix .yaml); cat >$config <<'END'\n"
      "network: {{transport: ipc}}\n{}\nlanes:\nEND\n"
      "timeout 500 {}/paths run $config -- collective allreduce,alltoall,barrier -m 8:64KiB -i 1 "
      "--consecutive 3 --validation; code=$?; rm $config; exit $code",
      clusters, PATHS_BUILD_BIN_DIR));
  INFO(said.text);
  CHECK(said.exit_code == 0);
  CHECK(said.text.find("-            -       -  shared_memory") != std::string::npos);
}

TEST_CASE("collective: a host that is killed during an operation is named and the run ends") {
  const test_support::Said said = run_and_kill();
  INFO(said.text);
  CHECK(said.text.find("killed") != std::string::npos);
  CHECK(said.exit_code == 1);
  CHECK(said.text.find("was killed by signal 9") != std::string::npos);
}
#endif
