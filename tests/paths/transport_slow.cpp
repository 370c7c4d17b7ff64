// SPDX-License-Identifier: Apache-2.0
// tests/paths/transport_slow.cpp — slow checks of the requirements on all transports: very many
// connections, very large bodies, peers that are killed at any moment.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "runtime/random.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;

std::uint64_t free_memory_bytes() {
  std::ifstream all("/proc/meminfo");
  std::string word;
  std::uint64_t kibibytes = 0;
  while (all >> word)
    if (word == "MemAvailable:") all >> kibibytes;
  return kibibytes << 10;
}

}  // namespace

TEST_CASE("transport: 10000 successive connections leave nothing behind") {
  check_reconnections(GENERATE(from_range(process_kinds())),
                      from_environment("PATHS_RECONNECTIONS", 10'000));
}

TEST_CASE("transport: a body of 5 GiB arrives whole") {
  const std::uint64_t bytes = (std::uint64_t{5} << 30) + 3;
  if (free_memory_bytes() < 3 * bytes) return test_support::skip("15 GiB of free memory");
  const auto at = [](std::uint64_t place) { return static_cast<std::byte>(place * 13 / 4096); };
  between_two(GENERATE(from_range(scene_kinds())), [&](Two& two) {
    two.start();
    Frame frame = numbered(0);
    frame.operation.payload = base::Payload::filled(bytes, [&](std::span<std::byte> space) {
      for (std::uint64_t i = 0; i < bytes; i += 4096) space[i] = at(i);
      space[bytes - 1] = at(bytes - 1);
    });
    two.a->send(two.a->connect(1), std::move(frame));
    REQUIRE(two.right.wait_for_frames(two.runtime, 1, 300s));
    const auto came = two.right.frames().front().second.operation.payload.bytes();
    REQUIRE(came.size() == bytes);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < bytes; i += 4096) wrong += came[i] == at(i) ? 0 : 1;
    CHECK(wrong == 0);
    CHECK(came[bytes - 1] == at(bytes - 1));
  });
}

TEST_CASE(
    "transport: a peer that is killed at any moment is lost within a second and its memory is "
    "freed") {
  const std::uint64_t kills = from_environment("PATHS_KILLS", 40);
  const std::uint64_t seed = from_environment("PATHS_SEED", 1);
  runtime::Random random(seed);
  const std::size_t descriptors = open_descriptors(), mappings = shared_mappings();
  base::Nanos latest{0};
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    const auto span = std::chrono::microseconds(random.below(30'000));
    INFO("seed " << seed << ", kill " << kill << " after " << span.count() << " us");
    TransportScene scene("memory", 2);
    // The peer is killed at a random time: while it connects, writes or reads frames, or sleeps.
    PeerProcess peer(scene, 1, [](runtime::Runtime& inner, Transport& transport) {
      const ConnectionId to_a = transport.connect(0);
      for (std::uint64_t i = 0;; ++i) {
        transport.send(to_a, numbered(i, i % 20 == 19 ? 3'000'000 : 100));
        if (i % 50 == 49) inner.sleep_for(500us);
      }
    });
    Mailbox inbox;
    on_steady_clock([&](runtime::Runtime& runtime) {
      auto a = scene.transport(runtime, 0);
      a->start(inbox);
      const ConnectionId to_b = a->connect(1);
      for (std::uint64_t i = 0; i < 20; ++i) a->send(to_b, numbered(i, 200'000));
      runtime.sleep_for(span);
      const std::size_t met = inbox.wait_for_frames(runtime, 1, 0ms) ? 1 : 0;
      peer.kill();
      const base::Nanos killed = runtime.now();
      if (met > 0) REQUIRE(inbox.wait_for_loss(runtime, 5s));
      latest = std::max(latest, runtime.now() - killed);
      CHECK(runtime.now() - killed < 1s);
      a->stop();  // no frame arrives after stop()
      std::map<ConnectionId, int> came;
      for (const auto& [connection, frame] : inbox.frames()) ++came[connection];
      for (const auto& [connection, count] : came) CHECK(in_order(inbox.frames(), connection));
      CHECK_FALSE(inbox.is_late());
    });
  }
  CHECK(open_descriptors() <= descriptors + 4);
  CHECK(shared_mappings() == mappings);
  WARN(kills << " kills: lost after " << base::format_time(latest) << " at most");
}
