// SPDX-License-Identifier: Apache-2.0
// paths/links/link_scheduler.hpp — frames that leave a host, over the links on their way.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/link_model/streams.hpp"
#include "eventspace/recorder.hpp"
#include "eventspace/transfer_record.hpp"
#include "paths/links/due_queue.hpp"
#include "paths/links/emulated_links.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wire/lane_frame.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Credit for lateness ends there, for each frame: what a machine does too late beyond that is
/// late for good, and counted.
inline constexpr base::Nanos lateness_max = std::chrono::milliseconds(20);

/// Where what began on a host is recorded when it crosses to another cluster; null: nowhere.
using RecorderOf = std::function<eventspace::Recorder*(std::uint32_t source)>;

/// Sends a frame the next step of its way, of a host or of a switch: when the link there, if one is
/// emulated, begins to take it, with the moment at which its head should come; the next host keeps
/// it until then. At once where none is. Frames wait here for streams of a link; of other links
/// each is told at once when it will have passed.
///
/// Why:     what a machine takes to hand a frame over passes beside the link's latency, and not on
///          top of it.
/// Time:    moments are ideal: what a machine does late is made good by the next host, which
///          goes on from when it should have been. On the virtual clock frames leave when they
///          come.
/// Records: what crosses to another cluster, if it was told where.
/// Sharing: guarded by its owner's mutex.
class LinkScheduler {
 public:
  /// All outlive it. `place`: a host, or a switch by its number.
  LinkScheduler(runtime::Runtime& runtime, const Plan& plan, std::uint32_t place,
                EmulatedLinks& links, DueQueue& due_queue)
      : runtime_(runtime), plan_(plan), place_(place), links_(links), due_queue_(due_queue) {}

  /// Before the first departs.
  void record_transfers(RecorderOf recorder_of) { recorder_of_ = std::move(recorder_of); }

  /// A frame whose head is here at `head`. Answers when its link has taken it; what waits for a
  /// stream counts as taken.
  base::Nanos depart(LaneFrame frame, base::Nanos head);
  /// The link that what goes to that host leaves by, frame by frame; null when none is emulated
  /// here, or frames wait for its streams.
  EmulatedLink* link_to(std::uint32_t target) {
    const Step& step = step_to(target);
    return step.waiting == nullptr ? step.link.get() : nullptr;
  }
  bool waits_for_streams(std::uint32_t target) { return step_to(target).waiting != nullptr; }
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
  /// Frames that wait for streams of a link.
  struct Waiting {
    Waiting(std::shared_ptr<EmulatedLink> over, const tuning::Link& model, std::size_t striping)
        : link(std::move(over)), streams(model, striping) {}
    std::shared_ptr<EmulatedLink> link;
    tuning::Streams<LaneFrame> streams;
    base::Nanos looks_at{-1};  ///< again, when the link is free
  };
  struct Step {
    std::uint32_t to = 0;
    std::shared_ptr<EmulatedLink> link;
    Waiting* waiting = nullptr;  ///< if the link has streams
    bool leaves_cluster = false;
  };
  using MessageKey = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t,
                                std::uint64_t>;  // source, target, group, channel, ordinal
  const Step& step_to(std::uint32_t target);
  void set_link(Step& step, const HopLink& passed);
  void serve(Waiting& waiting, base::Nanos moment);
  void pass_on(std::uint32_t to, LaneFrame frame, base::Nanos begin, base::Nanos head);
  void record(const LaneFrame& frame, bool has_stream, base::Nanos begin, base::Nanos end,
              base::Nanos arrived);

  runtime::Runtime& runtime_;
  const Plan& plan_;
  const std::uint32_t place_;
  EmulatedLinks& links_;
  DueQueue& due_queue_;
  std::unordered_map<std::uint32_t, Step> steps_;            // of targets in use
  std::map<std::string, std::unique_ptr<Waiting>> waiting_;  // by link
  Leaving leaving_;
  base::Nanos lateness_lost_{0};
  RecorderOf recorder_of_;
  std::map<MessageKey, base::Nanos> crossing_;  // since when, of messages in frames
};

}  // namespace paths
