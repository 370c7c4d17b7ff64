// SPDX-License-Identifier: Apache-2.0
// tests/support/transport_scene.hpp — hosts that exchange frames over a transport of the test's
// choice.
#pragma once
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/address.hpp"
#include "paths/keys/keyring.hpp"
#include "paths/wire/local/transport.hpp"
#include "paths/wire/shared_memory/transport.hpp"
#include "paths/wire/transports.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/run_key.hpp"

namespace test_support {

using namespace std::chrono_literals;

/// Returns an address that no host uses, of a transport that a config can choose.
inline std::string free_address(const std::string& transport) {
  const base::TransportKind* const kind = base::find_transport_kind(transport);
  if (!kind->is_network) return base::Address{kind, new_socket_path(), 0}.text();
  return base::Address{kind, "localhost", static_cast<std::uint64_t>(free_ports(1))}.text();
}

constexpr const char* encrypted = " encrypted";

/// Returns the kinds of scenes between processes: each transport that a config can choose, each
/// network once more with encryption, and "memory".
inline std::vector<std::string> process_kinds() {
  std::vector<std::string> kinds = {"memory"};
  for (const base::TransportKind& kind : base::transport_kinds) {
    kinds.emplace_back(kind.word);
#if !defined(PATHS_TSAN)
    // The thread sanitizer does not see how ZeroMQ passes on decrypted messages, so it would report
    // each frame.
    if (kind.is_network) kinds.push_back(std::string(kind.word) + encrypted);
#endif
  }
  return kinds;
}

/// Returns the kinds of all scenes.
inline std::vector<std::string> scene_kinds() {
  std::vector<std::string> kinds = process_kinds();
  kinds.insert(kinds.begin(), "local");
  return kinds;
}

/// Returns a frame whose `call` is `number`, with a payload that depends on `number`.
inline paths::Frame numbered(std::uint64_t number, std::size_t bytes = 8) {
  paths::Frame frame;
  frame.kind = paths::FrameKind::one_way;
  frame.call = number;
  frame.operation.payload = base::Payload::filled(bytes, [number](auto space) {
    for (std::size_t i = 0; i < space.size(); ++i)
      space[i] = static_cast<std::byte>(number + 7 * i);
  });
  return frame;
}

/// Receiver that keeps arriving frames. If `echo` is set, it also sends each frame back.
class Mailbox : public paths::Receiver {
 public:
  using Arrived = std::pair<paths::ConnectionId, paths::Frame>;
  paths::Transport* echo = nullptr;

  void deliver(paths::ConnectionId connection, paths::Frame&& frame) override {
    if (echo != nullptr) echo->send(connection, paths::Frame(frame));
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    late_ = late_ || lost_.contains(connection);
    frames_.emplace_back(connection, std::move(frame));
    changed_.wake_all(wakes);
  }
  void connection_lost(paths::ConnectionId connection, const std::string& reason) override {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    late_ = late_ || lost_.contains(connection);
    lost_[connection] = reason;
    changed_.wake_all(wakes);
  }
  void room_made(paths::ConnectionId connection) override {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    ++room_made_[connection];
    changed_.wake_all(wakes);
  }
  void turned_away(const std::string&, const std::string& reason) override {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    turned_away_.push_back(reason);
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
  bool wait_for_frames(runtime::Runtime& runtime, std::size_t count, base::Nanos span = 20s) {
    return wait(runtime, span, [&] { return frames_.size() >= count; });
  }
  bool wait_for_room(runtime::Runtime& runtime, paths::ConnectionId connection, std::size_t times) {
    return wait(runtime, 20s, [&] { return room_made_[connection] >= times; });
  }
  bool wait_for_loss(runtime::Runtime& runtime, base::Nanos span = 20s, std::size_t count = 1) {
    return wait(runtime, span, [&] { return lost_.size() >= count; });
  }
  /// Returns the frames that arrived, in order. Requires: no frame is under way.
  const std::vector<Arrived>& frames() const { return frames_; }
  const std::map<paths::ConnectionId, std::string>& lost() const { return lost_; }
  const std::vector<std::string>& turned_away() const { return turned_away_; }
  /// Returns whether a connection delivered a frame after its loss, or reported its loss twice.
  bool is_late() const { return late_; }
  void clear() {
    runtime::Lock lock(mutex_);
    frames_.clear();
  }

 private:
  runtime::Mutex mutex_;
  runtime::WaitList changed_;
  std::vector<Arrived> frames_;
  std::map<paths::ConnectionId, std::string> lost_;
  std::map<paths::ConnectionId, std::size_t> room_made_;
  std::vector<std::string> turned_away_;
  bool late_ = false;
};

/// Returns whether each frame of one connection arrived once, numbered from 0, with its bytes.
/// Catch2 checks only the result, because checking each frame would be slow.
inline bool in_order(const std::vector<Mailbox::Arrived>& frames, paths::ConnectionId connection) {
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

/// Some hosts and the transports between them, of one of scene_kinds().
class TransportScene {
 public:
  TransportScene(std::string kind, std::uint32_t hosts) : kind_(std::move(kind)), network_(hosts) {
    auto peers = std::make_shared<paths::Peers>();
    const bool has_own_address = !is_local() && kind_ != "memory";
    const std::string transport = has_own_address ? kind_.substr(0, kind_.find(' ')) : "ipc";
    for (std::uint32_t i = 0; i < hosts; ++i)
      peers->hosts.push_back({fmt::format("alpha-{}", i), free_address(transport), 0});
    if (kind_.ends_with(encrypted))
      peers->keyring = std::make_shared<const paths::Keyring>(*run_key());
    peers_ = std::move(peers);
  }
  const std::string& kind() const { return kind_; }
  bool is_local() const { return kind_ == "local"; }
  std::shared_ptr<const paths::Peers> peers() const { return peers_; }
  std::unique_ptr<paths::Transport> transport(runtime::Runtime& runtime, std::uint32_t host) {
    if (is_local()) return network_.transport(host);
    if (kind_ == "memory") return paths::make_shared_memory_transport(runtime, peers_, host);
    return paths::make_transport(runtime, peers_, host);
  }

 private:
  std::string kind_;
  paths::LocalNetwork network_;
  std::shared_ptr<const paths::Peers> peers_;
};

/// Two hosts of one process, each with a transport of the scene and a mailbox.
struct Two {
  Two(TransportScene& of, runtime::Runtime& its)
      : scene(of), runtime(its), a(of.transport(its, 0)), b(of.transport(its, 1)) {}
  void start() {
    a->start(left);
    b->start(right);
  }
  /// Starts both transports. Host b sends every frame back.
  void start_with_echo() {
    right.echo = b.get();
    start();
  }
  void stop() {
    a->stop();
    b->stop();
  }
  TransportScene& scene;
  runtime::Runtime& runtime;
  Mailbox left, right;
  std::unique_ptr<paths::Transport> a, b;
};

/// Makes two hosts in this process and calls `use` before they start.
inline void between_two(const std::string& kind, const std::function<void(Two&)>& use) {
  TransportScene scene(kind, 2);
  INFO(kind);
  runtime::Runtime runtime;
  runtime.run([&] {
    Two two(scene, runtime);
    use(two);
  });
}

/// Makes and drops `count` connections, one after another. Checks that their descriptors and
/// mappings are freed.
inline void check_reconnections(const std::string& kind, std::uint64_t count) {
  between_two(kind, [count](Two& two) {
    two.start_with_echo();
    two.a->send(two.a->connect(1), numbered(0));
    REQUIRE(two.left.wait_for_frames(two.runtime, 1));
    const std::size_t descriptors = open_descriptors(), mappings = shared_mappings();
    for (std::uint64_t i = 0; i < count; ++i) {
      const paths::ConnectionId connection = two.a->connect(1);
      two.a->send(connection, numbered(0));
      REQUIRE(two.left.wait_for_frames(two.runtime, i + 2));
      two.a->drop(connection);
    }
    REQUIRE(two.right.wait_for_loss(two.runtime, 20s, count));
    two.runtime.sleep_for(100ms);
    CHECK(open_descriptors() <= descriptors + 8);
    CHECK(shared_mappings() == mappings);
    CHECK(two.left.lost().empty());
    CHECK(two.right.frames().size() == count + 1);
  });
}

/// Host in a child process. The destructor kills it.
/// Requires: this process has no other thread.
class PeerProcess {
 public:
  using Act = std::function<void(runtime::Runtime&, paths::Transport&)>;
  /// Starts a host that sends back every frame and runs `act`.
  PeerProcess(TransportScene& scene, std::uint32_t host, const Act& act = nullptr) {
    pid_ = fork();
    if (pid_ != 0) return;
    runtime::Runtime runtime;
    runtime.run([&] {
      Mailbox inbox;
      auto transport = scene.transport(runtime, host);
      inbox.echo = transport.get();
      transport->start(inbox);
      if (act) act(runtime, *transport);
      runtime.sleep_for(60s);
    });
    _exit(0);
  }
  ~PeerProcess() { kill(); }
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace test_support
