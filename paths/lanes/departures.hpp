// SPDX-License-Identifier: Apache-2.0
// paths/lanes/departures.hpp — frames that leave a host, over the links on their way.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/lanes/agenda.hpp"
#include "paths/lanes/emulated_links.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wire/lane_frame.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Credit for lateness ends there, for each frame: what a machine does too late beyond that is
/// late for good, and counted.
inline constexpr base::Nanos lateness_max = std::chrono::milliseconds(20);

/// Sends a frame the next step of its way: at the moment at which its head has passed the link
/// there, if one is emulated, at once if not.
///
/// Time:    moments are ideal: when a timer acts late, the frame says how much, and the next host
///          goes on from when it should have been.
/// Sharing: guarded by its owner's mutex.
class Departures {
 public:
  /// All outlive it.
  Departures(runtime::Runtime& runtime, const Plan& plan, std::uint32_t host, EmulatedLinks& links,
             Agenda& agenda)
      : runtime_(runtime), plan_(plan), host_(host), links_(links), agenda_(agenda) {}

  /// A frame whose head is here at `head`. Answers when its link has taken it.
  base::Nanos depart(LaneFrame frame, base::Nanos head);
  /// The link that what goes to that host leaves by; null when none is emulated.
  EmulatedLink* link_to(std::uint32_t target) { return step_to(target).link.get(); }
  std::uint32_t next_host(std::uint32_t target) { return step_to(target).to; }

  /// What is to be handed over now, in order, each with the host it goes to.
  using Leaving = std::vector<std::pair<std::uint32_t, LaneFrame>>;
  Leaving& leaving() { return leaving_; }
  /// The ideal moment at which a frame came that has just been delivered.
  base::Nanos came_at(const LaneFrame& frame);
  /// How much lateness was no longer made good.
  base::Nanos lateness_lost() const { return lateness_lost_; }
  /// The later of a moment and 20 ms ago.
  base::Nanos not_long_ago(base::Nanos moment);

 private:
  struct Step {
    std::uint32_t to = 0;
    std::shared_ptr<EmulatedLink> link;
  };
  const Step& step_to(std::uint32_t target);
  void leave(std::uint32_t to, LaneFrame frame, base::Nanos head);

  runtime::Runtime& runtime_;
  const Plan& plan_;
  const std::uint32_t host_;
  EmulatedLinks& links_;
  Agenda& agenda_;
  std::unordered_map<std::uint32_t, Step> steps_;  // of targets in use
  Leaving leaving_;
  base::Nanos lateness_lost_{0};
};

}  // namespace paths
