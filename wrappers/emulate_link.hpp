// SPDX-License-Identifier: Apache-2.0
// wrappers/emulate_link.hpp — delays messages as one direction of a real link would.
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

/// One direction of a link. Stages with the role `down` delay operations before they go on, those
/// with `up` delay what comes back, failures too. All of them share the link, and lanes do, when it
/// has a name (paths/links/emulated_links.hpp): each message waits until the one before it has
/// left, and none arrives before an earlier one.
///
/// Why:     Bongo et al. 2004, §V-D, emulated wide-area networks by such wrappers; simulation uses
///          the same ones, so that delay has one home.
/// Context: whichever brought the operation; a push travels on in a service context.
/// Blocks:  until the message has arrived; never for a push or a release, and nobody who sends a
///          push waits for it.
/// Order:   all arrive in the order in which they were sent, and those of one contributor go on in
///          it.
/// Throws:  nothing of its own; what comes up passes through when it has arrived.
/// Records: each message: when it was sent and arrived, and how long it waited for others.
class EmulateLink final : public paths::BlockingWrapper {
 public:
  EmulateLink(paths::Deployment& deployment, std::shared_ptr<paths::EmulatedLink> link)
      : deployment_(deployment), link_(std::move(link)) {}
  /// Over a link of its own.
  EmulateLink(paths::Deployment& deployment, tuning::LinkModel model)
      : EmulateLink(deployment, std::make_shared<paths::EmulatedLink>(std::move(model))) {}
  paths::Result operate(paths::Operation operation, paths::Next next) override;
  bool sees_failed_operations() const override { return true; }
  void drain() override;  ///< of pushes, which arrive long after the last one was sent

 private:
  /// The pushes of one contributor at one stage, which stay in order.
  using LaneKey = std::pair<paths::StageId, std::uint32_t>;
  /// Among what that contributor has sent and what has not gone on yet.
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
  /// With mutex_ held: when it arrives.
  base::Nanos offer(std::size_t bytes, std::uint64_t sequence, const paths::Next& next);
  void travel_in_line(const paths::Operation& operation, LaneKey key, const paths::Next& next);
  bool join_lane(paths::Operation& operation, LaneKey key, const paths::Next& next);
  Place take_place(LaneKey key) { return *line_.emplace(key, next_place_++).first; }
  bool is_first(const Place& place) const;
  void wait_for_turn(const Place& place, runtime::Deadline deadline);
  void leave(const Place& place);
  struct InLine;  // until its end
  void empty_lane(LaneKey key, const paths::Next& next);
  bool carry_first(LaneKey key, const paths::Next& next);
  void close_lane(LaneKey key);

  paths::Deployment& deployment_;
  const std::shared_ptr<paths::EmulatedLink> link_;
  runtime::Mutex mutex_;
  std::map<LaneKey, Lane> lanes_;  // there is one as long as a service context empties it
  std::set<Place> line_;           // of pushes and of those that wait for answers
  std::uint64_t next_place_ = 0;
  runtime::WaitList emptied_;  // lanes, or places
};

paths::WrapperKind emulate_link_kind();

}  // namespace wrappers
