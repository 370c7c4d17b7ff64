// SPDX-License-Identifier: Apache-2.0
// paths/host/deployment.cpp — construction and orderly end of a deployment.
#include "paths/host/deployment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "base/usage_error.hpp"
#include "paths/host/elements/shared_elements.hpp"
#include "paths/host/host.hpp"
#include "paths/host/requests/dispatcher.hpp"
#include "paths/plan/path_tuples.hpp"
#include "runtime/continuation.hpp"

namespace paths {

Deployment::Deployment(Host& host, Acceptor& acceptor, std::shared_ptr<const DeploymentId> call,
                       std::shared_ptr<const Plan> plan, std::uint32_t index, HostNumbers numbers,
                       const WrapperKinds& kinds, std::shared_ptr<const Peers> peers)
    : HostView(host.runtime(), std::move(plan), index,
               call->label.empty() ? host.recorder() : records_),
      host_(host),
      acceptor_(acceptor),
      call_(std::move(call)),
      share_made_(acceptor.share(std::move(numbers))),
      share_(*share_made_),
      shared_elements_(std::make_unique<SharedElements>(*plan_, index, *peers)),
      releases_(*plan_, index),
      services_(runtime_, name(), index),
      connections_(
          runtime_, std::move(peers), index,
          {call_, !label().empty(),
           [this, &kinds](std::uint32_t path) { return tuple_bytes_max(*plan_, kinds, path); }},
          std::move(share_made_), acceptor.rejections(),
          [this](ConnectionId connection, Frame&& frame) {
            dispatcher_->run(connection, std::move(frame));
          },
          [this](ConnectionId connection, ShortFrame&& frame) {
            dispatcher_->run(connection, std::move(frame));
          },
          [this](std::uint32_t peer, const std::string& reason, bool has_closed) {
            peer_gone(peer, reason, has_closed);
          }),
      traffic_(std::make_unique<TrafficCounts>(*plan_, index, connections_)),
      dispatcher_(std::make_unique<Dispatcher>(*this, kinds)) {
  ENSURE_EQ(plan_->shares.size(), plan_->hosts.size());  // finish_plan() adds an entry per host
  if (!label().empty()) host_.tell_of(*this, &DeploymentWatcher::made);
  try {
    instance_ = std::make_unique<PlanInstance>(*this, *shared_elements_, kinds);
    if (runtime::end_of(runtime_, deadline()) < base::Nanos::max())
      deadline_monitor_ = std::make_unique<DeadlineMonitor>(
          runtime_, runtime::ContextName{"deadlines of", name(), index_}, [this](base::Nanos now) {
            const base::Nanos next = connections_.requests().end_late(now);
            return std::min(next, instance_->end_late(now));
          });
    connections_.start();
    acceptor_.open(*call_, connections_, share_);
  } catch (...) {
    // Notifies here, because the destructor does not run if the constructor throws.
    if (!label().empty()) host_.tell_of(*this, &DeploymentWatcher::ended);
    throw;
  }
}

/// Ends the parts of the deployment that finish() has not ended. After a regular run finish() has
/// ended all parts.
Deployment::~Deployment() {
  leave(fmt::format("host {} ended without ending deployment '{}'", name(), label()));
  acceptor_.end(*call_, "it failed");  // has an effect only if finish() was cancelled
  connections_.close();
  beats_ = {};
  meeting_ = {};  // must precede end_services(): the task may start service contexts
  end_services();
  ENSURE(!services_.are_running());
  if (!label().empty()) host_.tell_of(*this, &DeploymentWatcher::ended);
}

std::string Deployment::name_in_space(std::string_view element) const {
  return label().empty() ? std::string(element) : fmt::format("{}/{}", label(), element);
}

std::shared_ptr<pastset::Element> Deployment::element(std::string_view name) {
  return host_.element(name_in_space(name));
}

void Deployment::expect(base::Nanos until) {
  if (deadline_monitor_) deadline_monitor_->expect(until);
}

/// Releases the paths of a peer that is lost or has ended. Operations that wait for the peer fail
/// with an error that contains `reason`.
void Deployment::peer_gone(std::uint32_t peer, const std::string& reason, bool has_closed) {
  const std::string why = fmt::format("host {} is gone: {}", plan_->hosts[peer].name, reason);
  if (!has_closed && (plan_->lanes.is_written || !releases_.have_all())) {
    connections_.sender().note_failure(why);
    connections_.losses().report(why);
  }
  if (!has_closed && label().empty() && connections_.watches_peers()) host_.peer_lost(peer, reason);
  dispatcher_->release_paths_from(peer, why);
}

// ---- start and end -------------------------------------------------------------------------

void Deployment::start() {
  remote_calls_.connect();
  if (connections_.watches_peers()) {
    if (plan_->hosts.size() > 1)
      beats_ = runtime_.spawn(runtime::ContextRole::service, {"beats of", name(), index_}, [this] {
        for (;;) {
          runtime_.sleep_for(connections_.liveness().look_pause());
          connections_.liveness().look_after_peers();
        }
      });
    if (label().empty())
      meeting_ = runtime_.spawn(runtime::ContextRole::service, {"meeting of", name(), index_},
                                [this] { connections_.meeting().await_peers(deadline()); });
  }
  if (!label().empty()) {
    const std::string failure = connections_.meeting().deploy(deadline());
    if (!failure.empty()) {
      abandon(failure);
      throw TravelError(
          name(), label(), "",
          fmt::format("number {} of deployment '{}' failed: {}", number(), label(), failure));
    }
  }
  instance_->start_wrappers();
}

runtime::Deadline Deployment::end_deadline() {
  const runtime::Deadline usual = deadline();
  if (connections_.sender().failure().empty()) return usual;
  return runtime::sooner(runtime_, usual,
                         runtime::Deadline::default_at(runtime_.now() + Liveness::parting_time));
}

std::string Deployment::finish(const std::function<void()>& before_goodbyes) {
  if (is_ending_.exchange(true))
    throw base::UsageError(
        fmt::format("host {}: deployment '{}' was ended before", name(), label()));
  connections_.liveness().begin_end();
  releases_.wait_for_all(PathReleases::Beginner::thread, runtime::Deadline::never(),
                         {"the release of the threads' paths at", name(), index_});
  if (before_end_) before_end_();
  instance_->stop_wrappers();
  for (const std::uint32_t path : instance_->paths())
    if (plan_->paths[path].threads == 0) dispatcher_->release_background(path, nullptr);
  // Waiting readers get the remaining tuples, and then this error. Without the error mark, they
  // would wait for tuples that never arrive.
  instance_->mark_elements(fmt::format("host {} has ended", name()));
  releases_.wait_for_all(PathReleases::Beginner::wrapper, runtime::Deadline::never(),
                         {"the release of reads from", name(), index_});
  instance_->drain_wrappers();
  // Operations that still wait in an element fail when the element is deleted. The tuples for which
  // they wait will never arrive.
  instance_->delete_elements();
  if (!services_.wait_for_end(end_deadline())) end_services();
  if (before_goodbyes) before_goodbyes();
  if (meeting_) {
    // If the run has not failed, waits for peers that have not connected yet. If this host ended
    // before a peer connects, the peer would wait for this host until its deadline.
    if (!connections_.sender().failure().empty()) meeting_.cancel();
    meeting_.join();
  }
  connections_.goodbyes().part(end_deadline());
  beats_ = {};  // cancels the task and waits for its end
  // Ends service contexts that began while peers disconnected. Each of these contexts releases the
  // paths of one peer.
  end_services();
  if (deadline_monitor_) deadline_monitor_->stop();
  acceptor_.end(*call_, "it has ended", connections_.open_arrivals());
  connections_.close();
  std::string wrong = connections_.given_up();
  host_.forget(*this);  // may drop the last reference to this object
  return wrong;
}

void Deployment::abandon(const std::string& why) {
  if (!leave(why)) return;
  end_services();
  if (deadline_monitor_) deadline_monitor_->stop();
}

/// Ends the deployment without waiting. Returns false if the end of the deployment had begun
/// before.
bool Deployment::leave(const std::string& why) {
  if (is_ending_.exchange(true)) return false;
  acceptor_.end(*call_, why);
  acceptor_.hear(*call_, connections_.meeting().received_number());
  if (!label().empty()) connections_.liveness().abandon(why);
  connections_.close();
  if (!label().empty()) instance_->delete_elements();
  return true;
}

/// Cancels service contexts, and operations without a context, until none of them runs. The
/// function repeats cancel() and give_up(). One call of each is not enough, because cancel() ends
/// only the present wait of each context. After give_up(), an operation may wait again in the next
/// join.
void Deployment::end_services() {
  constexpr base::Nanos pause = std::chrono::milliseconds(10);
  const std::size_t rounds_max = plan_->wrappers.size() + 1;
  const bool is_inside = runtime::is_inside_a_run();
  for (std::size_t rounds = 0;; ++rounds) {
    dispatcher_->cancel();
    services_.cancel();
    instance_->give_up();
    connections_.requests().end_late(base::Nanos::max());
    if (!services_.are_running()) return;
    // True if a context or operation has not ended after enough repetitions. On the virtual clock
    // the wait below then has no limit, so that the clock reports a deadlock.
    const bool is_stuck = rounds >= rounds_max;
    if (is_inside)
      services_.wait_for_change({.at = runtime_.now() + pause, .written = !is_stuck});
    else if (is_stuck && !runtime_.is_parallel())
      return;  // without a run, no context exists that could end the operations
    else if (is_stuck)
      services_.wait_for_change(runtime::Deadline::never());
  }
}

}  // namespace paths
