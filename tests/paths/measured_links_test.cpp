// SPDX-License-Identifier: Apache-2.0
// tests/paths/measured_links_test.cpp — configs whose links and networks come from a file of
// measurements (`links: {from: FILE}`).

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/errors.hpp"
#include "paths/config/config.hpp"
#include "paths/plan/print_plan.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/thrown.hpp"
#include "wrappers/all.hpp"

namespace {

using test_support::Folder;

const char* const network =
    "clusters:\n"
    "  beta: {latency: 70us, bandwidth: 900Mbit}\n"
    "  alpha: {latency: 60us, bandwidth: 940Mbit}\n"
    "links:\n"
    "  - {from: alpha, to: beta, latency: 50ms, bandwidth: 10Mbit, streams: 8}\n"
    "  - {from: beta, to: alpha, latency: 40ms, bandwidth: 20Mbit, streams: 1}\n";

std::string config(const std::string& links, const std::string& beta = "") {
  return "clusters:\n"
         "  alpha: {hosts: 2}\n"
         "  beta: {hosts: 2" +
         beta + "}\nlinks: " + links + "\nlanes: {}\ncollectives: {sum: {template: f64}}\n";
}

std::string printed(const std::string& file) {
  return paths::print_plan(paths::load_plan(file, wrappers::all_kinds()), wrappers::all_kinds());
}

std::string mistakes_of(const std::string& file) {
  return test_support::thrown<base::ConfigError>(
      [&] { paths::load_plan(file, wrappers::all_kinds()); });
}

}  // namespace

TEST_CASE("links from a file equal written links and the file also supplies unwritten networks") {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "measured");
  folder.write("measured/network.yaml", network);
  const std::string measured = folder.write(
      "measured.yaml", config("{from: measured/network.yaml}", ", network: {latency: 1ms}"));
  const std::string said =
      folder.write("said.yaml",
                   "clusters:\n"
                   "  alpha: {hosts: 2, network: {latency: 60us, bandwidth: 940Mbit}}\n"
                   "  beta: {hosts: 2, network: {latency: 1ms}}\n"
                   "links:\n"
                   "  - {from: alpha, to: beta, latency: 50ms, stream_rate: 10Mbit, streams: 8}\n"
                   "  - {from: beta, to: alpha, latency: 40ms, bandwidth: 20Mbit}\n"
                   "lanes: {}\ncollectives: {sum: {template: f64}}\n");
  CHECK(printed(measured) == printed(said));
}

TEST_CASE("a file of other clusters is refused with each missing or extra cluster named") {
  const Folder folder;
  folder.write("network.yaml",
               "clusters: {alpha: {}, betta: {}}\n"
               "links:\n"
               "  - {from: alpha, to: betta, latency: 50ms, bandwidth: 10Mbit}\n"
               "  - {from: betta, to: alpha, latency: 40ms, bandwidth: 20Mbit}\n");
  const std::string file = folder.write("config.yaml", config("{from: network.yaml}"));
  const std::string wrong = mistakes_of(file);
  CAPTURE(wrong);
  CHECK_THAT(wrong,
             Catch::Contains("network.yaml:1:23: expected a cluster of the config that takes "
                             "this file, found 'betta'; did you mean 'beta'?"));
  CHECK_THAT(wrong, Catch::Contains("network.yaml:1:11: clusters: no beta, which the config has"));
}

TEST_CASE("mistakes in the file and in its use are reported with their positions") {
  const Folder folder;
  folder.write("network.yaml",
               "clusters: {alpha: {}, beta: {}}\n"
               "links:\n"
               "  - {from: alpha, to: beta, latency: 50ms, bandwidth: 0bit}\n");
  const std::string file = folder.write("config.yaml", config("{from: network.yaml}"));
  CHECK_THAT(mistakes_of(file), Catch::Contains(folder.file("network.yaml:3:55")) &&
                                    Catch::Contains("expected a rate above 0"));
  CHECK_THAT(mistakes_of(folder.write("config.yaml", config("{from: nowhere.yaml}"))),
             Catch::Contains("config.yaml:4:15: from: expected a file that can be read, found '" +
                             folder.file("nowhere.yaml")));
  CHECK_THAT(
      mistakes_of(folder.write("config.yaml", config("{from: a.yaml, all: {latency: 1ms}}"))),
      Catch::Contains("expected either all or from, found both"));
}
