// SPDX-License-Identifier: Apache-2.0
// paths/run/process_hosts.cpp — creation and end of the hosts of a process.
#include "paths/run/process_hosts.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/units.hpp"
#include "paths/host/peers_of.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/run/live_tracing.hpp"
#include "paths/run/process_peers.hpp"
#include "paths/wire/transports.hpp"

namespace paths {
namespace {

/// Returns the default stack size of a thread in bytes. The size is smaller if there are very many
/// threads, because all stacks must fit into the address space, and their page tables into memory.
std::size_t usual_stack_bytes(std::uint64_t threads) {
  constexpr std::size_t small_bytes = std::size_t{256} << 10;
  if (threads <= runtime::guarded_fibers_max) return runtime::thread_stack_bytes;
  spdlog::warn(
      "{} threads: each has a stack of {} in place of {}; option --stack, config key `stack`",
      threads, base::format_bytes(small_bytes), base::format_bytes(runtime::thread_stack_bytes));
  return small_bytes;
}

std::size_t stack_bytes_of(const Plan& plan, const RunOptions& options) {
  if (options.stack_bytes != 0) return options.stack_bytes;
  if (plan.stack_bytes != 0) return plan.stack_bytes;
  return usual_stack_bytes(options.is_one_host ? plan.hosts[options.host].threads
                                               : plan.thread_count());
}

/// Returns the hosts and switches with which a host exchanges messages without a path in any run of
/// the plan.
std::set<std::uint32_t> lanes_of(const Plan& plan, std::uint32_t host) {
  return plan.lanes.is_written ? lane_neighbours(plan, host) : std::set<std::uint32_t>();
}

/// Logs incomplete traces. They do not count as failures, because the run itself succeeded.
void warn_of(const std::vector<std::string>& lacks) {
  constexpr std::size_t shown_max = 5;
  for (std::size_t i = 0; i < std::min(lacks.size(), shown_max); ++i) spdlog::warn("{}", lacks[i]);
  if (lacks.size() > shown_max)
    spdlog::warn("and the traces of {} more hosts lack records", lacks.size() - shown_max);
}

}  // namespace

std::string failed_elsewhere(Host& host) {
  Connections& connections = host.deployment().connections();
  const std::string failure = connections.sender().failure();
  if (failure.empty()) return failure;
  return fmt::format("host {}: {}", host.name(), connections.losses().complete(failure));
}

// ---- hosts ---------------------------------------------------------------------------------

runtime::RuntimeOptions ProcessHosts::runtime_options(const Plan& plan, const RunOptions& options) {
  return {.clock = options.clock,
          .stack_bytes = stack_bytes_of(plan, options),
          .waiting = plan.waiting};
}

ProcessHosts::ProcessHosts(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan,
                           const WrapperKinds& kinds, const RunOptions& options)
    : runtime_(runtime),
      plan_(std::move(plan)),
      kinds_(kinds),
      options_(options),
      network_(plan_->hosts.size(), !runtime_.is_virtual()) {}

/// Runs `works`, which makes files of a trace. Adds the name of the host to the error if the
/// process has one host, because a launcher prints the errors of many hosts.
template <class Work>
void ProcessHosts::make_trace_files(const Work& works) {
  try {
    works();
  } catch (const std::runtime_error& error) {
    if (!options_.is_one_host) throw;
    throw TravelError(plan_->hosts[options_.host].name, "", "", error.what());
  }
}

void ProcessHosts::make_hosts() {
  if (!options_.trace.directory.empty())
    make_trace_files([this] {
      tracing_ = make_tracing(runtime_, *plan_, kinds_, options_.seed, options_.trace);
    });
  const auto peers = options_.is_one_host
                         ? peers_of_process(*plan_, options_.host, options_.run_key.get())
                         : peers_of(*plan_);
  cores_ = SimulatedCores::make(runtime_, *plan_);
  for (std::uint32_t index = 0; index < plan_->hosts.size(); ++index) {
    if (options_.is_one_host && index != options_.host) continue;
    auto transport = options_.is_one_host
                         ? make_transports(runtime_, peers, index, lanes_of(*plan_, index))
                         : network_.transport(index);
    hosts_.push_back(std::make_unique<Host>(runtime_, plan_, index, kinds_, std::move(transport),
                                            peers, cores_.get()));
    if (tracing_) make_trace_files([this] { tracing_->add(*hosts_.back()); });
  }
}

/// Runs `works`. If `works` throws on the steady clock, ends the hosts before the exception leaves
/// this function, because the hosts must end while the runtime still serves their transports.
template <class Work>
void ProcessHosts::end_hosts_unless(const Work& works) {
  std::exception_ptr failure;
  try {
    works();
  } catch (...) {
    failure = std::current_exception();
  }
  if (!failure) return;
  if (!runtime_.is_virtual()) {
    tracing_.reset();
    switches_.reset();
    hosts_.clear();
  }
  std::rethrow_exception(failure);
}

void ProcessHosts::start() {
  end_hosts_unless([this] {
    make_hosts();
    if (!options_.is_one_host) {
      switches_ = std::make_unique<Switches>(runtime_, plan_);
      for (auto& host : hosts_) host->join(*switches_);
    }
    for (auto& host : hosts_) host->start();
    if (tracing_) tracing_->start();
  });
  for (auto& host : hosts_) host->await_all();
}

void ProcessHosts::run(const ThreadOfHost& thread) {
  end_hosts_unless([&] {
    std::vector<runtime::Task> running;
    for (auto& host : hosts_) running.push_back(run_host(*host, thread));
    for (auto& host : running) host.join();
    if (switches_) switches_->stop();
    if (tracing_) warn_of(tracing_->finish());
  });
}

runtime::Task ProcessHosts::run_host(Host& host, const ThreadOfHost& thread) {
  const auto threads = std::make_shared<std::vector<runtime::Task>>();
  for (std::uint32_t i = 0; i < plan_->hosts[host.index()].threads; ++i)
    threads->push_back(spawn_thread(host, i, thread));
  return runtime_.spawn(runtime::ContextRole::service, {"end of", host.name(), host.index()},
                        [this, &host, threads] {
                          for (auto& one : *threads) one.join();
                          std::string wrong = host.finish();
                          if (wrong.empty() && options_.is_one_host && threads->empty())
                            // The host has no thread that could report this failure.
                            wrong = failed_elsewhere(host);
                          add_failure(std::move(wrong));
                        });
}

runtime::Task ProcessHosts::spawn_thread(Host& host, std::uint32_t index,
                                         const ThreadOfHost& thread) {
  try {
    return runtime_.spawn(runtime::ContextRole::thread, {"thread", host.name(), index},
                          [thread, &host, index] { thread(host, index); });
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("host {}: number {} of {} threads cannot begin: {}",
                                         host.name(), index + 1, plan_->hosts[host.index()].threads,
                                         error.what()));
  }
}

void ProcessHosts::add_failure(std::string failure) {
  if (failure.empty() || runtime_.is_deadlocked()) return;
  runtime::Lock lock(mutex_);
  failures_.push_back(std::move(failure));
}

}  // namespace paths
