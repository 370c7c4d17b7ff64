// SPDX-License-Identifier: Apache-2.0
// tests/support/mortal_hosts.hpp — all hosts of a plan on the virtual clock, with the death of a
// host.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paths/host/host.hpp"
#include "paths/wire/local/transport.hpp"
#include "tests/support/short_way.hpp"
#include "tests/support/sim.hpp"

namespace test_support {

/// Transport that can die. A dead one neither sends nor delivers. All its peers then receive
/// connection_lost(), as with sockets.
class Mortal final : public paths::Transport, public paths::Receiver {
 public:
  explicit Mortal(std::unique_ptr<paths::Transport> inner) : inner_(std::move(inner)) {}
  void start(paths::Receiver& receiver) override {
    receiver_ = &receiver;
    inner_->start(*this);
  }
  paths::ConnectionId connect(std::uint32_t host) override {
    const auto connection = inner_->connect(host);
    peers_[connection] = host;
    return connection;
  }
  void send(paths::ConnectionId connection, paths::Frame&& frame) override {
    if (!is_dead_) inner_->send(connection, std::move(frame));
  }
  std::shared_ptr<paths::ShortWay> short_way(paths::ConnectionId connection) override {
    auto way = inner_->short_way(connection);
    if (!way) return way;
    return test_support::short_way([this, way = std::move(way)](const paths::ShortFrame& frame) {
      if (!is_dead_) way->send(frame);
    });
  }
  void drop(paths::ConnectionId connection) override { inner_->drop(connection); }
  void stop() override {
    is_stopped_ = true;
    inner_->stop();
  }
  void deliver(paths::ConnectionId connection, paths::Frame&& frame) override {
    peers_[connection] = frame.from_host;
    if (!is_dead_) receiver_->deliver(connection, std::move(frame));
  }
  void deliver_short(paths::ConnectionId connection, paths::ShortFrame&& frame) override {
    if (!is_dead_) receiver_->deliver_short(connection, std::move(frame));
  }
  void connection_lost(paths::ConnectionId connection, const std::string& reason) override {
    if (!is_dead_) receiver_->connection_lost(connection, reason);
  }

  void die() { is_dead_ = true; }
  void lose(std::uint32_t host) {
    if (is_stopped_) return;
    const auto peers = peers_;
    for (const auto& [connection, peer] : peers)
      if (peer == host) receiver_->connection_lost(connection, "it died");
  }

 private:
  std::unique_ptr<paths::Transport> inner_;
  paths::Receiver* receiver_ = nullptr;
  std::map<paths::ConnectionId, std::uint32_t> peers_;
  bool is_dead_ = false, is_stopped_ = false;
};

/// All hosts of a plan. An exception of a thread ends the hosts in the same way as in a program
/// (paths/run/run_plan.cpp).
class MortalHosts {
 public:
  using ThreadFunction = std::function<void(paths::Thread&)>;
  MortalHosts(const Sim& sim, ThreadFunction thread)
      : sim_(sim),
        thread_(std::move(thread)),
        runtime_({.clock = runtime::ClockKind::virtual_time, .stack_bytes = 64 * 1024}),
        network_(sim.plan().hosts.size(), true) {}

  /// Returns the error that ended each thread, by host and index; "" = the thread function
  /// returned. Blocks until all hosts except the dead ones have ended. Throws: Deadlock.
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
    });
    return ended_;
  }

  /// Kills a host: none of its frames arrives afterwards. May be called from any context.
  void kill(std::uint32_t victim) {
    transports_[victim]->die();
    for (std::uint32_t host = 0; host < hosts_.size(); ++host)
      if (host != victim) transports_[host]->lose(victim);
    end(victim);
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
  runtime::Runtime runtime_;
  paths::LocalNetwork network_;
  std::vector<Mortal*> transports_;
  std::vector<std::unique_ptr<paths::Host>> hosts_;
  std::map<std::string, std::vector<std::string>> ended_;
};

}  // namespace test_support
