// SPDX-License-Identifier: Apache-2.0
// tests/support/mortal_hosts.hpp — all hosts of a plan in one process, with the death of a host or
// the loss of its connections.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paths/host/host.hpp"
#include "paths/wire/local/transport.hpp"
#include "tests/support/forwarding_transport.hpp"
#include "tests/support/short_way.hpp"
#include "tests/support/sim.hpp"

namespace test_support {

/// Transport that simulates the death of its host or the loss of connections, also while a thread
/// of the host sends. After die() it neither sends nor delivers frames. lose() reports
/// connection_lost() to its receiver.
/// Thread-safe.
class Mortal final : public ForwardingTransport, public paths::Receiver {
 public:
  using ForwardingTransport::ForwardingTransport;
  void start(paths::Receiver& receiver) override {
    receiver_ = &receiver;
    inner().start(*this);
  }
  paths::ConnectionId connect(std::uint32_t host) override {
    const auto connection = inner().connect(host);
    note(connection, host);
    return connection;
  }
  void send(paths::ConnectionId connection, paths::Frame&& frame) override {
    if (!is_cut(connection)) inner().send(connection, std::move(frame));
  }
  std::shared_ptr<paths::ShortWay> short_way(paths::ConnectionId connection) override {
    auto way = inner().short_way(connection);
    if (!way) return way;
    return test_support::short_way(
        [this, connection, way = std::move(way)](const paths::ShortFrame& frame) {
          if (!is_cut(connection)) way->send(frame);
        });
  }
  void stop() override {
    is_stopped_ = true;
    inner().stop();
  }
  void deliver(paths::ConnectionId connection, paths::Frame&& frame) override {
    note(connection, frame.from_host);
    if (!is_cut(connection)) receiver_->deliver(connection, std::move(frame));
  }
  void deliver_short(paths::ConnectionId connection, paths::ShortFrame&& frame) override {
    if (is_cut(connection)) return;
    ++short_frames;
    receiver_->deliver_short(connection, std::move(frame));
  }
  void connection_lost(paths::ConnectionId connection, const std::string& reason) override {
    if (!is_dead_) receiver_->connection_lost(connection, reason);
  }

  std::atomic<std::uint64_t> short_frames{0};  ///< number of short frames that arrived

  void die() { is_dead_ = true; }
  /// Cuts the connections with the peers that `is_lost` selects.
  void lose(const std::function<bool(std::uint32_t host)>& is_lost, const char* reason) {
    if (is_stopped_) return;
    std::vector<paths::ConnectionId> lost;
    {
      const runtime::Lock lock(mutex_);
      for (auto& [connection, peer] : peers_) {
        if (!is_lost(peer.host)) continue;
        peer.is_cut = true;
        lost.push_back(connection);
      }
    }
    for (const paths::ConnectionId connection : lost)
      receiver_->connection_lost(connection, reason);
  }

 private:
  struct Peer {
    std::uint32_t host = 0;
    bool is_cut = false;
  };
  void note(paths::ConnectionId connection, std::uint32_t host) {
    const runtime::Lock lock(mutex_);
    peers_.try_emplace(connection, Peer{host});
  }
  bool is_cut(paths::ConnectionId connection) {
    if (is_dead_) return true;
    const runtime::Lock lock(mutex_);
    return peers_[connection].is_cut;
  }

  paths::Receiver* receiver_ = nullptr;
  runtime::Mutex mutex_;
  std::map<paths::ConnectionId, Peer> peers_;
  std::atomic<bool> is_dead_{false}, is_stopped_{false};
};

/// Makes all hosts of the plan of `sim`, each with `transport(host index)`. Calls `use` for each
/// host in a thread of its own. Returns the text that Host::finish() returns on each host, indexed
/// by host.
/// Requires: the caller is a context of `runtime`.
inline std::vector<std::string> run_hosts(
    runtime::Runtime& runtime, const Sim& sim,
    const std::function<std::unique_ptr<paths::Transport>(std::uint32_t)>& transport,
    const std::function<void(paths::Host&)>& use) {
  std::vector<std::unique_ptr<paths::Host>> hosts;
  std::vector<std::string> wrong(sim.plan().hosts.size());
  for (std::uint32_t i = 0; i < sim.plan().hosts.size(); ++i)
    hosts.push_back(
        std::make_unique<paths::Host>(runtime, sim.shared_plan(), i, sim.kinds(), transport(i)));
  for (auto& host : hosts) host->start();
  std::vector<runtime::Task> running;
  for (auto& host : hosts)
    running.push_back(
        runtime.spawn(runtime::ContextRole::thread, {"host", host->name()}, [&, host = &*host] {
          use(*host);
          wrong[host->index()] = host->finish();
        }));
  for (auto& one : running) one.join();
  return wrong;
}

/// All hosts of a plan. An exception of a thread ends the hosts in the same way as in a program
/// (paths/run/run_plan.cpp).
class MortalHosts {
 public:
  using ThreadFunction = std::function<void(paths::Thread&)>;
  MortalHosts(const Sim& sim, ThreadFunction thread,
              runtime::ClockKind clock = runtime::ClockKind::virtual_time)
      : sim_(sim),
        thread_(std::move(thread)),
        runtime_({.clock = clock,
                  .stack_bytes = clock == runtime::ClockKind::virtual_time
                                     ? 64 * 1024
                                     : runtime::thread_stack_bytes}),
        network_(sim.plan().hosts.size(), true) {}

  /// Returns the error that ended each thread, keyed by host name and indexed by thread; "" = the
  /// thread function returned. Blocks until all hosts except the dead hosts have ended. Throws:
  /// Deadlock.
  std::map<std::string, std::vector<std::string>> run(const std::function<void()>& meanwhile = {}) {
    runtime_.run([&] {
      make();
      std::vector<runtime::Task> running;
      for (std::uint32_t host = 0; host < hosts_.size(); ++host)
        running.push_back(spawn("host", host, [this, host] { run_host(host); }));
      if (meanwhile) meanwhile();
      runtime::Lock lock(mutex_);
      while (ended_hosts_.size() < hosts_.size())
        changed_.wait(lock, runtime::Deadline::never(), {"the end of hosts"});
      lock.unlock();
      if (has_killed_) return;  // threads of dead hosts do not end
      for (auto& host : running) host.join();
      hosts_.clear();
    });
    return ended_;
  }

  /// Kills a host: no frame from or to this host arrives afterwards. May be called from any
  /// context.
  void kill(std::uint32_t victim) {
    has_killed_ = true;
    transports_[victim]->die();
    for (std::uint32_t host = 0; host < hosts_.size(); ++host)
      if (host != victim)
        transports_[host]->lose([&](std::uint32_t peer) { return peer == victim; }, "it died");
    end(victim);
  }
  /// Freezes a host: it neither sends nor receives frames, and its connections stay open.
  void freeze(std::uint32_t victim) { transports_[victim]->die(); }
  /// Cuts all connections of a host, which stays alive.
  void cut(std::uint32_t victim) {
    for (std::uint32_t host = 0; host < hosts_.size(); ++host)
      transports_[host]->lose([&](std::uint32_t peer) { return host == victim || peer == victim; },
                              "cut by the test");
  }
  std::uint64_t short_frames() const {
    std::uint64_t all = 0;
    for (const Mortal* transport : transports_) all += transport->short_frames;
    return all;
  }
  runtime::Runtime& runtime() { return runtime_; }

 private:
  void make() {
    for (std::uint32_t host = 0; host < sim_.plan().hosts.size(); ++host) {
      auto transport = std::make_unique<Mortal>(network_.transport(host));
      transports_.push_back(transport.get());
      hosts_.push_back(std::make_unique<paths::Host>(runtime_, sim_.shared_plan(), host,
                                                     sim_.kinds(), std::move(transport)));
      ended_[hosts_.back()->name()].resize(sim_.plan().hosts[host].threads);
    }
    for (auto& host : hosts_) host->start();
  }
  runtime::Task spawn(const char* role, std::uint32_t host, std::function<void()> work) {
    return runtime_.spawn(runtime::ContextRole::thread, {role, hosts_[host]->name()},
                          std::move(work));
  }
  void run_host(std::uint32_t host) {
    std::vector<runtime::Task> threads;
    for (std::uint32_t i = 0; i < sim_.plan().hosts[host].threads; ++i)
      threads.push_back(spawn("thread", host, [this, host, i] { run_thread(host, i); }));
    for (auto& thread : threads) thread.join();
    hosts_[host]->finish();
    end(host);
  }
  void end(std::uint32_t host) {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    ended_hosts_.insert(host);
    changed_.wake_all(wakes);
  }
  void run_thread(std::uint32_t host, std::uint32_t index) {
    paths::Thread thread(hosts_[host]->deployment(), index, 1);
    paths::Failure failure;
    try {
      thread_(thread);
    } catch (const paths::TravelError& error) {
      failure = std::make_shared<paths::TravelError>(error);
    }
    if (!failure) return;
    ended_[hosts_[host]->name()][index] = failure->what();
    thread.fail(*failure);
  }

  const Sim& sim_;
  const ThreadFunction thread_;
  runtime::Mutex mutex_;
  runtime::WaitList changed_;
  std::set<std::uint32_t> ended_hosts_;
  bool has_killed_ = false;
  runtime::Runtime runtime_;
  paths::LocalNetwork network_;
  std::vector<Mortal*> transports_;
  std::vector<std::unique_ptr<paths::Host>> hosts_;
  std::map<std::string, std::vector<std::string>> ended_;
};

}  // namespace test_support
