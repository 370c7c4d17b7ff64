// SPDX-License-Identifier: Apache-2.0
// paths/links/link_scheduler.hpp — queues and delays of frames on emulated links
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

/// Maximum lateness that the next host compensates for a frame. The part of a frame's lateness
/// above this limit delays the frame, and lateness_lost() counts this part.
inline constexpr base::Nanos lateness_max = std::chrono::milliseconds(20);

/// Function that returns the recorder for the transfers of the host `source` to other clusters;
/// nullptr = the transfers are not recorded.
using RecorderOf = std::function<eventspace::Recorder*(std::uint32_t source)>;

/// Sends frames over the emulated links of a host or switch. Each frame makes one step of its
/// route: to the next host or switch.
///
/// A frame leaves when the link begins to accept it. The frame carries the ideal arrival time of
/// the first byte of the frame, the head. The next host keeps the frame until that time. If no link
/// is emulated, the frame leaves immediately. Frames wait in this class only if their link has
/// streams. On a link without streams, depart() computes the times of a frame immediately.
///
/// Why:   Emulated links must delay frames exactly, although the machine itself is sometimes late.
///        The time that the machine takes to pass on a frame is part of the latency of the link.
/// Units: all times are ideal times. The next host compensates lateness, because it computes from
///        the ideal arrival time. On the virtual clock, frames leave at the time of their arrival.
/// Thread-safe: no. The mutex of the owner guards all functions.
/// Records: transfers to other clusters, after record_transfers().
class LinkScheduler {
 public:
  /// `place` is the number of a host or switch.
  /// Requires: all arguments outlive this object.
  LinkScheduler(runtime::Runtime& runtime, const Plan& plan, std::uint32_t place,
                EmulatedLinks& links, DueQueue& due_queue)
      : runtime_(runtime), plan_(plan), place_(place), links_(links), due_queue_(due_queue) {}

  /// Enables the recording of transfers.
  /// Requires: no frame has been sent yet.
  void record_transfers(RecorderOf recorder_of) { recorder_of_ = std::move(recorder_of); }

  /// Sends a frame whose first byte arrived here at the time `head`. Returns the time when the link
  /// has accepted the whole frame. Returns `head` if the frame passes no link, waits for a stream,
  /// or carries no data of a message.
  base::Nanos depart(LaneFrame frame, base::Nanos head);
  /// Returns the link over which frames to `target` leave. Returns nullptr if this class emulates
  /// no such link, or if frames wait for streams of the link.
  EmulatedLink* link_to(std::uint32_t target) {
    const Step& step = step_to(target);
    return step.waiting == nullptr ? step.link.get() : nullptr;
  }
  bool waits_for_streams(std::uint32_t target) { return step_to(target).waiting != nullptr; }
  /// Returns the emulated link over which frames to `target` leave, even if the frames wait for
  /// streams of the link; nullptr if there is no emulated link.
  const EmulatedLink* emulated_link_to(std::uint32_t target) { return step_to(target).link.get(); }
  /// Returns whether the next step of frames to `target` leaves the cluster. If the cluster has a
  /// switch, only the step from the switch leaves the cluster.
  bool leaves_cluster(std::uint32_t target) { return step_to(target).leaves_cluster; }
  std::uint32_t next_host(std::uint32_t target) { return step_to(target).to; }

  /// Frames that must be passed on now, in order, each with the number of the next host or switch.
  using Leaving = std::vector<std::pair<std::uint32_t, LaneFrame>>;
  Leaving& leaving() { return leaving_; }
  /// Returns the ideal arrival time of a frame that was just delivered to this host.
  base::Nanos arrived_at(const LaneFrame& frame);
  /// Returns the total lateness that was not compensated.
  base::Nanos lateness_lost() const { return lateness_lost_; }
  /// Returns `moment`, but at the earliest the time lateness_max (20 ms) before now. Adds the
  /// difference to lateness_lost().
  base::Nanos not_long_ago(base::Nanos moment);

 private:
  /// Frames that wait for a stream of one link.
  struct Waiting {
    Waiting(std::shared_ptr<EmulatedLink> over, const tuning::Link& model, std::size_t striping)
        : link(std::move(over)), streams(model, striping) {}
    std::shared_ptr<EmulatedLink> link;
    tuning::Streams<LaneFrame> streams;
    base::Nanos looks_at{-1};  ///< time of the next planned call of serve(); -1 = no planned call
  };
  struct Step {
    std::uint32_t to = 0;
    std::shared_ptr<EmulatedLink> link;
    Waiting* waiting = nullptr;  ///< frames that wait for streams; nullptr if none can wait
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
  // Next step of frames, keyed by target. step_to() adds a target at its first use.
  std::unordered_map<std::uint32_t, Step> steps_;
  std::map<std::string, std::unique_ptr<Waiting>> waiting_;  // keyed by link name
  Leaving leaving_;
  base::Nanos lateness_lost_{0};
  RecorderOf recorder_of_;
  // Start time of each message that has several frames, until its last frame is sent.
  std::map<MessageKey, base::Nanos> crossing_;
};

}  // namespace paths
