// SPDX-License-Identifier: Apache-2.0
// tests/paths/cut_real.cpp — loss of a host's connections while threads of other hosts send.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "paths/host/host.hpp"
#include "paths/host/thread.hpp"
#include "paths/wire/local/transport.hpp"
#include "runtime/random.hpp"
#include "tests/support/short_way.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace paths;
using namespace std::chrono_literals;

/// A transport whose connections can be lost at any moment, even while a thread sends.
class Cable final : public Transport, public Receiver {
 public:
  explicit Cable(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}
  void start(Receiver& receiver) override {
    receiver_ = &receiver;
    inner_->start(*this);
  }
  ConnectionId connect(std::uint32_t host) override {
    const ConnectionId connection = inner_->connect(host);
    note(connection, host);
    return connection;
  }
  void send(ConnectionId connection, Frame&& frame) override {
    if (!is_cut(connection)) inner_->send(connection, std::move(frame));
  }
  std::shared_ptr<ShortWay> short_way(ConnectionId connection) override {
    return test_support::short_way(
        [this, connection, way = inner_->short_way(connection)](const ShortFrame& frame) {
          if (!is_cut(connection)) way->send(frame);
        });
  }
  void drop(ConnectionId connection) override { inner_->drop(connection); }
  void stop() override { inner_->stop(); }
  void deliver(ConnectionId connection, Frame&& frame) override {
    note(connection, frame.from_host);
    if (!is_cut(connection)) receiver_->deliver(connection, std::move(frame));
  }
  void deliver_short(ConnectionId connection, ShortFrame&& frame) override {
    if (is_cut(connection)) return;
    ++short_frames;
    receiver_->deliver_short(connection, std::move(frame));
  }
  void connection_lost(ConnectionId connection, const std::string& reason) override {
    receiver_->connection_lost(connection, reason);
  }

  std::atomic<std::uint64_t> short_frames{0};  // number of short frames that arrived

  /// Requires: the transport's host lives.
  void lose(const std::function<bool(std::uint32_t host)>& is_lost) {
    std::vector<ConnectionId> lost;
    {
      const runtime::Lock lock(mutex_);
      for (auto& [connection, far] : connections_)
        if (is_lost(far.host)) {
          far.is_cut = true;
          lost.push_back(connection);
        }
    }
    for (const ConnectionId connection : lost)
      receiver_->connection_lost(connection, "cut by the test");
  }

 private:
  struct Far {
    std::uint32_t host = 0;
    bool is_cut = false;
  };
  void note(ConnectionId connection, std::uint32_t host) {
    const runtime::Lock lock(mutex_);
    connections_.try_emplace(connection, Far{host});
  }
  bool is_cut(ConnectionId connection) {
    const runtime::Lock lock(mutex_);
    return connections_[connection].is_cut;
  }
  const std::unique_ptr<Transport> inner_;
  Receiver* receiver_ = nullptr;
  runtime::Mutex mutex_;
  std::map<ConnectionId, Far> connections_;
};

/// Threads of `far-0` and `far-1` join in `middle`, which forwards the value to `here`.
const char* const tree = R"(
hosts:
  here: {cluster: alpha, threads: 2, address: "tcp://127.0.0.1:1"}
  middle: {cluster: alpha, threads: 2, address: "tcp://127.0.0.1:2"}
  far-0: {cluster: alpha, threads: 2, address: "tcp://127.0.0.1:3"}
  far-1: {cluster: alpha, threads: 2, address: "tcp://127.0.0.1:4"}
elements: {result: {host: here, template: f64, keep_newest: 1}}
wrappers:
  near: {host: middle, kind: allreduce, operation: sum, template: f64}
  top: {host: here, kind: allreduce, operation: sum, template: f64}
paths:
  - {graph: sum, host: here, threads: 0-1, through: [top, store: {element: result}]}
  - {graph: sum, host: middle, threads: 0-1, through: [
      near, forward: {to: here}, top, store: {element: result}]}
  - {graph: sum, host: far-0, threads: 0-1, through: [
      forward: {to: middle}, near, forward: {to: here}, top, store: {element: result}]}
  - {graph: sum, host: far-1, threads: 0-1, through: [
      forward: {to: middle}, near, forward: {to: here}, top, store: {element: result}]}
deadline: 20s
)";

class Run {
 public:
  explicit Run(const test_support::Sim& sim) : sim_(sim), network_(sim.plan().hosts.size(), true) {}

  /// Loses the connections of host `victim` after `after` short frames. Returns the error of each
  /// thread, by name.
  std::map<std::string, std::string> go(std::uint32_t victim, std::uint64_t after) {
    runtime_.run([&] {
      make();
      std::vector<runtime::Task> running;
      for (auto& host : hosts_)
        running.push_back(runtime_.spawn(runtime::ContextRole::thread, {"host", host->name()},
                                         [this, &host] { run_host(*host); }));
      while (short_frames() < after) runtime_.sleep_for(100us);
      for (std::uint32_t host = 0; host < cables_.size(); ++host)
        cables_[host]->lose([&](std::uint32_t other) { return host == victim || other == victim; });
      for (auto& one : running) one.join();
      hosts_.clear();
    });
    return ended_;
  }

 private:
  std::uint64_t short_frames() const {
    std::uint64_t all = 0;
    for (const Cable* cable : cables_) all += cable->short_frames;
    return all;
  }
  void make() {
    for (std::uint32_t host = 0; host < sim_.plan().hosts.size(); ++host) {
      auto cable = std::make_unique<Cable>(network_.transport(host));
      cables_.push_back(cable.get());
      hosts_.push_back(std::make_unique<Host>(runtime_, sim_.shared_plan(), host, sim_.kinds(),
                                              std::move(cable)));
    }
    for (auto& host : hosts_) host->start();
  }
  void run_host(Host& host) {
    std::vector<runtime::Task> threads;
    for (std::uint32_t i = 0; i < sim_.plan().hosts[host.index()].threads; ++i)
      threads.push_back(runtime_.spawn(runtime::ContextRole::thread, {"thread", host.name(), i},
                                       [this, &host, i] { run_thread(host, i); }));
    for (auto& one : threads) one.join();
    host.finish();
  }
  void run_thread(Host& host, std::uint32_t index) {
    Thread thread(host.deployment(), index, 1);
    Path& sum = thread.path("sum");
    for (;;) {
      try {
        sum.move_value(1.0);
      } catch (const TravelError& error) {
        thread.fail(error);
        const runtime::Lock lock(mutex_);
        ended_[fmt::format("{}/{}", host.name(), index)] = error.what();
        return;
      }
    }
  }

  const test_support::Sim& sim_;
  runtime::Runtime runtime_{{.clock = runtime::ClockKind::steady}};
  LocalNetwork network_;
  std::vector<Cable*> cables_;
  std::vector<std::unique_ptr<Host>> hosts_;
  runtime::Mutex mutex_;
  std::map<std::string, std::string> ended_;
};

}  // namespace

TEST_CASE("cut: a host that is lost during standing calls is named in the error of each thread") {
  const test_support::Sim sim(tree);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    runtime::Random random(seed);
    const auto victim = static_cast<std::uint32_t>(random.below(sim.plan().hosts.size()));
    const std::string& name = sim.plan().hosts[victim].name;
    INFO("seed " << seed << ", host " << name);
    const auto ended = Run(sim).go(victim, random.below(400));
    CHECK(ended.size() == 8);
    for (const auto& [thread, how] : ended) {
      INFO("thread " << thread);
      if (!thread.starts_with(name + "/")) CHECK_THAT(how, Catch::Contains(name));
    }
  }
}
