// SPDX-License-Identifier: Apache-2.0
// paths/run/run_switch.cpp — lanes of an emulated switch, from start to end.
#include "paths/run/run_switch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "paths/links/emulated_links.hpp"
#include "paths/messages/carriers/lane_connections.hpp"
#include "paths/messages/message_endpoint.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/exits.hpp"
#include "paths/plan/host_view.hpp"
#include "paths/run/process_peers.hpp"
#include "paths/run/processes/threads_state.hpp"
#include "paths/wire/transports.hpp"
#include "runtime/runtime.hpp"

namespace paths {

void run_switch(const std::shared_ptr<const Plan>& plan, std::uint32_t cluster,
                const RunKey* run_key) {
  if (!is_switch_emulated(*plan, cluster))
    throw std::invalid_argument(fmt::format(
        "cluster {} has no switch with links to emulate: its hosts need none to talk to others",
        plan->clusters[cluster]));
  const std::uint32_t place = switch_number(*plan, cluster);
  const auto peers = peers_of_process(*plan, place, run_key);
  runtime::Runtime runtime({.waiting = plan->waiting});
  notify_launcher(ThreadsState::running);
  runtime.run([&] {
    EmulatedLinks links;
    RejectionLog rejections(place_name(*plan, place));
    LaneConnections connections(
        runtime, peers, place,
        make_transports(runtime, peers, place, lane_neighbours(*plan, place)), rejections);
    MessageEndpoint lanes(runtime, plan, place, links, connections);
    connections.start(lanes);
    lanes.look_at_neighbours();
    lanes.finish();
    connections.part(deadline_of(*plan, runtime));
    lanes.stop();
    connections.stop();
  });
  notify_launcher(ThreadsState::ended);
}

std::vector<std::uint32_t> switches_beside(const Plan& plan,
                                           const std::vector<std::uint32_t>& hosts) {
  std::vector<std::uint32_t> clusters;
  for (std::uint32_t cluster = 0; cluster < plan.clusters.size(); ++cluster)
    if (is_switch_emulated(plan, cluster) &&
        std::find(hosts.begin(), hosts.end(), exit_of(plan, cluster)) != hosts.end())
      clusters.push_back(cluster);
  return clusters;
}

}  // namespace paths
