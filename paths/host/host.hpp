// SPDX-License-Identifier: Apache-2.0
// paths/host/host.hpp — one process, or one simulated machine: its space, its wire, what plans made
// on it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "eventspace/recorder.hpp"
#include "pastset/space.hpp"
#include "paths/host/wiring.hpp"
#include "paths/lanes/lane_connections.hpp"
#include "paths/lanes/lanes.hpp"
#include "paths/lanes/links.hpp"
#include "paths/plan/site.hpp"
#include "paths/wire/multiplexer.hpp"

namespace paths {

/// Where wirings live: whatever belongs to none of them. As a Site it is its place in the config's
/// plan, whose numbers of hosts are those of the run.
///
/// Owns:    space, recorder, transport and wirings; borrows the runtime.
/// Sharing: any context may call anything.
class Host : public Site {
 public:
  /// `peers` are the plan's (peers_of()); one that is alone in its process has them made here.
  Host(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t index,
       const WrapperKinds& kinds, std::unique_ptr<Transport> transport,
       std::shared_ptr<const Peers> peers = nullptr);
  ~Host();

  pastset::Space& space() { return space_; }
  /// Over which what leaves here is delayed.
  Links& links() { return links_; }
  /// From here to any other host of the run.
  Lanes& lanes() { return *lanes_; }
  /// An element of this host, by its name in the space. Throws UsageError when there is none.
  std::shared_ptr<pastset::Element> element(std::string_view name);
  /// What the config's plan made here.
  Wiring& wiring() { return *wiring_; }
  const Wiring& wiring() const { return *wiring_; }

  /// Listens, then starts the wiring of the config's plan.
  void start();
  /// Ends that wiring, then the lanes, then the transport. Answers what went wrong at the end, as
  /// it does.
  std::string finish();

 private:
  eventspace::Recorder recorder_;
  pastset::Space space_;
  Links links_;
  Multiplexer multiplexer_;
  Multiplexer::Share* share_ = nullptr;  // of the wiring
  std::unique_ptr<Wiring> wiring_;
  Multiplexer::Share* lane_share_ = nullptr;
  std::unique_ptr<Lanes> lanes_;
  std::unique_ptr<LaneConnections> lane_connections_;
};

}  // namespace paths
