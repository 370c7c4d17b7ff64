// SPDX-License-Identifier: Apache-2.0
// tests/paths/transport_slow.cpp — slow requirements on all transports: very many connections, very
// large bodies, peers that are killed at any moment.
#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "runtime/random.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;

/// Returns the number in a variable of the environment, or `usual`.
std::uint64_t asked_for(const char* variable, std::uint64_t usual) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

/// Numbers of descriptors and of mappings of shared memory, from /proc/self.
struct Held {
  std::size_t descriptors = 0, mappings = 0;
  static Held now() {
    Held held;
    DIR* const folder = opendir("/proc/self/fd");
    while (readdir(folder) != nullptr) ++held.descriptors;
    closedir(folder);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      held.mappings += line.find("memfd:paths") == std::string::npos ? 0 : 1;
    return held;
  }
};

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
  TransportScene scene(GENERATE("tcp", "ipc", "memory"), 2);
  INFO(scene.kind());
  const std::uint64_t count = asked_for("PATHS_RECONNECTIONS", 10'000);
  runtime::Runtime runtime;
  runtime.run([&] {
    Mailbox left, right;
    auto a = scene.transport(runtime, 0), b = scene.transport(runtime, 1);
    right.echo = b.get();
    a->start(left);
    b->start(right);
    a->send(a->connect(1), numbered(0));
    REQUIRE(left.wait_for_frames(runtime, 1));
    const Held before = Held::now();
    for (std::uint64_t i = 0; i < count; ++i) {
      const ConnectionId connection = a->connect(1);
      a->send(connection, numbered(0));
      REQUIRE(left.wait_for_frames(runtime, i + 2));
      a->drop(connection);
    }
    REQUIRE(right.wait_for_loss(runtime, 20s, count));
    runtime.sleep_for(100ms);
    CHECK(Held::now().descriptors <= before.descriptors + 8);
    CHECK(Held::now().mappings == before.mappings);
    CHECK(left.lost().empty());
    CHECK(right.frames().size() == count + 1);
  });
}

TEST_CASE("transport: a body of 5 GiB arrives whole") {
  const std::string kind = GENERATE("local", "tcp", "ipc", "memory");
  TransportScene scene(kind, 2);
  INFO(scene.kind());
  const std::uint64_t bytes = (std::uint64_t{5} << 30) + 3;
  if (free_memory_bytes() < 3 * bytes) return test_support::skip("15 GiB of free memory");
  const auto at = [](std::uint64_t place) { return static_cast<std::byte>(place * 13 / 4096); };
  runtime::Runtime runtime;
  runtime.run([&] {
    Mailbox left, right;
    auto a = scene.transport(runtime, 0), b = scene.transport(runtime, 1);
    a->start(left);
    b->start(right);
    Frame frame = numbered(0);
    frame.operation.payload = base::Payload::filled(bytes, [&](std::span<std::byte> space) {
      for (std::uint64_t i = 0; i < bytes; i += 4096) space[i] = at(i);
      space[bytes - 1] = at(bytes - 1);
    });
    a->send(a->connect(1), std::move(frame));
    REQUIRE(right.wait_for_frames(runtime, 1, 300s));
    const auto came = right.frames().front().second.operation.payload.bytes();
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
  const std::uint64_t kills = asked_for("PATHS_KILLS", 40);
  const std::uint64_t seed = asked_for("PATHS_SEED", 1);
  runtime::Random random(seed);
  const Held before = Held::now();
  base::Nanos latest{0};
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    const auto span = std::chrono::microseconds(random.below(30'000));
    INFO("seed " << seed << ", kill " << kill << " after " << span.count() << " us");
    TransportScene scene("memory", 2);
    // The peer is killed while it connects, writes or reads frames of any size, or sleeps.
    PeerProcess peer(scene, 1, [](runtime::Runtime& inner, Transport& transport) {
      const ConnectionId to_a = transport.connect(0);
      for (std::uint64_t i = 0;; ++i) {
        transport.send(to_a, numbered(i, i % 20 == 19 ? 3'000'000 : 100));
        if (i % 50 == 49) inner.sleep_for(500us);
      }
    });
    Mailbox inbox;
    runtime::Runtime runtime;
    runtime.run([&] {
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
      a->stop();  // nothing arrives any more
      std::map<ConnectionId, int> came;
      for (const auto& [connection, frame] : inbox.frames()) ++came[connection];
      for (const auto& [connection, count] : came) CHECK(in_order(inbox.frames(), connection));
      CHECK_FALSE(inbox.is_late());
    });
  }
  CHECK(Held::now().descriptors <= before.descriptors + 4);
  CHECK(Held::now().mappings == before.mappings);
  WARN(kills << " kills: lost after " << base::format_time(latest) << " at most");
}
