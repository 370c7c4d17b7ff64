// SPDX-License-Identifier: Apache-2.0
// tests/commands/paper_parameters_test.cpp — parameters of Vadhiyar et al. 2004 from known costs.
#include "commands/paper_parameters.hpp"

#include <catch2/catch.hpp>
#include <chrono>

using commands::paper_parameters;
using namespace std::chrono_literals;

namespace {

const tuning::FrameCosts costs{.send = tuning::CostTable({{1, 3us}, {1001, 13us}}),
                               .receive = tuning::CostTable({{1, 5us}, {1001, 25us}}),
                               .window_bytes = 32 << 10};

}  // namespace

TEST_CASE("paper parameters: the parts of a message add up to its time") {
  const tuning::MeasuredLink link{.latency = 20us, .bits_per_second = 80e6};
  const auto found = paper_parameters(costs, link, 64 << 10, 501);
  CHECK(found.os_start == 8us);
  CHECK(found.or_time == 15us);
  CHECK(found.g == 20us + 50'100ns);  // the paper's gap contains the latency
  CHECK(found.os_g_or == found.os_start + found.g + found.or_time);
  CHECK(found.os_spike == 50'100ns);  // a full window gives way at the rate of the link
  CHECK_FALSE(found.is_blocking());
}

TEST_CASE("paper parameters: the window holds the paper's 16 sends of 2 KiB and 8 of 4 KiB") {
  CHECK(paper_parameters(costs, {}, 64 << 10, 2 << 10).initial_interval == 16);
  CHECK(paper_parameters(costs, {}, 64 << 10, 4 << 10).initial_interval == 8);
  CHECK(paper_parameters(costs, {}, 64 << 10, 64 << 10).initial_interval == 1);
}

TEST_CASE("paper parameters: without a slow link the slower host sets the pace of many sends") {
  const auto found = paper_parameters(costs, {}, 64 << 10, 1001);
  CHECK(found.os_spike == 25us);
  const tuning::FrameCosts receiver{.send = tuning::CostTable({{1, 1us}}),
                                    .receive = tuning::CostTable({{1, 9us}})};
  CHECK(paper_parameters(receiver, {}, 64 << 10, 1).is_blocking());
}

TEST_CASE("paper parameters: the lines show one byte, the largest small message and a frame") {
  const tuning::MeasuredLink link{.latency = 20us, .bits_per_second = 80e6};
  CHECK(commands::paper_lines("near", costs, link, 8192) ==
        "measure: near: 1B: os_g_or 28100ns, os_start 3us, g 20100ns, or 5us (immediate); "
        "initial_interval 32768, os_spike 5us\n"
        "measure: near: 4KiB: os_g_or 560450ns, os_start 43950ns, g 429600ns, or 86900ns "
        "(immediate); initial_interval 8, os_spike 409600ns\n"
        "measure: near: 8KiB: os_g_or 1092930ns, os_start 84910ns, g 839200ns, or 168820ns "
        "(immediate); initial_interval 4, os_spike 819200ns\n");
  CHECK(commands::paper_lines("near", costs, link, 1).find('\n') ==
        commands::paper_lines("near", costs, link, 1).size() - 1);
}
