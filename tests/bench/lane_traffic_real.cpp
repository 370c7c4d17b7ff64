// SPDX-License-Identifier: Apache-2.0
// tests/bench/lane_traffic_real.cpp — random messages between sixteen processes.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

/// Returns the total number of messages that all hosts report as received.
std::uint64_t received(const std::string& text) {
  constexpr std::string_view key = "\"received\": ";
  std::uint64_t sum = 0;
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
    sum += std::stoull(text.substr(at + key.size()));
  return sum;
}

}  // namespace

TEST_CASE(
    "lane_traffic: sixteen processes exchange random messages over shared memory and sockets") {
  const std::string shared_memory = GENERATE("true", "false");
  CAPTURE(shared_memory);
  const test_support::Said said = test_support::run_shell(fmt::format(
      "config=$(mktemp --suffix .yaml); {{ cat {}; echo 'shared_memory: {}'; }} >$config; "
      "timeout 120 {}/paths run $config -- lane_traffic --messages 1000; "
      "code=$?; rm $config; exit $code",
      PATHS_SOURCE_DIR "/bench/lane_traffic/lanes.yaml", shared_memory, PATHS_BUILD_BIN_DIR));
  INFO(said.text);
  CHECK(said.exit_code == 0);
  CHECK(received(said.text) == 1000);
}
#endif
