// SPDX-License-Identifier: Apache-2.0
// tests/base/link_model/host_costs_test.cpp — costs of hosts in settings, and mistakes in such
// settings.
#include "base/link_model/host_costs.hpp"

#include <catch2/catch.hpp>

#include "base/settings_print.hpp"

using namespace std::chrono_literals;

namespace {

/// Reads the costs and checks them against two clusters. Returns the mistakes, one per line.
std::string mistakes_in(const std::string& text) {
  base::Mistakes mistakes;
  tuning::HostCosts costs =
      tuning::read_host_costs(base::parse_settings(text, "costs.yaml"), mistakes);
  costs.position = {"costs.yaml", 1, 1};
  tuning::check_clusters(costs, {"alpha", "beta"}, mistakes);
  try {
    mistakes.throw_if_any();
  } catch (const base::ConfigError& error) {
    return error.what();
  }
  return "";
}

tuning::HostCosts costs_in(const std::string& text) {
  base::Mistakes mistakes;
  tuning::HostCosts costs =
      tuning::read_host_costs(base::parse_settings(text, "costs.yaml"), mistakes);
  mistakes.throw_if_any();
  return costs;
}

}  // namespace

TEST_CASE("host costs: frames have the costs of their clusters, or those of all others") {
  const auto costs = costs_in(
      "send: {1B: 4us, 4KiB: 6us}\nreceive: 5us\nfold_ns_per_byte: 0.5\n"
      "links: [{inside: alpha, send: 1us}, {from: alpha, to: beta, receive: 9us, window: 1MiB}]\n");
  CHECK(costs.between("beta", "alpha")->send.at(2048) == 5000ns);
  CHECK(costs.between("beta", "beta")->receive.at(1 << 20) == 5us);
  CHECK(costs.between("alpha", "alpha")->send.at(1) == 1us);
  CHECK(costs.between("alpha", "alpha")->receive.at(1) == 0us);
  CHECK(costs.between("alpha", "alpha")->window(64 * 1024) == 128 * 1024);
  CHECK(costs.between("alpha", "beta")->window(64 * 1024) == 1 << 20);
  CHECK(tuning::work_time(3000, costs.fold_bytes_per_second()) == 500ns);
  CHECK(tuning::work_time(3000, costs.copy_bytes_per_second()) == 0ns);
}

TEST_CASE("host costs: printed settings read back to the same costs") {
  const std::string text =
      "send: {1B: 1.5us, 64KiB: 30us}\nsend_spread: 0.02\n"
      "receive: 5us\nreceive_spread: 0.00001234\nwindow: unlimited\n"
      "fold_ns_per_byte: 0.31\ncopy_ns_per_byte: 0.1\ncopy_spread: 0.5\ncores: 3\nwake_up: 90us\n"
      "links: [{inside: alpha, send: 1us, window: 2KiB}, {from: alpha, to: beta, receive: 9us}]\n";
  const std::string printed = base::print_settings(tuning::settings_of(costs_in(text)));
  CHECK(printed.find("window: unlimited") != std::string::npos);
  CHECK(printed.find("cores: 3\nwake_up: 90us\n") != std::string::npos);
  CHECK(base::print_settings(tuning::settings_of(costs_in(printed))) == printed);
  const auto costs = costs_in(printed);
  CHECK(*costs.frames == *costs_in(text).frames);
  CHECK(costs.frames->receive_spread == 0.00001234);
  CHECK(costs.fold_nanos_per_byte == 0.31);
  CHECK(costs.copy_spread == 0.5);
  CHECK(costs.links.size() == 2);
}

TEST_CASE("host costs: mistakes are named with their places and a near match") {
  CHECK(mistakes_in("send: 5us\nreceive: {1B: 1us, 64KiB: 1us}\n").empty());
  const std::string fall = mistakes_in("send: {1B: 2us, 4KiB: 1us}\n");
  CHECK(fall.find("costs.yaml:1:23: send: expected at least 2us, the cost of 1B") !=
        std::string::npos);
  CHECK(mistakes_in("send: {4KiB: 2us, 4096B: 2us}\n").find("send: expected more than 4KiB") !=
        std::string::npos);
  CHECK(mistakes_in("send: -5us\n").find("costs.yaml:1:7: send: expected a time") !=
        std::string::npos);
  CHECK(mistakes_in("sends: 5us\n").find("did you mean 'send'?") != std::string::npos);
  CHECK(mistakes_in("fold_ns_per_byte: -1\n").find("fold_ns_per_byte") != std::string::npos);
  CHECK(mistakes_in("cores: 0\n").find("costs.yaml:1:8: cores: expected") != std::string::npos);
  CHECK(mistakes_in("wake_up: -1us\n").find("costs.yaml:1:10: wake_up: expected a time") !=
        std::string::npos);
  CHECK(mistakes_in("window: 0\n").find("expected more than 0 bytes") != std::string::npos);
  const std::string others = mistakes_in(
      "links: [{inside: alphaa, send: 1us}, {from: alpha, send: 1us}, {from: beta, to: beta, "
      "send: 1us}, {inside: beta}]\n");
  for (const std::string text :
       {"expected a cluster of the run, found 'alphaa'; did you mean 'alpha'?",
        "expected either inside: A, or from: A and to: B", "found beta twice; write inside: beta",
        "expected send, receive or window"}) {
    INFO(others);
    CHECK(others.find(text) != std::string::npos);
  }
}

TEST_CASE("host costs: without costs for all frames every two clusters must have some") {
  const std::string missing = mistakes_in("links: [{inside: alpha, send: 1us}]\n");
  CHECK(missing.find("none for frames inside beta") != std::string::npos);
  CHECK(missing.find("none for frames from alpha to beta") != std::string::npos);
  CHECK(missing.find("none for frames from beta to alpha") != std::string::npos);
  CHECK(missing.find("none for frames inside alpha") == std::string::npos);
  CHECK(mistakes_in("fold_ns_per_byte: 1\n").empty());
}

TEST_CASE("host costs: a simplified table keeps its times within the tolerance") {
  using Points = std::vector<tuning::CostTable::Point>;
  const tuning::CostTable line(Points{{1, 1000ns}, {100, 1099ns}, {1000, 1999ns}, {2000, 2999ns}});
  CHECK(line.simplified(0.001).points() == Points{{1, 1000ns}, {2000, 2999ns}});
  const tuning::CostTable knee(Points{{1, 1000ns}, {64, 1000ns}, {100, 1000ns}, {200, 1500ns}});
  CHECK(knee.simplified(0.01).points() == Points{{1, 1000ns}, {100, 1000ns}, {200, 1500ns}});
  CHECK(knee.simplified(0.5).points() == Points{{1, 1000ns}, {200, 1500ns}});
  const tuning::CostTable same(Points{{1, 1000ns}, {64, 1000ns}, {100, 1000ns}});
  CHECK(same.simplified(0).points() == Points{{1, 1000ns}});
  CHECK(tuning::CostTable().simplified(0.1).points().empty());
}

TEST_CASE("host costs: differences up to the spreads and 5 % are no differences") {
  const auto frames = [](const char* text) { return *costs_in(text).frames; };
  const auto before = frames("send: {1B: 10us, 4KiB: 20us}\nsend_spread: 0.1\nreceive: 5us\n");
  CHECK_FALSE(differs(before, frames("send: {1B: 11us, 4KiB: 20us}\nreceive: 5us\n")));
  CHECK(differs(before, frames("send: {1B: 12us, 4KiB: 20us}\nreceive: 5us\n")));
  CHECK_FALSE(differs(before, frames("send: {1B: 10us, 2KiB: 15us, 4KiB: 20us}\nreceive: 5us\n")));
  CHECK(differs(before, frames("send: {1B: 10us, 4KiB: 20us}\nreceive: 6us\n")));
  CHECK(describe(before) == "10us to 20us to send a frame of 1B to 4KiB, 5us to receive it");
}
