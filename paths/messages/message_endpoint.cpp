// SPDX-License-Identifier: Apache-2.0
// paths/messages/message_endpoint.cpp — construction of an endpoint, and joining of groups
#include "paths/messages/message_endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/usage_error.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/ways.hpp"
#include "paths/wire/transport.hpp"

namespace paths {
namespace {

/// Returns the emulated link through which a host receives; nullptr if there is no such link.
/// Returns nullptr for a switch.
std::shared_ptr<EmulatedLink> receiving_of(const EndpointState& state, EmulatedLinks& links) {
  if (state.is_switch()) return nullptr;
  const HopLink network = receiving_link(*state.plan, state.host);
  return network.is_there() ? links.named(network.name, link_of(network).model) : nullptr;
}

}  // namespace

MessageEndpoint::MessageEndpoint(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan,
                                 std::uint32_t host, EmulatedLinks& links, LaneCarrier& carrier,
                                 SimulatedCores* cores)
    : state_(runtime, std::move(plan), host, links, carrier),
      outgoing_(runtime, host, state_.plan->lanes.frame_bytes, state_.link_scheduler,
                state_.due_queue, state_.processor.get()),
      lost_(state_),
      inbox_(state_.plan->lanes.inbox_bytes),
      groups_(state_),
      credit_(state_, groups_, inbox_),
      failures_(state_, groups_, credit_, outgoing_),
      control_({state_, groups_, credit_, failures_, outgoing_}),
      arrivals_(LaneKind::here, state_, lost_),
      ends_(LaneKind::done, state_, lost_),
      membership_({state_, lost_, groups_, failures_, arrivals_, ends_}),
      clock_({state_, outgoing_, credit_, membership_, arrivals_, ends_}),
      delivery_(
          {state_, groups_, credit_, failures_, control_, membership_, arrivals_, ends_, clock_},
          receiving_of(state_, links)),
      phases_({state_, lost_, membership_, arrivals_, ends_, control_, failures_, clock_}),
      calls_({state_, groups_, credit_, failures_, control_, outgoing_, lost_, clock_}) {
  if (cores == nullptr) return;
  state_.processor->share(*cores, [this](DueQueue::Work work) {
    runtime::Lock lock(state_.mutex);
    state_.due_queue.put(state_.runtime.now(), std::move(work));
    clock_.settle(lock);
  });
}

MessageEndpoint::~MessageEndpoint() {
  self_.reset();
  stop();
}

// ---- groups -----------------------------------------------------------------------------------

std::unique_ptr<MessageGroup> MessageEndpoint::group_of(std::string_view name,
                                                        const std::vector<std::string>& hosts,
                                                        GroupOptions options) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& host : hosts) {
    const auto number = state_.plan->host_named(host);
    if (!number)
      throw base::UsageError(fmt::format("group {}: the run has no host '{}'", name, host));
    numbers.push_back(*number);
  }
  return group(name, std::move(numbers), std::move(options));
}

std::unique_ptr<MessageGroup> MessageEndpoint::group(std::string_view name,
                                                     std::vector<std::uint32_t> hosts,
                                                     GroupOptions options) {
  std::sort(hosts.begin(), hosts.end());
  return join(name, std::make_shared<const std::vector<std::uint32_t>>(std::move(hosts)),
              std::move(options));
}

std::unique_ptr<MessageGroup> MessageEndpoint::join(std::string_view name, SharedHosts hosts,
                                                    GroupOptions options) {
  if (!is_of_this_process())
    throw base::UsageError(fmt::format("group {}: this process was made by fork", name));
  if (!std::is_sorted(hosts->begin(), hosts->end())) return group(name, *hosts, std::move(options));
  check_hosts(name, *hosts);
  // With the key `lanes`, the check was made before this host opened its connections.
  if (state_.carrier.check_connections && !state_.plan->lanes.is_written)
    state_.carrier.check_connections(lane_neighbours(*state_.plan, state_.host, *hosts));
  const std::uint64_t id = calls_.join(name, hosts, options);
  return std::unique_ptr<MessageGroup>(new MessageGroup(self_, {std::string(name), state_.plan}, id,
                                                        std::move(hosts), std::move(options),
                                                        calls_.ended_channels(id)));
}

void MessageEndpoint::check_hosts(std::string_view name,
                                  const std::vector<std::uint32_t>& hosts) const {
  const Plan& plan = *state_.plan;
  const auto refuse = [&](const std::string& why) {
    throw base::UsageError(fmt::format("group {}: {}", name, why));
  };
  const auto twice = std::adjacent_find(hosts.begin(), hosts.end());
  if (hosts.empty() || hosts.back() >= plan.hosts.size())
    refuse(fmt::format("expected some of the {} hosts of the run", plan.hosts.size()));
  if (twice != hosts.end()) refuse(fmt::format("host {} twice", plan.hosts[*twice].name));
  if (!std::binary_search(hosts.begin(), hosts.end(), state_.host))
    refuse(fmt::format("host {} is not in it", state_.name));
  std::vector<bool> is_reached(plan.clusters.size());  // by cluster, as its hosts have equal routes
  for (const std::uint32_t peer : hosts) {
    if (is_reached[plan.hosts[peer].cluster]) continue;
    is_reached[plan.hosts[peer].cluster] = true;
    for (const auto& [from, to] : {std::pair(state_.host, peer), std::pair(peer, state_.host)})
      if (const std::string why = missing_way(plan, from, to); !why.empty())
        refuse(fmt::format("no way from host {} to host {}: {}", plan.hosts[from].name,
                           plan.hosts[to].name, why));
  }
}

// ---- calls by the host and by the carrier -----------------------------------------------------

void MessageEndpoint::record_transfers(RecorderOf recorder_of) {
  const runtime::Lock lock(state_.mutex);
  state_.link_scheduler.record_transfers(std::move(recorder_of));
}

void MessageEndpoint::answer_for_threads(GroupControl::WhyAbsent why_absent) {
  const runtime::Lock lock(state_.mutex);
  control_.answer_for_threads(std::move(why_absent));
}

void MessageEndpoint::room_made(std::uint32_t host) {
  runtime::Lock lock(state_.mutex);
  if (clock_.is_stopped()) return;
  outgoing_.room_made(host);
  clock_.settle(lock);
}

void MessageEndpoint::host_lost(std::uint32_t host, const std::string& reason) {
  runtime::Lock lock(state_.mutex);
  if (clock_.is_stopped()) return;
  membership_.lose_and_notify_exit(host, reason);
  clock_.settle(lock);
}

void MessageEndpoint::host_ended(std::uint32_t host) {
  runtime::Lock lock(state_.mutex);
  if (clock_.is_stopped()) return;
  delivery_.when_all_has_come([this, host] { membership_.note_end(host); });
  clock_.settle(lock);
}

void MessageEndpoint::look_at_neighbours() {
  runtime::Lock lock(state_.mutex);
  membership_.look_at_neighbours();
  clock_.settle(lock);
}

std::string MessageEndpoint::finish(bool has_failed) {
  calls_.leave_all();
  const std::string wrong = phases_.finish(has_failed);
  const runtime::Lock lock(state_.mutex);
  return groups_.difference().empty() ? wrong : groups_.difference();
}

// ---- measurements for tests and reports --------------------------------------------------------

std::uint64_t MessageEndpoint::end_progress() {
  const runtime::Lock lock(state_.mutex);
  return ends_.progress();
}

std::uint64_t MessageEndpoint::frame_bytes_max() const {
  const std::uint64_t bytes = state_.plan->lanes.frame_bytes;
  return bytes == 0 ? body_bytes_limit : bytes;
}

MessageEndpoint::Use MessageEndpoint::use() {
  const runtime::Lock lock(state_.mutex);
  return {inbox_.issued(), inbox_.held(), inbox_.held_most(),
          state_.link_scheduler.lateness_lost()};
}

MessageEndpoint::Balance MessageEndpoint::credit_issued() {
  const runtime::Lock lock(state_.mutex);
  Balance balance;
  for (const auto& [id, group] : groups_.all())
    for (const auto& [source, lane] : group->in) balance[{id, source}] = lane->account().unused();
  return balance;
}

MessageEndpoint::Balance MessageEndpoint::credit_to_use() {
  const runtime::Lock lock(state_.mutex);
  Balance balance;
  for (const auto& [id, group] : groups_.all())
    for (const auto& [target, lane] : group->out) balance[{id, target}] = lane.window.credit();
  return balance;
}

}  // namespace paths
