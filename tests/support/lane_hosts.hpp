// SPDX-License-Identifier: Apache-2.0
// tests/support/lane_hosts.hpp — message endpoints of all hosts in one process, connected by direct
// calls.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "paths/messages/message_endpoint.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/runtime.hpp"

namespace test_support {

inline base::Settings link_settings(const std::string& text) {
  return text.empty() ? base::Settings() : base::parse_settings(text, "test");
}

/// Returns a plan with one cluster for each number in `sizes`, which is the cluster's number of
/// hosts. Each host has one thread. The first host of a cluster is its exit. Emulated links connect
/// all clusters.
inline std::shared_ptr<paths::Plan> lane_plan(const std::vector<std::uint32_t>& sizes,
                                              const std::string& network, const std::string& wan) {
  auto plan = std::make_shared<paths::Plan>();
  plan->ways.emplace();
  for (std::uint32_t cluster = 0; cluster < sizes.size(); ++cluster) {
    const std::string name(1, static_cast<char>('a' + cluster));
    plan->clusters.push_back(name);
    plan->ways->clusters.push_back(
        {static_cast<std::uint32_t>(plan->hosts.size()), link_settings(network)});
    for (std::uint32_t host = 0; host < sizes[cluster]; ++host) {
      paths::Plan::PlanHost one;
      one.name = name + std::to_string(host);
      one.cluster = cluster;
      one.threads = 1;
      plan->hosts.push_back(one);
    }
    for (std::uint32_t other = 0; other < sizes.size(); ++other)
      if (other != cluster) plan->ways->links[{cluster, other}] = link_settings(wan);
  }
  plan->index_names();
  return plan;
}

/// Hosts of a plan in one process. The call that sends a frame also delivers the frame to its
/// receiver.
class LaneHosts {
 public:
  LaneHosts(runtime::Runtime& runtime, std::shared_ptr<const paths::Plan> plan) : plan_(plan) {
    const auto places = plan->hosts.size() + (plan->ways ? plan->clusters.size() : 0);
    // Indices of `hosts_`: first the hosts, then one switch per cluster.
    for (std::uint32_t place = 0; place < places; ++place)
      hosts_.push_back(std::make_unique<One>(*this, runtime, place));
  }
  ~LaneHosts() {
    for (auto& host : hosts_) host->lanes.stop();
  }
  paths::MessageEndpoint& operator[](std::uint32_t host) { return hosts_[host]->lanes; }
  paths::EmulatedLinks& links(std::uint32_t host) { return hosts_[host]->links; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(plan_->hosts.size()); }
  std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> numbers(size());
    for (std::uint32_t host = 0; host < numbers.size(); ++host) numbers[host] = host;
    return numbers;
  }
  /// Makes the group of all hosts. Returns one MessageGroup per host.
  std::vector<std::unique_ptr<paths::MessageGroup>> groups(paths::GroupOptions options = {}) {
    std::vector<std::unique_ptr<paths::MessageGroup>> all_groups;
    for (std::uint32_t host = 0; host < size(); ++host)
      all_groups.push_back(hosts_[host]->lanes.group("all", all(), options));
    return all_groups;
  }
  /// Makes a host neither send nor receive from now on. Hosts that exchanged frames with it receive
  /// host_lost().
  void kill(std::uint32_t victim) {
    hosts_[victim]->is_dead = true;
    for (auto& host : hosts_)
      if (host->met.contains(victim)) host->lanes.host_lost(victim, "it died");
  }
  /// Called with each frame before its delivery. The function may change the frame.
  std::function<void(std::uint32_t from, std::uint32_t to, paths::LaneFrame&)> on_frame;
  /// If set, frames of this kind are discarded.
  std::optional<paths::LaneKind> swallowed;
  /// Returns whether the receiver has room for a frame now. If the function is empty, receivers
  /// always have room.
  std::function<bool(std::uint32_t from, std::uint32_t to)> has_room;

 private:
  struct One final : paths::LaneCarrier {
    One(LaneHosts& everybody, runtime::Runtime& runtime, std::uint32_t index)
        : all(everybody), number(index), lanes(runtime, everybody.plan_, index, links, *this) {}
    void send(std::uint32_t host, paths::LaneFrame frame) override {
      if (is_dead || all.hosts_[host]->is_dead) return;
      {
        const runtime::Lock lock(all.meeting_);
        met.insert(host);
        all.hosts_[host]->met.insert(number);
      }
      if (all.on_frame) all.on_frame(number, host, frame);
      if (frame.kind == all.swallowed) return;
      all.hosts_[host]->lanes.deliver(number, std::move(frame));
    }
    bool reports_room(std::uint32_t) const override { return all.has_room != nullptr; }
    bool has_room(std::uint32_t host) override {
      return !all.has_room || all.has_room(number, host);
    }
    /// Records that every other host made progress, so that no host counts as silent. Returns an
    /// empty list of silent hosts.
    std::map<std::uint32_t, std::string> look_after(base::Nanos) override {
      for (std::uint32_t host = 0; host < all.size(); ++host)
        if (host != number) progress[host] = all.hosts_[host]->lanes.end_progress();
      return {};
    }
    std::uint64_t end_progress(std::uint32_t host) const override {
      const auto known = progress.find(host);
      return known == progress.end() ? 0 : known->second;
    }
    bool has_heard(std::uint32_t host) const override { return !all.hosts_[host]->is_dead; }
    LaneHosts& all;
    const std::uint32_t number;
    std::set<std::uint32_t> met;
    std::map<std::uint32_t, std::uint64_t> progress;
    bool is_dead = false;
    paths::EmulatedLinks links;
    paths::MessageEndpoint lanes;
  };
  std::shared_ptr<const paths::Plan> plan_;
  runtime::Mutex meeting_;  // guards One::met: on the steady clock several threads call send()
  std::vector<std::unique_ptr<One>> hosts_;
};

}  // namespace test_support
