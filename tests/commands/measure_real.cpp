// SPDX-License-Identifier: Apache-2.0
// tests/commands/measure_real.cpp — `paths measure` with hosts in separate processes, and from the
// command line.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/link_model/measured_network.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/shell.hpp"

namespace {

using Catch::Contains;

test_support::Said paths_program(const std::string& words) {
  return test_support::run_shell(
      "env -u PATHS_CONFIG -u PATHS_HOST " PATHS_BUILD_BIN_DIR "/paths " + words);
}

std::string config(const std::string& links) {
  return "clusters:\n"
         "  near: {hosts: 2}\n"
         "  far: {hosts: 2}\n"
         "links: " +
         links + "\nlanes: {}\nnetwork: {transport: ipc}\n";
}

const char* const emulated =
    "[{from: near, to: far, latency: 20ms, stream_rate: 8Mbit, streams: 2}, "
    "{from: far, to: near, latency: 10ms, bandwidth: 16Mbit}]";

}  // namespace

TEST_CASE("measure: links between processes of this machine are measured as they are emulated") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config(emulated));
  const std::string output = folder.file("network.yaml");
  // On a busy machine the program may report that it could not measure a link. Ten such refusals in
  // a row are very unlikely.
  test_support::Said said;
  for (int attempt = 0; attempt < 10; ++attempt) {
    said = paths_program("measure " + file + " -o " + output);
    if (said.text.find("because the machine was busy") == std::string::npos) break;
  }
  CAPTURE(said.text);
  REQUIRE(said.exit_code == 0);
  CHECK_THAT(said.text, Contains("measure: 4 links and networks in 4 rounds: about"));
  CHECK_THAT(said.text, Contains("4 of 4"));
  const tuning::MeasuredNetwork network = tuning::load_measured_network(output);
  // The measured values may be worse than the declared values, because the machine may be busy.
  const auto check = [](const tuning::MeasuredLink& link, double latency, double rate) {
    const auto found = static_cast<double>(link.latency.count());
    CHECK(found >= 0.9 * latency);
    CHECK(found <= 3 * latency);
    CHECK(link.bits_per_second >= rate / 3);
    CHECK(link.bits_per_second <= rate * 1.5);
    CHECK(link.streams >= 1);
    CHECK(link.streams <= 4);
  };
  check(network.links.at({"near", "far"}), 20e6, 8e6);
  check(network.links.at({"far", "near"}), 10e6, 16e6);
  folder.write("planned.yaml", config("{from: network.yaml}"));
  CHECK(paths_program("check " + folder.file("planned.yaml")).exit_code == 0);
}

TEST_CASE("measure: measuring over an old file prints the changes and a second time prints none") {
  const test_support::Folder folder;
  const std::string output = folder.file("network.yaml");
  const auto measure = [&](const std::string& links) {
    folder.write("sites.yaml", config(links));
    return paths_program("measure " + folder.file("sites.yaml") + " --clock virtual -o " + output);
  };
  const auto first = measure(emulated);
  CAPTURE(first.text);
  REQUIRE(first.exit_code == 0);
  const std::string written = test_support::read_text(output);
  CHECK_THAT(first.text, !Contains("changed"));
  CHECK_THAT(measure(emulated).text, Contains("measure: nothing has changed"));
  CHECK(test_support::read_text(output) == written);
  const auto other = measure(
      "[{from: near, to: far, latency: 20ms, stream_rate: 8Mbit, streams: 2}, "
      "{from: far, to: near, latency: 15ms, bandwidth: 16Mbit}]");
  CHECK_THAT(other.text, Contains("measure: changed: far to near: 15ms, 16Mbit; was 10ms, 16Mbit"));
  CHECK_THAT(other.text, !Contains("changed: near to far"));
  // The config now emulates the links with the measured values. Measuring them again gives the same
  // values.
  CHECK_THAT(measure("{from: network.yaml}").text, Contains("measure: nothing has changed"));
}

TEST_CASE("measure: costs of hosts are in the file and change like links") {
  const test_support::Folder folder;
  const std::string output = folder.file("network.yaml");
  const auto measure = [&](const std::string& costs, const std::string& options) {
    folder.write("hosts.yaml",
                 "clusters: {near: {hosts: 3, network: {latency: 50us}}}\nlanes: {}\ncosts: " +
                     costs + "\n");
    return paths_program("measure " + folder.file("hosts.yaml") + " --clock virtual -o " + output +
                         options);
  };
  const auto first = measure("{send: 10us, receive: 4us, fold_ns_per_byte: 0.25}", " --costs");
  CAPTURE(first.text);
  REQUIRE(first.exit_code == 0);
  CHECK_THAT(first.text,
             Contains("measure: near: hosts need 10us to send a frame, 4us to receive it"));
  const std::string written = test_support::read_text(output);
  CHECK_THAT(written,
             Contains("near: {latency: 50us, latency_spread: 0.0000, bandwidth: unlimited"));
  CHECK_THAT(written, Contains("costs:\n  send: {1B: 10us}\n  receive: {1B: 4us}\n"
                               "  fold_ns_per_byte: 0.25\n"));
  // The second measurement also measures costs, because the file already contains costs.
  const auto second = measure("{send: 10us, receive: 6us}", "");
  CHECK_THAT(second.text,
             Contains("measure: changed: costs of all frames: 10us to send a frame, 6us "
                      "to receive it; was 10us to send a frame, 4us to receive it"));
  CHECK_THAT(measure("{from: network.yaml}", "").text, Contains("measure: nothing has changed"));
}

TEST_CASE("measure: invalid input is reported with exit code 2 before any message is sent") {
  const test_support::Folder folder;
  const std::string file = folder.write("sites.yaml", config("{all: {}}"));
  folder.write("network.yaml", "clusters: {near: {}}\nlinks: none\n");
  const auto old =
      paths_program("measure " + file + " --clock virtual -o " + folder.file("network.yaml"));
  CHECK(old.exit_code == 2);
  CHECK_THAT(old.text, Contains("network.yaml:2:8: links: expected a list, found 'none'"));
  const auto lone =
      paths_program("measure " + folder.write("lone.yaml", "clusters: {near: {hosts: 1}}\n") +
                    " --clock virtual -o " + folder.file("other.yaml"));
  CHECK(lone.exit_code == 2);
  CHECK_THAT(lone.text, Contains(folder.file("lone.yaml") + ": "));
  CHECK_THAT(lone.text, Contains("expected two hosts with threads"));
  CHECK_FALSE(std::filesystem::exists(folder.file("other.yaml")));
  const auto nowhere = paths_program("measure " + file + " --clock virtual -o " +
                                     folder.file("nowhere/network.yaml"));
  CHECK(nowhere.exit_code == 2);
  CHECK_THAT(nowhere.text, Contains("there is no folder " + folder.file("nowhere")));
}
