// SPDX-License-Identifier: Apache-2.0
// tests/commands/encryption_cost_real.cpp — the price of encryption, as commands print it.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "commands/encryption_cost.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/read_config.hpp"
#include "tests/support/shell.hpp"

namespace {

using Catch::Contains;

/// Returns a config of two clusters, whose hosts have the given addresses.
std::string config_at(const std::string& a, const std::string& b, const std::string& settings,
                      const std::string& rate = "10Gbit") {
  return fmt::format(
      "clusters: {{a: {{hosts: 1, threads: 1, address: {}}},"
      " b: {{hosts: 1, threads: 1, address: {}}}}}\n"
      "links: [{{between: [a, b], latency: 1ms, bandwidth: {}}}]\nlanes: {{}}\n{}\n",
      a, b, rate, settings);
}

std::string price(const std::string& a, const std::string& b, const std::string& settings) {
  return commands::encryption_text(test_support::read_config(config_at(a, b, settings)));
}

std::string explained(const std::string& config) {
  const test_support::Folder folder;
  return test_support::run_shell(PATHS_BUILD_BIN_DIR "/paths explain " +
                                 folder.write("job.yaml", config) +
                                 " --collective allreduce --size 1MiB")
      .text;
}

}  // namespace

TEST_CASE("encryption cost: hosts with encrypted connections have a price and others have none") {
  const std::string run = "network: {security: run}";
  CHECK_THAT(price("10.0.0.1", "10.0.0.2", run), Contains("s of processor time per GB"));
  CHECK(price("10.0.0.1", "10.0.0.2", "network: {security: plain}").empty());
  CHECK(price("10.0.0.1", "10.0.0.2", "network: {security: network}").empty());
  CHECK(price("10.0.0.1", "10.0.0.1", run).empty());
  CHECK(price("127.0.0.1", "127.0.0.2", "").empty());
  CHECK(price("\"ipc:///tmp/a\"", "\"ipc:///tmp/b\"", "network: {transport: ipc}").empty());
  CHECK_FALSE(price("10.0.0.1", "10.0.0.1", run + "\nshared_memory: false").empty());
}

TEST_CASE("paths explain: it shows the price of encryption and the link that it limits") {
  const std::string run = "network: {security: run}";
  CHECK_THAT(explained(config_at("10.0.0.1", "10.0.0.2", run)),
             Contains("  encrypted  ") && Contains(", less than the link a to b (10Gbit)"));
  CHECK_THAT(explained(config_at("10.0.0.1", "10.0.0.2", run, "1Gbit")),
             Contains("  encrypted  ") && !Contains("less than the link"));
  CHECK_THAT(explained(config_at("10.0.0.1", "10.0.0.2", "network: {security: plain}")),
             !Contains("  encrypted  "));
}

TEST_CASE("paths measure: it shows the price of encryption if it measures encrypted connections") {
  const test_support::Folder folder;
  const std::string config = "clusters: {a: {hosts: 2}}\nlanes: {}\n";
  const auto measured = [&](const std::string& more) {
    return test_support::run_shell(PATHS_BUILD_BIN_DIR "/paths measure " +
                                   folder.write("job.yaml", config + more) + " -o " +
                                   folder.file("network.yaml"))
        .text;
  };
  CHECK_THAT(measured("shared_memory: false\n"),
             Contains("measure: encryption: about ") && Contains("for each connection"));
  CHECK_THAT(measured(""), !Contains("encryption"));
}
