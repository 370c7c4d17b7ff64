// SPDX-License-Identifier: Apache-2.0
// tests/paths/transport_real.cpp — requirements on all transports, checked for each transport.
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "runtime/random.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;

base::Nanos processor_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/// A mailbox whose ShortEnd::deliver() blocks its caller until `may_go` is set.
class Holds final : public Mailbox {
 public:
  void deliver_short(ConnectionId, ShortFrame&&) override { FAIL("it has an end"); }
  std::shared_ptr<ShortEnd> short_end(ConnectionId) override {
    class End final : public ShortEnd {
     public:
      explicit End(Holds& holds) : holds_(holds) {}
      bool deliver(ShortFrame&&) override {
        holds_.is_inside = true;
        while (!holds_.may_go) sched_yield();
        holds_.is_inside = false;
        return true;
      }

     private:
      Holds& holds_;
    };
    return std::make_shared<End>(*this);
  }
  std::atomic<bool> is_inside{false}, may_go{false};
};

}  // namespace

TEST_CASE("transport: settle waits for active calls of receivers and for nothing else") {
  TransportScene scene("memory", 2);
  const bool is_one_of_several = GENERATE(false, true);
  INFO(is_one_of_several);
  // With Waiting::sleep, the services' thread receives frames and this thread does not.
  runtime::Runtime runtime({.waiting = runtime::Waiting::sleep});
  runtime.run([&] {
    Mailbox left;
    Holds right;
    const auto make = [&](std::uint32_t host) {
      return is_one_of_several ? make_transports(runtime, scene.peers(), host)
                               : scene.transport(runtime, host);
    };
    const auto a = make(0), b = make(1);
    a->start(left);
    b->start(right);
    b->settle();
    const ConnectionId to_b = a->connect(1);
    a->send(to_b, numbered(0));
    REQUIRE(right.wait_for_frames(runtime, 1));
    const auto way = a->short_way(to_b);
    REQUIRE(way != nullptr);
    way->send(ShortFrame());
    while (!right.is_inside) runtime.sleep_for(1ms);
    std::atomic<bool> has_settled{false};
    runtime::Task settling = runtime.spawn(runtime::ContextRole::thread, {"settles", {}, 0}, [&] {
      b->settle();
      CHECK_FALSE(right.is_inside);
      has_settled = true;
    });
    runtime.sleep_for(20ms);
    CHECK_FALSE(has_settled);
    right.may_go = true;
    settling.join();
    CHECK(has_settled);
    a->stop();
    b->stop();
  });
}

TEST_CASE("transport: 10000 frames in each direction arrive in order and none is lost") {
  constexpr std::uint64_t count = 10'000;
  between_two(GENERATE(from_range(scene_kinds())), [&](Two& two) {
    two.start_with_echo();
    const ConnectionId to_b = two.a->connect(1);
    for (std::uint64_t i = 0; i < count; ++i) two.a->send(to_b, numbered(i));
    REQUIRE(two.left.wait_for_frames(two.runtime, count));
    REQUIRE(two.right.wait_for_frames(two.runtime, count));
    CHECK(two.left.lost().empty());
    CHECK(two.right.lost().empty());
    two.stop();
    CHECK(two.left.frames().size() == count);
    CHECK(two.right.frames().size() == count);
    CHECK(in_order(two.left.frames(), to_b));
    CHECK(in_order(two.right.frames(), two.right.frames().front().first));
  });
}

TEST_CASE("transport: threads and services send concurrently on separate connections") {
  constexpr std::uint64_t senders = 6, count = 2'000;
  between_two(GENERATE(from_range(scene_kinds())), [&](Two& two) {
    two.start_with_echo();
    std::vector<ConnectionId> connections;
    std::vector<runtime::Task> tasks;
    for (std::uint64_t s = 0; s < senders; ++s) connections.push_back(two.a->connect(1));
    for (std::uint64_t s = 0; s < senders; ++s) {
      const auto role = s % 2 == 0 ? runtime::ContextRole::thread : runtime::ContextRole::service;
      tasks.push_back(two.runtime.spawn(role, {"sender", {}, s}, [&, s] {
        for (std::uint64_t i = 0; i < count; ++i) two.a->send(connections[s], numbered(i));
      }));
    }
    for (auto& task : tasks) task.join();
    REQUIRE(two.left.wait_for_frames(two.runtime, senders * count));
    two.stop();
    CHECK(two.left.frames().size() == senders * count);
    for (const ConnectionId connection : connections)
      CHECK(in_order(two.left.frames(), connection));
  });
}

TEST_CASE("transport: bodies of all sizes arrive whole and outlive the transport") {
  TransportScene scene(GENERATE(from_range(scene_kinds())), 2);
  INFO(scene.kind());
  const std::vector<std::size_t> sizes{0,       1,         48,
                                       49,      4095,      4096,
                                       65'536,  65'537,    (1 << 20) + 1,
                                       0,       5,         (4 << 20) - 64,
                                       4 << 20, 9'000'001, 33 << 20,
                                       100};
  on_steady_clock([&](runtime::Runtime& runtime) {
    std::vector<Mailbox::Arrived> arrived;
    {
      Two two(scene, runtime);
      two.right.echo = two.b.get();
      two.start();
      const ConnectionId to_b = two.a->connect(1);
      for (std::uint64_t i = 0; i < sizes.size(); ++i) two.a->send(to_b, numbered(i, sizes[i]));
      REQUIRE(two.left.wait_for_frames(runtime, sizes.size()));
      arrived = two.left.frames();
    }
    REQUIRE(arrived.size() == sizes.size());
    CHECK(in_order(arrived, arrived.front().first));
    for (std::size_t i = 0; i < sizes.size(); ++i)
      CHECK(arrived[i].second.operation.payload.size() == sizes[i]);
  });
}

TEST_CASE("transport: a peer that starts later gets all frames") {
  between_two(GENERATE(from_range(scene_kinds())), [&](Two& two) {
    two.a->start(two.left);
    const ConnectionId to_b = two.a->connect(1);
    for (std::uint64_t i = 0; i < 100; ++i) two.a->send(to_b, numbered(i, 100 * i));
    two.runtime.sleep_for(300ms);
    CHECK(two.left.lost().empty());
    two.b->start(two.right);
    REQUIRE(two.right.wait_for_frames(two.runtime, 100));
    CHECK(in_order(two.right.frames(), two.right.frames().front().first));
    CHECK(two.left.lost().empty());
  });
}

TEST_CASE("transport: a sender without room is notified each time there is some") {
  constexpr std::size_t bytes = 300'000;
  between_two(GENERATE(from_range(scene_kinds())), [&](Two& two) {
    two.a->start(two.left);
    const ConnectionId to_b = two.a->connect(1), other = two.a->connect(1);
    std::uint64_t sent = 0;
    std::size_t refused = 0;
    const auto is_notified = [&] {
      return two.a->has_room(to_b) || two.left.wait_for_room(two.runtime, to_b, ++refused);
    };
    two.a->send(to_b, numbered(sent++, bytes));  // sent before host b has started
    const bool keeps_nothing = two.a->has_room(to_b);
    CHECK(keeps_nothing == (two.scene.kind() != "memory"));
    two.b->start(two.right);
    if (!keeps_nothing) REQUIRE(two.left.wait_for_room(two.runtime, to_b, ++refused));
    while (sent < 300) {
      two.a->send(to_b, numbered(sent++, bytes));
      // Sends on the other connection of the same link without asking for room.
      two.a->send(other, numbered(0));
      if (sent % 7 == 0) REQUIRE(is_notified());
    }
    REQUIRE(two.right.wait_for_frames(two.runtime, 2 * sent - 1));
    REQUIRE(is_notified());  // the last notification about room can arrive after the frames
    CHECK(two.left.lost().empty());
  });
}

TEST_CASE("transport: stopping sends accepted frames and the peer sees the loss") {
  const std::size_t bytes = GENERATE(8, 10'000);
  between_two(GENERATE(from_range(process_kinds())), [&](Two& two) {
    two.start();
    const ConnectionId to_b = two.a->connect(1);
    for (std::uint64_t i = 0; i < 1000; ++i) two.a->send(to_b, numbered(i, bytes));
    two.a.reset();
    REQUIRE(two.right.wait_for_frames(two.runtime, 1000));
    REQUIRE(two.right.wait_for_loss(two.runtime));
    CHECK(two.right.frames().size() == 1000);
    CHECK(in_order(two.right.frames(), two.right.frames().front().first));
    CHECK(two.right.lost().count(two.right.frames().front().first) == 1);
    two.b->send(two.right.frames().front().first, numbered(0));  // this frame is discarded
  });
}

TEST_CASE("transport: a host that sends to an ended one gets a loss") {
  between_two(GENERATE(from_range(scene_kinds())), [&](Two& two) {
    two.start_with_echo();
    const ConnectionId to_b = two.a->connect(1);
    two.a->send(to_b, numbered(0));
    REQUIRE(two.left.wait_for_frames(two.runtime, 1));
    two.b.reset();
    two.a->send(to_b, numbered(1));
    REQUIRE(two.left.wait_for_loss(two.runtime));
    CHECK(two.left.lost().count(to_b) == 1);
    CHECK_FALSE(two.left.is_late());
  });
}

TEST_CASE("transport: a killed peer is reported within a second on both kinds of connection") {
  TransportScene scene(GENERATE(from_range(process_kinds())), 2);
  INFO(scene.kind());
  PeerProcess peer(scene, 1, [](runtime::Runtime&, Transport& transport) {
    transport.send(transport.connect(0), numbered(0));
  });
  Mailbox inbox;
  on_steady_clock([&](runtime::Runtime& runtime) {
    auto a = scene.transport(runtime, 0);
    a->start(inbox);
    const ConnectionId to_b = a->connect(1);
    a->send(to_b, numbered(0));
    // Two frames arrive: a frame that the peer sends first, and a frame that it sends back.
    REQUIRE(inbox.wait_for_frames(runtime, 2));
    peer.kill();
    const base::Nanos killed = runtime.now();
    REQUIRE(inbox.wait_for_loss(runtime, 5s, 2));
    CHECK(runtime.now() - killed < 1s);
    CHECK(inbox.lost().at(to_b) == process_ended);

    // A new host at the same address belongs to another run. No frame of this run may reach it.
    Mailbox successor;
    auto b = scene.transport(runtime, 1);
    b->start(successor);
    a->send(to_b, numbered(1));
    runtime.sleep_for(800ms);
    CHECK(successor.frames().empty());
    const ConnectionId again = a->connect(1);
    a->send(again, numbered(2));
    CHECK(successor.wait_for_frames(runtime, 1));
    CHECK_FALSE(inbox.is_late());
  });
}

TEST_CASE("transport: frames of a peer that is killed while it sends are whole and in order") {
  TransportScene scene(GENERATE(from_range(process_kinds())), 2);
  const int repetition = GENERATE(range(0, 6));
  runtime::Random random(static_cast<std::uint64_t>(repetition));
  const auto span = std::chrono::microseconds(random.below(60'000));
  INFO(scene.kind() << ", killed " << span.count() << " us after its first frame");
  PeerProcess peer(scene, 1, [](runtime::Runtime& runtime, Transport& transport) {
    const ConnectionId to_a = transport.connect(0);
    for (std::uint64_t i = 0;; ++i) {
      transport.send(to_a, numbered(i, i % 10 == 9 ? 300'000 : 100));
      if (i % 100 == 99) runtime.sleep_for(1ms);
    }
  });
  Mailbox inbox;
  on_steady_clock([&](runtime::Runtime& runtime) {
    auto a = scene.transport(runtime, 0);
    a->start(inbox);
    REQUIRE(inbox.wait_for_frames(runtime, 1));
    runtime.sleep_for(span);
    peer.kill();
    REQUIRE(inbox.wait_for_loss(runtime, 5s));
    const std::size_t came = inbox.frames().size();
    runtime.sleep_for(50ms);
    CHECK(inbox.frames().size() == came);
    CHECK(in_order(inbox.frames(), inbox.frames().front().first));
    CHECK(inbox.lost().size() == 1);
    CHECK_FALSE(inbox.is_late());
  });
}

TEST_CASE("transport: a dropped connection delivers nothing more and others still work") {
  between_two(GENERATE(from_range(process_kinds())), [&](Two& two) {
    two.start_with_echo();
    const ConnectionId dropped = two.a->connect(1), kept = two.a->connect(1);
    two.a->send(dropped, numbered(0, 2'000));
    two.a->send(kept, numbered(0, 2'000));
    REQUIRE(two.left.wait_for_frames(two.runtime, 2));
    for (std::uint64_t i = 1; i < 500; ++i) {
      two.a->send(dropped, numbered(i, 2'000));
      two.a->send(kept, numbered(i, 2'000));
    }
    two.a->drop(dropped);
    two.a->send(dropped, numbered(500));  // this frame is discarded
    REQUIRE(two.right.wait_for_loss(two.runtime));
    const auto came = [&] {
      return std::count_if(two.left.frames().begin(), two.left.frames().end(),
                           [&](const auto& one) { return one.first == kept; });
    };
    two.left.wait(two.runtime, 20s, [&] { return came() == 500; });
    two.stop();
    CHECK(came() == 500);
    CHECK(in_order(two.left.frames(), kept));
    // The side that drops a connection gets no connection_lost() for that connection.
    CHECK(two.left.lost().count(dropped) == 0);
    CHECK_FALSE(two.left.is_late());
    CHECK_FALSE(two.right.is_late());
    for (const auto& [connection, reason] : two.right.lost())
      CHECK(in_order(two.right.frames(), connection));
  });
}

TEST_CASE("transport: repeated connections leave nothing behind") {
  check_reconnections(GENERATE(from_range(process_kinds())), 300);  // transport_slow: 10,000
}

TEST_CASE("transport: a connection dropped before the peer has started can be replaced") {
  between_two(GENERATE(from_range(process_kinds())), [&](Two& two) {
    two.a->start(two.left);
    const ConnectionId dropped = two.a->connect(1);
    two.a->send(dropped, numbered(0));
    two.a->drop(dropped);
    two.runtime.sleep_for(100ms);
    const ConnectionId kept = two.a->connect(1);
    for (std::uint64_t i = 0; i < 3; ++i) two.a->send(kept, numbered(i));
    two.b->start(two.right);
    REQUIRE(two.right.wait_for_frames(two.runtime, 3));
    CHECK(two.right.frames().size() == 3);  // no frame of the dropped connection arrived
    CHECK(in_order(two.right.frames(), two.right.frames().front().first));
  });
}

TEST_CASE("transport: a frame that cannot be encoded loses its connection and others still work") {
  between_two(GENERATE(from_range(process_kinds())), [&](Two& two) {
    two.start_with_echo();
    const ConnectionId broken = two.a->connect(1), sound = two.a->connect(1);
    Frame frame = numbered(0);
    // An invalid frame is a bug of the sender; bugs throw in this test and abort elsewhere.
    frame.operation.segments = 0;
    base::set_bugs_throw(true);
    two.a->send(broken, std::move(frame));
    REQUIRE(two.left.wait_for_loss(two.runtime));
    base::set_bugs_throw(false);
    CHECK(two.left.lost().count(broken) == 1);
    CHECK_THAT(two.left.lost().at(broken), Catch::Contains("cannot send to host alpha-1: bug at"));
    for (std::uint64_t i = 0; i < 10; ++i) two.a->send(sound, numbered(i));
    REQUIRE(two.left.wait_for_frames(two.runtime, 10));
    two.stop();
    CHECK(in_order(two.left.frames(), sound));
  });
}

TEST_CASE("transport: stopping never waits long for a dead or absent peer") {
  TransportScene scene(GENERATE(from_range(process_kinds())), 3);
  INFO(scene.kind());
  PeerProcess peer(scene, 1);
  Mailbox inbox;
  on_steady_clock([&](runtime::Runtime& runtime) {
    auto a = scene.transport(runtime, 0);
    a->start(inbox);
    const ConnectionId met = a->connect(1);
    const ConnectionId absent = a->connect(2);
    a->send(met, numbered(0));
    REQUIRE(inbox.wait_for_frames(runtime, 1));
    peer.kill();
    for (std::uint64_t i = 0; i < 100; ++i) {
      a->send(met, numbered(i, 1 << 16));
      a->send(absent, numbered(i, 1 << 16));
    }
    const base::Nanos before = runtime.now();
    a->stop();
    CHECK(runtime.now() - before < 2s);
  });
}

TEST_CASE("transport: an idle host uses no CPU") {
  between_two(GENERATE(from_range(process_kinds())), [&](Two& two) {
    two.start();
    for (int i = 0; i < 20; ++i) two.a->send(two.a->connect(1), numbered(0));
    REQUIRE(two.right.wait_for_frames(two.runtime, 20));
    const auto before = processor_time();
    two.runtime.sleep_for(1s);
    CHECK(processor_time() - before < 10ms);
  });
}

TEST_CASE("transport: an encrypting host receives nothing from a peer without its key") {
  std::vector<std::string> kinds = process_kinds();
  std::erase_if(kinds, [](const std::string& kind) { return !kind.ends_with(encrypted); });
  for (const std::string& kind : kinds) {
    INFO(kind);
    TransportScene scene(kind, 2);
    for (const bool has_other_key : {false, true}) {
      auto peers = std::make_shared<Peers>(*scene.peers());
      peers->keyring = has_other_key ? std::make_shared<const Keyring>(*new_run_key()) : nullptr;
      on_steady_clock([&](runtime::Runtime& runtime) {
        Mailbox left, right;
        const auto a = make_transport(runtime, peers, 0), b = scene.transport(runtime, 1);
        b->start(right);
        a->start(left);
        a->send(a->connect(1), numbered(0));
        CHECK(right.wait(runtime, 20s, [&] { return !right.turned_away().empty(); }));
        CHECK(right.frames().empty());
        a->stop();
        b->stop();
      });
    }
  }
}

TEST_CASE("transports: hosts of one machine share memory unless the config forbids it") {
  const bool is_allowed = GENERATE(true, false);
  TransportScene scene(GENERATE(from_range(every_transport())), 2);
  INFO(scene.kind());
  auto peers = std::make_shared<Peers>(*scene.peers());
  peers->hosts.push_back({"far", "tcp://203.0.113.1:7700", 0});
  peers->shared_memory = is_allowed;
  on_steady_clock([&](runtime::Runtime& runtime) {
    const auto memory = make_shared_memory_transport(runtime, peers, 0);
    CHECK(memory->reaches(1) == is_allowed);
    CHECK_FALSE(memory->reaches(2));
    Mailbox left, right;
    const auto a = make_transports(runtime, peers, 0), b = make_transports(runtime, peers, 1);
    right.echo = &*b;
    a->start(left);
    b->start(right);
    a->send(a->connect(1), numbered(0));
    REQUIRE(left.wait_for_frames(runtime, 1));
    CHECK((shared_mappings() > 0) == is_allowed);
  });
  CHECK(shared_mappings() == 0);
}
