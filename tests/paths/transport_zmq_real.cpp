// SPDX-License-Identifier: Apache-2.0
// tests/paths/transport_zmq_real.cpp — frames over real sockets, and peers that die.
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "paths/wire/transport_zmq.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace paths;
using namespace std::chrono_literals;

void pause_shortly() {
  runtime::Runtime clock;
  clock.run([&clock] { clock.sleep_for(10ms); });
}

/// Of the sockets of this process; goes with it.
struct Folder {
  const std::string name = fmt::format("/tmp/paths-test-{}", getpid());
  ~Folder() { std::filesystem::remove_all(name); }
};

std::string free_address(const std::string& scheme) {
  static Folder folder;
  static int count = 0;
  if (scheme == "ipc") return fmt::format("ipc://{}/{}", folder.name, ++count);
  return fmt::format("tcp://localhost:{}", test_support::free_ports(1));
}

std::shared_ptr<const Peers> peers_of(const std::string& scheme, int hosts) {
  auto peers = std::make_shared<Peers>();
  for (int i = 0; i < hosts; ++i)
    peers->hosts.push_back({fmt::format("alpha-{}", i), free_address(scheme), 0});
  return peers;
}

Frame numbered(std::uint64_t number, std::size_t bytes = 8) {
  Frame frame;
  frame.kind = FrameKind::one_way;
  frame.call = number;
  frame.operation.payload = base::Payload::filled(bytes, [number](auto space) {
    for (std::size_t i = 0; i < space.size(); ++i)
      space[i] = static_cast<std::byte>(number + 7 * i);
  });
  return frame;
}

/// Keeps what arrives; optionally answers every frame on the connection it came on.
class Inbox : public Receiver {
 public:
  Transport* echo = nullptr;

  void deliver(ConnectionId connection, Frame frame) override {
    if (echo != nullptr) echo->send(connection, frame);
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    frames_.emplace_back(connection, std::move(frame));
    changed_.wake_all(wakes);
  }
  void connection_lost(ConnectionId connection, const std::string& reason) override {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    lost_[connection] = reason;
    changed_.wake_all(wakes);
  }
  bool wait(runtime::Runtime& runtime, base::Nanos span, std::function<bool()> enough) {
    const runtime::Deadline deadline = runtime::Deadline::written_at(runtime.now() + span);
    const runtime::Reason reason{"the inbox"};
    runtime::Lock lock(mutex_);
    while (!enough())
      if (changed_.wait(lock, deadline, reason) == runtime::Woken::expired) return enough();
    return true;
  }
  bool wait_for_frames(runtime::Runtime& runtime, std::size_t count) {
    return wait(runtime, 20s, [&] { return frames_.size() >= count; });
  }
  bool wait_for_loss(runtime::Runtime& runtime, base::Nanos span = 5s) {
    return wait(runtime, span, [&] { return !lost_.empty(); });
  }
  /// For when nothing is under way.
  const std::vector<std::pair<ConnectionId, Frame>>& frames() const { return frames_; }
  const std::map<ConnectionId, std::string>& lost() const { return lost_; }

 private:
  runtime::Mutex mutex_;
  runtime::WaitList changed_;
  std::vector<std::pair<ConnectionId, Frame>> frames_;
  std::map<ConnectionId, std::string> lost_;
};

/// Counts without stopping at each: Catch is slow.
bool in_order(const std::vector<std::pair<ConnectionId, Frame>>& frames, ConnectionId connection) {
  std::uint64_t expected = 0;
  for (const auto& [from, frame] : frames) {
    if (from != connection) continue;
    const auto size = frame.operation.payload.size();
    if (frame.call != expected ||
        frame.operation.payload != numbered(expected, size).operation.payload)
      return false;
    ++expected;
  }
  return true;
}

/// A peer of its own process that answers every frame until it is killed. Forked before this
/// process starts any thread.
class Peer {
 public:
  Peer(std::shared_ptr<const Peers> peers, std::uint32_t host,
       std::function<void(Transport&)> act) {
    pid_ = fork();
    if (pid_ != 0) return;
    runtime::Runtime runtime;
    Inbox inbox;
    runtime.run([&] {
      auto transport = make_zmq_transport(runtime, peers, host);
      inbox.echo = transport.get();
      transport->start(inbox);
      if (act) act(*transport);
      runtime.sleep_for(60s);
    });
    _exit(0);
  }
  ~Peer() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("transport_zmq: a frame that cannot be encoded loses its connection, and others go on") {
  const auto peers = peers_of("ipc", 2);
  Inbox left, right;
  runtime::Runtime runtime;
  runtime.run([&] {
    auto a = make_zmq_transport(runtime, peers, 0);
    auto b = make_zmq_transport(runtime, peers, 1);
    right.echo = b.get();
    a->start(left);
    b->start(right);
    const ConnectionId broken = a->connect(1, 0), sound = a->connect(1, 0);
    Frame frame = numbered(0);
    frame.operation.segments = 0;  // a bug, which throws here and aborts elsewhere
    base::set_bugs_throw(true);
    a->send(broken, frame);
    REQUIRE(left.wait_for_loss(runtime));
    base::set_bugs_throw(false);
    CHECK(left.lost().count(broken) == 1);
    CHECK_THAT(left.lost().at(broken), Catch::Contains("cannot send to host alpha-1: bug at"));
    for (std::uint64_t i = 0; i < 10; ++i) a->send(sound, numbered(i));
    REQUIRE(left.wait_for_frames(runtime, 10));
    a->stop();
    b->stop();
    CHECK(in_order(left.frames(), sound));
  });
}

TEST_CASE("transport_zmq: 10,000 frames each way arrive in order, none lost") {
  const std::string scheme = GENERATE("tcp", "ipc");
  INFO(scheme);
  const auto peers = peers_of(scheme, 2);
  constexpr std::uint64_t count = 10'000;
  Inbox left, right;
  runtime::Runtime runtime;
  runtime.run([&] {
    auto a = make_zmq_transport(runtime, peers, 0);
    auto b = make_zmq_transport(runtime, peers, 1);
    right.echo = b.get();
    a->start(left);
    b->start(right);
    const ConnectionId to_b = a->connect(1, 0);
    for (std::uint64_t i = 0; i < count; ++i) a->send(to_b, numbered(i));
    REQUIRE(left.wait_for_frames(runtime, count));
    REQUIRE(right.wait_for_frames(runtime, count));
    CHECK(left.lost().empty());
    CHECK(right.lost().empty());
    a->stop();
    b->stop();
    CHECK(left.frames().size() == count);
    CHECK(right.frames().size() == count);
    CHECK(in_order(left.frames(), to_b));
    CHECK(in_order(right.frames(), right.frames().front().first));
  });
}

TEST_CASE("transport_zmq: threads and services send at once on connections of their own") {
  const auto peers = peers_of("ipc", 2);
  constexpr std::uint64_t senders = 6, count = 2'000;
  Inbox left, right;
  runtime::Runtime runtime;
  runtime.run([&] {
    auto a = make_zmq_transport(runtime, peers, 0);
    auto b = make_zmq_transport(runtime, peers, 1);
    right.echo = b.get();
    a->start(left);
    b->start(right);
    std::vector<ConnectionId> connections;
    std::vector<runtime::Task> tasks;
    for (std::uint64_t s = 0; s < senders; ++s) connections.push_back(a->connect(1, 0));
    for (std::uint64_t s = 0; s < senders; ++s) {
      const auto role = s % 2 == 0 ? runtime::ContextRole::thread : runtime::ContextRole::service;
      tasks.push_back(runtime.spawn(role, {"sender", {}, s}, [&, s] {
        for (std::uint64_t i = 0; i < count; ++i) a->send(connections[s], numbered(i));
      }));
    }
    for (auto& task : tasks) task.join();
    REQUIRE(left.wait_for_frames(runtime, senders * count));
    a->stop();
    b->stop();
    CHECK(left.frames().size() == senders * count);
    for (const ConnectionId connection : connections) CHECK(in_order(left.frames(), connection));
  });
}

TEST_CASE("transport_zmq: large bodies cross whole and outlive the transport") {
  const std::string scheme = GENERATE("tcp", "ipc");
  const auto peers = peers_of(scheme, 2);
  Inbox left, right;
  runtime::Runtime runtime;
  runtime.run([&] {
    {
      auto a = make_zmq_transport(runtime, peers, 0);
      auto b = make_zmq_transport(runtime, peers, 1);
      right.echo = b.get();
      a->start(left);
      b->start(right);
      const ConnectionId to_b = a->connect(1, 0);
      for (std::uint64_t i = 0; i < 8; ++i) a->send(to_b, numbered(i, (1 << 20) + i));
      REQUIRE(left.wait_for_frames(runtime, 8));
    }
    CHECK(in_order(left.frames(), left.frames().front().first));
    CHECK(left.frames()[7].second.operation.payload.size() == (1 << 20) + 7);
  });
}

TEST_CASE("transport_zmq: a peer that starts later gets everything") {
  const std::string scheme = GENERATE("tcp", "ipc");
  const auto peers = peers_of(scheme, 2);
  Inbox left, right;
  runtime::Runtime runtime;
  runtime.run([&] {
    auto a = make_zmq_transport(runtime, peers, 0);
    a->start(left);
    const ConnectionId to_b = a->connect(1, 0);
    for (std::uint64_t i = 0; i < 100; ++i) a->send(to_b, numbered(i));
    runtime.sleep_for(300ms);
    CHECK(left.lost().empty());
    auto b = make_zmq_transport(runtime, peers, 1);
    b->start(right);
    REQUIRE(right.wait_for_frames(runtime, 100));
    CHECK(in_order(right.frames(), right.frames().front().first));
    CHECK(left.lost().empty());
  });
}

TEST_CASE("transport_zmq: stopping sends what was handed over, and both sides hear of the end") {
  const auto peers = peers_of("tcp", 2);
  Inbox left, right;
  runtime::Runtime runtime;
  runtime.run([&] {
    auto b = make_zmq_transport(runtime, peers, 1);
    b->start(right);
    {
      auto a = make_zmq_transport(runtime, peers, 0);
      a->start(left);
      const ConnectionId to_b = a->connect(1, 0);
      for (std::uint64_t i = 0; i < 1000; ++i) a->send(to_b, numbered(i));
    }
    REQUIRE(right.wait_for_frames(runtime, 1000));
    REQUIRE(right.wait_for_loss(runtime));
    CHECK(right.frames().size() == 1000);
    CHECK(right.lost().count(right.frames().front().first) == 1);
    b->send(right.frames().front().first, numbered(0));  // swallowed
  });
}

TEST_CASE("transport_zmq: a killed peer is reported within a second, on both kinds of connection") {
  const std::string scheme = GENERATE("tcp", "ipc");
  INFO(scheme);
  const auto peers = peers_of(scheme, 2);
  Peer peer(peers, 1,
            [](Transport& transport) { transport.send(transport.connect(0, 0), numbered(0)); });
  Inbox inbox;
  runtime::Runtime runtime;
  runtime.run([&] {
    auto a = make_zmq_transport(runtime, peers, 0);
    a->start(inbox);
    const ConnectionId to_b = a->connect(1, 0);
    a->send(to_b, numbered(0));
    REQUIRE(inbox.wait_for_frames(runtime, 2));  // the peer's own and its answer
    peer.kill();
    const base::Nanos killed = runtime.now();
    REQUIRE(inbox.wait(runtime, 5s, [&] { return inbox.lost().size() == 2; }));
    CHECK(runtime.now() - killed < 1s);
    CHECK(inbox.lost().at(to_b) == "host alpha-1 has closed the connection or died");

    // A successor at the same address is another run: nothing reaches it.
    Inbox successor;
    auto b = make_zmq_transport(runtime, peers, 1);
    b->start(successor);
    a->send(to_b, numbered(1));
    runtime.sleep_for(800ms);
    CHECK(successor.frames().empty());
    const ConnectionId again = a->connect(1, 0);
    a->send(again, numbered(2));
    CHECK(successor.wait_for_frames(runtime, 1));
  });
}

TEST_CASE("transport_zmq: stopping never waits long for a dead or absent peer") {
  const auto peers = peers_of("tcp", 3);
  Peer peer(peers, 1, nullptr);
  Inbox inbox;
  runtime::Runtime runtime;
  runtime.run([&] {
    auto a = make_zmq_transport(runtime, peers, 0);
    a->start(inbox);
    const ConnectionId met = a->connect(1, 0);
    const ConnectionId absent = a->connect(2, 0);
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

TEST_CASE("transport_zmq: an address in use is refused by name") {
  const std::string scheme = GENERATE("tcp", "ipc");
  auto peers = peers_of(scheme, 1);
  Inbox inbox;
  runtime::Runtime runtime;
  runtime.run([&] {
    auto first = make_zmq_transport(runtime, peers, 0);
    auto second = make_zmq_transport(runtime, peers, 0);
    first->start(inbox);
    try {
      second->start(inbox);
      FAIL("it must not listen");
    } catch (const TravelError& error) {
      CHECK(error.host() == "alpha-0");
      CHECK(
          error.reason() ==
          fmt::format("cannot listen on {}: the address is in use; is another run still going on?",
                      peers->hosts[0].address));
    }
  });
}

TEST_CASE("transport_zmq: a file left behind by a killed run is no obstacle") {
  const auto peers = peers_of("ipc", 1);
  {
    Peer peer(peers, 0, nullptr);
    const std::string file = peers->hosts[0].address.substr(6);
    for (int i = 0; i < 200 && access(file.c_str(), F_OK) != 0; ++i) pause_shortly();
    REQUIRE(access(file.c_str(), F_OK) == 0);
  }
  Inbox inbox;
  runtime::Runtime runtime;
  runtime.run([&] { make_zmq_transport(runtime, peers, 0)->start(inbox); });
}

TEST_CASE("transport_zmq: addresses that nobody can listen on are refused") {
  for (const std::string address :
       {"tcp://203.0.113.1:7700", "ipc:///proc/no/such/folder/socket"}) {
    auto peers = std::make_shared<Peers>(*peers_of("tcp", 1));
    peers->hosts[0].address = address;
    Inbox inbox;
    runtime::Runtime runtime;
    runtime.run([&] {
      const auto transport = make_zmq_transport(runtime, peers, 0);
      CHECK_THROWS_AS(transport->start(inbox), TravelError);
    });
  }
}

TEST_CASE("transport_zmq: an idle host uses no CPU") {
  const auto peers = peers_of("tcp", 2);
  Inbox left, right;
  runtime::Runtime runtime;
  runtime.run([&] {
    auto a = make_zmq_transport(runtime, peers, 0);
    auto b = make_zmq_transport(runtime, peers, 1);
    a->start(left);
    b->start(right);
    for (int i = 0; i < 20; ++i) a->send(a->connect(1, 0), numbered(0));
    REQUIRE(right.wait_for_frames(runtime, 20));
    const auto used = [] {
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    };
    const auto before = used();
    runtime.sleep_for(1s);
    CHECK(used() - before < 10ms);
  });
}
