// SPDX-License-Identifier: Apache-2.0
// paths/host/host.cpp — deployments of a host, and the order of its start and end.
#include "paths/host/host.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "base/digest.hpp"
#include "base/usage_error.hpp"
#include "paths/host/further_peers.hpp"
#include "paths/host/peers_of.hpp"

namespace paths {
namespace {

/// Returns a number that is different for each Host object of every process.
std::uint64_t new_incarnation(runtime::Runtime& runtime) {
  static std::atomic<std::uint64_t> made{0};
  const auto begun = runtime.utc_at_zero().count();
  return base::digest_of(fmt::format("{} {} {}", begun, getpid(), ++made)).high;
}

bool is_label(std::string_view text) {
  constexpr std::size_t label_bytes_max = 255;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= label_bytes_max && std::ranges::all_of(text, fits);
}

}  // namespace

Host::Host(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t index,
           const WrapperKinds& kinds, std::unique_ptr<Transport> transport,
           std::shared_ptr<const Peers> peers, SimulatedCores* cores)
    : HostView(runtime, std::move(plan), index, recorder_),
      kinds_(kinds),
      peers_(peers ? std::move(peers) : peers_of(*plan_)),
      acceptor_(name(), index, peers_->run, peers_->digest, new_incarnation(runtime),
                std::move(transport)),
      deployment_(std::make_shared<Deployment>(*this, acceptor_, acceptor_.begin("", plan_->digest),
                                               plan_, index, nullptr, kinds, peers_)) {
  auto share = acceptor_.share();
  lane_share_ = share.get();
  lane_connections_ = std::make_unique<LaneConnections>(runtime_, peers_, index, std::move(share),
                                                        acceptor_.rejections());
  lanes_ =
      std::make_unique<MessageEndpoint>(runtime_, plan_, index, links_, *lane_connections_, cores);
  lanes_->record_transfers([this](std::uint32_t) { return &recorder_; });
  lanes_->answer_for_threads([this](std::string_view threads) { return why_absent(threads); });
}

Host::~Host() {
  lane_connections_->stop();
  acceptor_.stop();
  lanes_->stop();
}

std::shared_ptr<pastset::Element> Host::element(std::string_view name) {
  auto element = space_.find(name);
  if (element == nullptr)
    throw base::UsageError(fmt::format("host {} has no element '{}'", this->name(), name));
  return element;
}

// ---- further deployments -----------------------------------------------------------------------

std::shared_ptr<Deployment> Host::deploy(const std::string& label,
                                         std::shared_ptr<const Plan> plan) {
  if (!is_label(label))
    throw base::UsageError(fmt::format(
        "deployment '{}': a label has 1 to 255 letters, digits, '_', '-' and '.'", label));
  auto [numbers, peers] = further_peers(label, *plan_, peers_, plan);
  const auto index = plan->host_named(name());
  if (!index)
    throw base::UsageError(
        fmt::format("deployment '{}': its plan has no part for host {}", label, name()));
  auto call = acceptor_.begin(label, plan->digest);
  std::shared_ptr<Deployment> deployment;
  try {
    deployment = std::make_shared<Deployment>(*this, acceptor_, call, std::move(plan), *index,
                                              std::move(numbers), kinds_, std::move(peers));
  } catch (const std::exception& error) {
    acceptor_.end(*call, error.what());
    throw;
  } catch (...) {  // a wrapper of the program may throw any type
    acceptor_.end(*call, "it threw an exception that is not a std::exception");
    throw;
  }
  deployment->start();
  tell_of(*deployment, &DeploymentWatcher::wired);
  const runtime::Lock lock(mutex_);
  further_[label] = deployment;
  return deployment;
}

void Host::forget(const Deployment& deployment) {
  std::shared_ptr<Deployment> ended;  // destroyed after the lock is released
  const runtime::Lock lock(mutex_);
  const auto found = further_.find(deployment.label());
  if (found == further_.end() || found->second.get() != &deployment) return;
  ended = std::move(found->second);
  further_.erase(found);
}

// ---- ended threads -----------------------------------------------------------------------------

ThreadWatcher& Host::thread_watcher(std::unique_ptr<ThreadWatcher> (*make)()) {
  const runtime::Lock lock(mutex_);
  if (thread_watcher_ == nullptr) thread_watcher_ = make();
  return *thread_watcher_;
}

void Host::thread_ended(Deployment& deployment, std::uint32_t thread) {
  deployment.ended_threads().add(thread);
  ThreadWatcher* watcher = nullptr;
  {
    const runtime::Lock lock(mutex_);
    watcher = thread_watcher_.get();
  }
  if (watcher != nullptr) watcher->thread_ended(deployment, thread);
}

std::string Host::why_absent(std::string_view threads) const {
  const std::size_t colon = threads.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view list = threads.substr(colon + 1);
  std::optional<std::uint32_t> ended;
  if (colon == 0) {
    ended = deployment_->ended_threads().first_of(list);
  } else {
    const runtime::Lock lock(mutex_);
    const auto deployment = further_.find(std::string(threads.substr(0, colon)));
    if (deployment != further_.end()) ended = deployment->second->ended_threads().first_of(list);
  }
  if (!ended) return {};
  return fmt::format("thread {}/{} has ended without joining it", name(), *ended);
}

// ---- start and end ---------------------------------------------------------------------------

void Host::join(Switches& switches) {
  switches.add(index(), *lanes_, recorder_);
  lane_connections_->reach(switches);
  switches_are_here_ = true;
}

void Host::start() {
  lane_connections_->start(*lanes_);
  acceptor_.open_lanes(*lane_share_);
  acceptor_.start();
  if (!switches_are_here_) lanes_->look_at_neighbours();
  deployment_->start();
  if (peers_->are_processes && plan_->lanes.is_written) lanes_->begin();
}

void Host::peer_lost(std::uint32_t host, const std::string& reason) {
  lanes_->host_lost(host, reason);
}

/// Ends the lanes before this host sends its goodbyes.
/// Why: while the lanes end, this host still carries messages of other hosts. If this host dies
///      during this time, the other hosts must notice the death, so they must have no goodbye yet.
std::string Host::finish() {
  std::string left_deployment, wrong_with_lanes;
  std::string wrong = deployment_->finish([&] {
    left_deployment = abandon_left_open();
    wrong_with_lanes = lanes_->finish(!deployment_->connections().sender().failure().empty());
  });
  for (const std::string& other : {left_deployment, wrong_with_lanes})
    if (wrong.empty()) wrong = other;
  lane_connections_->part(deployment_->end_deadline());
  lanes_->stop();
  acceptor_.stop();
  return wrong;
}

/// Abandons the deployments that the program has not ended. Returns a message about the first of
/// these deployments; "" if there are none.
std::string Host::abandon_left_open() {
  std::map<std::string, std::shared_ptr<Deployment>> open;
  {
    const runtime::Lock lock(mutex_);
    open.swap(further_);
  }
  std::string first;
  for (const auto& [label, deployment] : open) {
    const std::string left =
        fmt::format("host {} ended without ending deployment '{}'", name(), label);
    deployment->abandon(left);
    if (first.empty()) first = left;
  }
  return first;
}

}  // namespace paths
