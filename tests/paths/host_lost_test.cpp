// SPDX-License-Identifier: Apache-2.0
// tests/paths/host_lost_test.cpp — a host that dies at some time on the virtual clock, under every
// relaxation: whoever needs it is told so.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "paths/transport_local.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

/// A transport that can die: then nothing comes or goes any more, and all it was connected to are
/// told so, as sockets tell.
class Mortal final : public paths::Transport, public paths::Receiver {
 public:
  explicit Mortal(std::unique_ptr<paths::Transport> inner) : inner_(std::move(inner)) {}
  void start(paths::Receiver& receiver) override {
    receiver_ = &receiver;
    inner_->start(*this);
  }
  paths::ConnectionId connect(std::uint32_t host, std::uint32_t path) override {
    const auto connection = inner_->connect(host, path);
    peers_[connection] = host;
    return connection;
  }
  void send(paths::ConnectionId connection, paths::Frame frame) override {
    if (!is_dead_) inner_->send(connection, std::move(frame));
  }
  void drop(paths::ConnectionId connection) override { inner_->drop(connection); }
  void stop() override { inner_->stop(); }
  void deliver(paths::ConnectionId connection, paths::Frame frame) override {
    peers_[connection] = frame.from_host;
    if (!is_dead_) receiver_->deliver(connection, std::move(frame));
  }
  void connection_lost(paths::ConnectionId connection, const std::string& reason) override {
    if (!is_dead_) receiver_->connection_lost(connection, reason);
  }

  void die() { is_dead_ = true; }
  void lose(std::uint32_t host) {
    const auto peers = peers_;
    for (const auto& [connection, peer] : peers)
      if (peer == host) receiver_->connection_lost(connection, "it died");
  }

 private:
  std::unique_ptr<paths::Transport> inner_;
  paths::Receiver* receiver_ = nullptr;
  std::map<paths::ConnectionId, std::uint32_t> peers_;
  bool is_dead_ = false;
};

/// All hosts of a plan, of which one dies.
class Hosts {
 public:
  using Round = std::function<void(paths::Thread&)>;
  explicit Hosts(const Sim& sim, Round round)
      : sim_(sim),
        round_(std::move(round)),
        runtime_({.clock = runtime::ClockKind::virtual_time, .stack_bytes = 64 * 1024}),
        network_(sim.plan().hosts.size()) {}

  /// What ended each thread of the others, by host and index; "" for the end of its rounds.
  std::map<std::string, std::vector<std::string>> run(std::uint32_t victim, base::Nanos when) {
    runtime_.run([&] {
      make();
      std::vector<runtime::Task> living, dying;
      for (std::uint32_t host = 0; host < hosts_.size(); ++host)
        (host == victim ? dying : living).push_back(spawn("host", host, [this, host] {
          run_host(host);
        }));
      runtime_.sleep_until(when);
      transports_[victim]->die();
      for (std::uint32_t host = 0; host < hosts_.size(); ++host)
        if (host != victim) transports_[host]->lose(victim);
      for (auto& task : living) task.join();
    });
    ended_.erase(sim_.plan().hosts[victim].name);
    return ended_;
  }

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
  }
  void run_thread(std::uint32_t host, std::uint32_t index) {
    paths::Thread thread(*hosts_[host], index, 1);
    try {
      for (int round = 0; round < 200; ++round) {
        thread.sleep_for(2ms);
        round_(thread);
      }
    } catch (const paths::TravelError& error) {
      ended_[hosts_[host]->name()][index] = error.what();
    }
  }

  const Sim& sim_;
  const Round round_;
  runtime::Runtime runtime_;
  paths::LocalNetwork network_;
  std::vector<Mortal*> transports_;
  std::vector<std::unique_ptr<paths::Host>> hosts_;
  std::map<std::string, std::vector<std::string>> ended_;
};

std::string config(const std::string& algorithm) {
  return fmt::format(R"(
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: 2, threads: 1, gateway: gate}}
  gamma: {{hosts: 1, threads: 1}}
links:
  - {{between: [alpha, beta], latency: 10ms}}
  - {{between: [beta, gamma], latency: 20ms}}
  - {{between: [alpha, gamma], latency: 5ms}}
collectives:
  sum: {{operation: sum, template: f64, {}, condition: {{less: 1}},
        contributions: non_negative}}
)",
                     algorithm);
}

void contribute_to_sum(paths::Thread& thread) {
  thread.path("sum").move_value(0.001);  // nobody decides alone
}

/// Of the first `ranks` threads.
void tell_neighbours_within(paths::Thread& thread, std::uint32_t ranks) {
  const std::uint32_t rank = thread.rank();
  const auto to_next = fmt::format("rows.{}.from_previous", rank + 1);
  const auto to_previous = fmt::format("rows.{}.from_next", rank - 1);
  for (const std::string& inbox : {to_next, to_previous})
    if (thread.has_path(inbox)) thread.path(inbox).send(base::Payload::of(rank));
  for (const std::string where : {"from_previous", "from_next"})
    if (where == "from_next" && rank + 1 == ranks)
      continue;
    else if (const auto inbox = fmt::format("rows.{}.{}", rank, where); thread.has_path(inbox))
      thread.path(inbox).observe();
}

void tell_neighbours(paths::Thread& thread) { tell_neighbours_within(thread, thread.threads()); }

}  // namespace

TEST_CASE("host lost: who waits for a neighbour there is told, then the neighbours of those") {
  const Sim sim(config("algorithm: sequential") + "exchanges: {rows: {template: u32}}\n");
  for (std::uint32_t victim = 0; victim < sim.plan().hosts.size(); ++victim) {
    const std::string& name = sim.plan().hosts[victim].name;
    INFO(name);
    for (const auto& [host, threads] : Hosts(sim, tell_neighbours).run(victim, 101ms))
      for (const std::string& error : threads) {
        INFO(host);
        CHECK_THAT(error, Catch::Contains("host " + name + " is gone") || Catch::Contains("ended"));
      }
  }
}

TEST_CASE(
    "host lost: other clusters are told, though the last thread to end was not of that host") {
  const std::string rows = "exchanges: {rows: {template: u32}}\n";
  for (const std::string algorithm : {"algorithm: magpie", "algorithm: 'lagged:3'"}) {
    const Sim sim(config(algorithm) + rows);
    const auto near_only = [](paths::Thread& thread) {
      if (thread.cluster() == "alpha") tell_neighbours_within(thread, 4);
      contribute_to_sum(thread);
    };
    for (const auto& [host, threads] : Hosts(sim, near_only).run(1, 101ms))
      for (const std::string& error : threads) {
        INFO(algorithm << ", " << host);
        CHECK_FALSE(error.empty());
      }
  }
}

TEST_CASE("host lost: every thread of the others gets an error that names it, and all hosts end") {
  for (const std::string algorithm :
       {"algorithm: sequential", "algorithm: magpie", "algorithm: 'magpie:push'",
        "algorithm: conditional", "algorithm: 'conditional:push'",
        "algorithm: 'conditional:demand'", "algorithm: 'conditional:subscribe:8'",
        "algorithm: 'periodic:4'", "algorithm: 'lagged:3'", "algorithm: 'budget:8,4'",
        "graph: tree, relaxation: {lagged: 3}"}) {
    const Sim sim(config(algorithm));
    for (std::uint32_t victim = 0; victim < sim.plan().hosts.size(); ++victim) {
      const std::string& name = sim.plan().hosts[victim].name;
      INFO(algorithm << ", " << name);
      for (const auto& [host, threads] : Hosts(sim, contribute_to_sum).run(victim, 101ms))
        for (const std::string& error : threads) {
          INFO(host);
          CHECK_THAT(error, Catch::Contains("host " + name + " is gone"));
        }
    }
  }
}
