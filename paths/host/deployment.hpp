// SPDX-License-Identifier: Apache-2.0
// paths/host/deployment.hpp — what one plan made on a host: its wrappers, stages, paths, and their
// end.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "pastset/element.hpp"
#include "paths/connections/acceptor.hpp"
#include "paths/connections/connections.hpp"
#include "paths/host/deadline_monitor.hpp"
#include "paths/host/ended_threads.hpp"
#include "paths/host/path_releases.hpp"
#include "paths/host/plan_instance.hpp"
#include "paths/host/remote_calls.hpp"
#include "paths/host/services.hpp"
#include "paths/host/traffic_counts.hpp"
#include "paths/plan/host_view.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/runtime.hpp"

namespace paths {

class Dispatcher;
class Host;
class SharedElements;

/// A host's share of a plan, wired and served: the paper's PATHS server, which is linked into the
/// application (Bongo et al. 2004, §III-A). Releases, goodbyes, deadlines, failures and traffic are
/// each deployment's own.
///
/// The deployment owns parts, and keeps the order in which they begin and end. PlanInstance has the
/// elements, wrappers and stages. Dispatcher runs operations of other hosts, and RemoteCalls sends
/// operations to them. Services and PathReleases count what must end first. TrafficCounts adds up
/// what was sent.
///
/// Owns:    its parts and connections; borrows the host.
/// Sharing: any context may call anything; operations block as their wrappers say.
class Deployment : public HostView {
 public:
  /// `index` is the host's in this plan, `numbers` are those of all its hosts in the run. Greetings
  /// are taken from then on.
  Deployment(Host& host, Acceptor& acceptor, std::shared_ptr<const DeploymentId> call,
             std::shared_ptr<const Plan> plan, std::uint32_t index, HostNumbers numbers,
             const WrapperKinds& kinds, std::shared_ptr<const Peers> peers);
  ~Deployment();

  /// What this host's call of deploy() was given, "" of the config's plan, and its number.
  const std::string& label() const { return call_->label; }
  std::uint64_t number() const { return call_->number; }

  Host& host() const { return host_; }
  /// An element of this deployment, which lives in the host's space: as LABEL/NAME, unless the
  /// label is empty. Throws UsageError when there is none of that name.
  std::shared_ptr<pastset::Element> element(std::string_view name);
  /// Returns the name that an element of the plan has in the host's space.
  std::string name_in_space(std::string_view element) const;
  /// Of this deployment, here and on other hosts of this machine.
  SharedElements& shared_elements() const { return *shared_elements_; }

  /// The parts.
  const PlanInstance& instance() const { return *instance_; }
  Connections& connections() { return connections_; }
  Dispatcher& dispatcher() { return *dispatcher_; }
  RemoteCalls& remote_calls() { return remote_calls_; }
  Services& services() { return services_; }
  PathReleases& releases() { return releases_; }
  TrafficCounts& traffic() const { return *traffic_; }

  /// Connects, then starts the wrappers. Every host of the plan must get here, in any order. Of the
  /// config's plan it does not wait for them: on the steady clock one that has not come within the
  /// deadline counts as gone. Of any other it blocks until all have come to which paths lead
  /// directly, or from which they come. Throws TravelError when one has not, or not to this call;
  /// the others are told, and nothing but the destructor is to follow.
  void start();
  /// Waits until every path through here was released, serving until then; then stops wrappers
  /// and parts from its peers. A host that is gone counts as having released its paths, and so does
  /// one that gave no sign of life for the deadline. Its own threads must have released theirs or
  /// be about to. In order: the paths of threads, then this host's prefetches, which nobody here
  /// needs any more, then those of other hosts that read from here: they find what there is, and
  /// that this host has ended. Gateways so end last.
  /// Returns what went wrong at the end, "" = nothing: the hosts that did not answer. Once, by any
  /// context. Calls `before_goodbyes` when nothing here is needed by paths any more: until it has
  /// returned, this host counts as present. Throws UsageError when it was called before.
  std::string finish(const std::function<void()>& before_goodbyes = {});
  /// Ends it: peers are told why, and count this host as lost. Waits for what still serves here.
  /// Does nothing once finish() has begun.
  void abandon(const std::string& why);
  /// Threads of this host that have ended.
  EndedThreads& ended_threads() { return ended_threads_; }

  /// Has finish() call this when every thread's path through here was released, before anything is
  /// stopped: for what asks other hosts all the time. Before finish().
  void before_end(std::function<void()> work) { before_end_ = std::move(work); }

  /// By a stage: something waits there without a context, until then (Wrapper::end_late()).
  void expect(base::Nanos until);

 private:
  void peer_gone(std::uint32_t peer, const std::string& reason, bool has_parted);
  void wait_for_releases(PathReleases::Beginner beginner, const char* what);
  bool leave(const std::string& why);
  void end_services();

  Host& host_;
  eventspace::Recorder records_;  // of a further deployment, whose places are its own
  Acceptor& acceptor_;
  const std::shared_ptr<const DeploymentId> call_;
  std::unique_ptr<Multiplexer::SubTransport> share_made_;  // until the connections have it
  Multiplexer::SubTransport& share_;
  const std::unique_ptr<SharedElements> shared_elements_;
  std::unique_ptr<PlanInstance> instance_;
  PathReleases releases_;
  Services services_;
  Connections connections_;
  const std::unique_ptr<TrafficCounts> traffic_;
  RemoteCalls remote_calls_{*this};
  const std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<DeadlineMonitor> deadline_monitor_;  // none on the virtual clock
  runtime::Task meeting_;                              // of the peers
  std::function<void()> before_end_;
  EndedThreads ended_threads_;
  std::atomic<bool> is_ending_{false};
};

}  // namespace paths
