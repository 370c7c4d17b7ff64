// SPDX-License-Identifier: Apache-2.0
// wrappers/emulate_link.hpp — wrapper that delays messages as one direction of a real link does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "paths/host/deployment.hpp"
#include "paths/host/host.hpp"
#include "paths/links/emulated_links.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/wait.hpp"

namespace wrappers {

/// Delays messages like one direction of a real link. Stages with the role `down` delay operations
/// on their way down. Stages with the role `up` delay results and failures on their way up. All
/// stages of the wrapper share the link. If the link has a name, lanes also share it
/// (paths/links/emulated_links.hpp). Each message waits until the previous message has left. No
/// message overtakes an earlier message.
///
/// Why:     Simulation and emulation use the same wrapper, so that the delay of links is computed
///          in one place only.
/// Blocks:  until the message has arrived; never for a push or a release.
/// Throws:  nothing of its own. A failure on its way up is delayed like a result.
/// Paper:   Bongo et al. 2004, §V-D, emulate wide-area networks by such wrappers.
/// Context: runs in the context of the operation. A push continues in a service context.
/// Order:   Messages arrive in the order in which they were sent. Messages of one contributor also
///          continue in that order.
/// Records: for each message: when it was sent, when it arrived, and how long it waited for earlier
///          messages.
class EmulateLink final : public paths::BlockingWrapper {
 public:
  EmulateLink(paths::Deployment& deployment, std::shared_ptr<paths::EmulatedLink> link)
      : deployment_(deployment), link_(std::move(link)) {}
  /// Constructs a wrapper with a link of its own.
  EmulateLink(paths::Deployment& deployment, tuning::LinkModel model)
      : EmulateLink(deployment, std::make_shared<paths::EmulatedLink>(std::move(model))) {}
  paths::Result operate(paths::Operation operation, paths::Next next) override;
  bool sees_failed_operations() const override { return true; }
  /// Waits for the pushes under way, which can arrive long after they were sent.
  void drain() override;

 private:
  /// Identifies the queue (lane) of the pushes of one contributor at one stage.
  using LaneKey = std::pair<paths::StageId, std::uint32_t>;
  /// Position of an operation among the operations of the same contributor that have not continued
  /// yet.
  using Place = std::pair<LaneKey, std::uint64_t>;
  struct Pushed {
    paths::Operation operation;
    base::Nanos arrives;
    Place place;
  };
  using Lane = std::deque<Pushed>;

  paths::Result go_down(paths::Operation operation, const paths::Next& next);
  paths::Result come_up(paths::Operation operation, const paths::Next& next);
  void travel(std::size_t bytes, std::uint64_t sequence, const paths::Next& next);
  struct Passed {
    base::Nanos queued;
    base::Nanos arrives;
  };
  Passed pass(base::Nanos now, std::size_t bytes);
  base::Nanos last_arrival();
  /// Records the message and returns its arrival time. Requires: mutex_ held.
  base::Nanos offer(std::size_t bytes, std::uint64_t sequence, const paths::Next& next);
  void travel_in_line(const paths::Operation& operation, LaneKey key, const paths::Next& next);
  bool join_lane(paths::Operation& operation, LaneKey key, const paths::Next& next);
  Place take_place(LaneKey key) { return *line_.emplace(key, next_place_++).first; }
  bool is_first(const Place& place) const;
  void wait_for_turn(const Place& place, runtime::Deadline deadline);
  void leave(const Place& place);
  struct InLine;  // entry of an operation in line_; its destructor removes the entry
  void empty_lane(LaneKey key, const paths::Next& next);
  bool carry_first(LaneKey key, const paths::Next& next);
  void close_lane(LaneKey key);

  paths::Deployment& deployment_;
  const std::shared_ptr<paths::EmulatedLink> link_;
  runtime::Mutex mutex_;
  std::map<LaneKey, Lane> lanes_;  // queues of pushes; each exists while a fiber sends its pushes
  std::set<Place> line_;           // positions of all operations that have not continued yet
  std::uint64_t next_place_ = 0;
  runtime::WaitList emptied_;  // notified when an entry of lanes_ or line_ is removed
};

paths::WrapperKind emulate_link_kind();

}  // namespace wrappers
