// SPDX-License-Identifier: Apache-2.0
// tests/messages/transfers_golden.cpp — text of the report on transfers between clusters.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "groups/group.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/traced_run.hpp"

TEST_CASE("transfers of a run: the text matches the approved one") {
  const test_support::TracedRun run(R"(
clusters:
  alpha: {hosts: 3, uplink: switch}
  beta: {hosts: 2, uplink: switch}
  gamma: {hosts: 2, network: {latency: 50us}}
links:
  - {between: [alpha, beta], latency: 10ms, stream_rate: 8Mbit, streams: 2}
  - {between: [alpha, gamma], latency: 20ms, bandwidth: 100Mbit}
  - {between: [beta, gamma], latency: 5ms, stream_rate: 8Mbit}
lanes:
)",
                                    [](paths::Thread& thread) {
                                      groups::Group world(thread);
                                      const std::vector<std::int32_t> mine(10'000, 1);
                                      std::vector<std::int32_t> all(7 * 10'000);
                                      world.run(groups::by("direct", groups::allgather(mine, all)));
                                    });
  const eventspace::TransfersReport transfers = run.report().report.transfers;
  const std::string text = to_text(transfers, 0) + to_text(transfers, 3);
  CHECK(text == test_support::golden("transfers.txt", text));
}
