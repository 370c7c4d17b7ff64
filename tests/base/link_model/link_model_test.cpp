// SPDX-License-Identifier: Apache-2.0
// tests/base/link_model/link_model_test.cpp — arrival times of messages over one direction of a
// link.
#include "base/link_model/link_model.hpp"

#include <catch2/catch.hpp>

#include "base/errors.hpp"

using base::Nanos;
using tuning::LinkModel;
using namespace std::chrono_literals;

TEST_CASE("link model: a message on an idle link takes its transmission time plus the latency") {
  const LinkModel link(10ms, 100e6);
  const auto passage = link.pass(5ms, Nanos(0), 1000);
  CHECK(passage.free_again == 5ms + 80us);  // 8000 bits at 100 Mbit/s
  CHECK(passage.arrives == 5ms + 80us + 10ms);
}

TEST_CASE("link model: a message on a busy link waits until the link is free") {
  const LinkModel link(10ms, 100e6);
  const auto passage = link.pass(5ms, 7ms, 1000);
  CHECK(passage.free_again == 7ms + 80us);
  CHECK(passage.arrives == 7ms + 80us + 10ms);
}

TEST_CASE("link model: unlimited bandwidth takes no time") {
  const LinkModel link(9ms, 0);
  const auto passage = link.pass(1ms, Nanos(0), 1u << 30);
  CHECK(passage.free_again == 1ms);
  CHECK(passage.arrives == 10ms);
}

TEST_CASE("link model: a message without bytes takes only the latency") {
  const LinkModel link(9ms, 1);
  CHECK(link.pass(Nanos(0), Nanos(0), 0).arrives == 9ms);
}

TEST_CASE("link model: fractions of a nanosecond are rounded up") {
  const LinkModel link(Nanos(0), 3e9);  // a byte (8 bits) takes 2.67 ns
  CHECK(link.pass(Nanos(0), Nanos(0), 1).arrives == 3ns);
  CHECK(link.pass(Nanos(0), Nanos(0), 3).arrives == 8ns);  // 3 bytes take exactly 8 ns
}

TEST_CASE("link model: extremely large messages do not overflow") {
  const LinkModel link(1ms, 1);
  CHECK(link.pass(1ms, Nanos(0), ~std::uint64_t{0}).arrives > 1ms);
}

TEST_CASE("link model: a trace applies as of the departure of a message and repeats") {
  const LinkModel link({{0ms, 5ms, 0}, {10ms, 50ms, 8e6}}, 30ms);
  CHECK(link.at(0ms).latency == 5ms);
  CHECK(link.at(9'999'999ns).latency == 5ms);
  CHECK(link.at(10ms).latency == 50ms);
  CHECK(link.at(29ms).latency == 50ms);
  CHECK(link.at(30ms).latency == 5ms);
  CHECK(link.at(70ms).latency == 50ms);  // 70 ms is 10 ms into the third period of 30 ms
  // The message is offered at 9 ms, but the link is busy until 10 ms. Then the 1000 bytes take 1
  // ms.
  CHECK(link.pass(9ms, 10ms, 1000).arrives == 10ms + 1ms + 50ms);
}

TEST_CASE(
    "link model: an arrival after the end of the clock is an error and not a time in the past") {
  const LinkModel slow(base::time_max, 0.001);
  CHECK(slow.pass(0s, 0s, 8).arrives == 64'000s + base::time_max);
  CHECK(slow.pass(0s, base::time_max, 1u << 30).arrives == 3 * base::time_max);
  CHECK_THROWS_AS(slow.pass(base::Nanos::max() - 1s, 0s, 8), std::overflow_error);
  CHECK_THROWS_AS(slow.pass(0s, base::Nanos::max() - 1s, 0), std::overflow_error);
  CHECK(LinkModel(0s, 0).pass(base::Nanos::max(), 0s, 8).arrives == base::Nanos::max());
}

TEST_CASE("link model: samples out of order are reported as a bug") {
  base::set_bugs_throw(true);
  CHECK_THROWS_AS(LinkModel({}, 1ms), std::logic_error);
  CHECK_THROWS_AS(LinkModel({{1ms, 5ms, 0}}, 3ms), std::logic_error);
  CHECK_THROWS_AS(LinkModel({{0ms, 5ms, 0}, {2ms, 5ms, 0}, {1ms, 5ms, 0}}, 3ms), std::logic_error);
  CHECK_THROWS_AS(LinkModel({{0ms, 5ms, 0}, {2ms, 5ms, 0}}, 2ms), std::logic_error);
  base::set_bugs_throw(false);
}

TEST_CASE("link model: planning uses the worst values except for a given share of the time") {
  const LinkModel trace({{0s, 10ms, 1e6}, {90s, 50ms, 5e5}, {99s, 20ms, 0}}, 100s);
  CHECK(trace.worst_but(0).latency == 50ms);
  CHECK(trace.worst_but(0.089).latency == 50ms);
  CHECK(trace.worst_but(0.09).latency == 20ms);
  CHECK(trace.worst_but(0.1).latency == 10ms);
  CHECK(trace.worst_but(1).latency == 10ms);
  CHECK(trace.worst_but(0).bits_per_second == 5e5);
  CHECK(trace.worst_but(0.5).bits_per_second == 1e6);
  CHECK(trace.worst_but(1).bits_per_second == 0);
  CHECK(LinkModel(7ms, 3).worst_but(0.5).latency == 7ms);
}
