// SPDX-License-Identifier: Apache-2.0
// paths/messages/endpoint_state.cpp — names, routes, control frames and due work of an endpoint
#include "paths/messages/endpoint_state.hpp"

#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/host_view.hpp"
#include "paths/plan/ways.hpp"

namespace paths {

EndpointState::EndpointState(runtime::Runtime& of, std::shared_ptr<const Plan> run_plan,
                             std::uint32_t number, EmulatedLinks& links, LaneCarrier& by)
    : runtime(of),
      plan(std::move(run_plan)),
      host(number),
      name(place_name(*plan, number)),
      carrier(by),
      due_queue(!of.is_parallel()),
      link_scheduler(of, *plan, number, links, due_queue),
      processor(simulated_costs(*plan, of) != nullptr && !is_switch()
                    ? std::make_unique<ChargedProcessor>(runtime, *plan, number, due_queue)
                    : nullptr),
      own_rejections_(name) {}

void EndpointState::reject(std::uint32_t source, const std::string& what) {
  RejectionLog* const shared = carrier.rejections;
  (shared == nullptr ? own_rejections_ : *shared).tell(place_text(*plan, source), "lanes: " + what);
}

bool EndpointState::leads_to(std::uint32_t target) const {
  if (!is_switch()) return missing_way(*plan, host, target).empty();
  const auto here = host - static_cast<std::uint32_t>(plan->hosts.size());
  return plan->ways->links.contains({here, plan->hosts[target].cluster});
}

base::Nanos EndpointState::farthest() const {
  return watches_hosts() ? 2 * plan->deadline : base::time_max;
}

runtime::Deadline EndpointState::deadline() const { return deadline_of(*plan, runtime); }

std::string EndpointState::name_of(std::uint32_t place) const { return place_name(*plan, place); }

LaneFrame EndpointState::control(LaneKind kind, std::uint32_t target, std::uint64_t group) const {
  LaneFrame frame;
  frame.kind = kind;
  frame.source = host;
  frame.target = target;
  frame.group = group;
  return frame;
}

LaneFrame EndpointState::lost_frame(std::uint32_t target, std::uint32_t lost,
                                    const std::string& why) const {
  LaneFrame frame = control(LaneKind::lost, target, 0);
  frame.bytes = lost;
  frame.text = why;
  return frame;
}

void EndpointState::catch_up() {
  const base::Nanos now = runtime.now();
  while (due_queue.is_behind(now)) due_queue.take()();
}

}  // namespace paths
