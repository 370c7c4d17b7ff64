// SPDX-License-Identifier: Apache-2.0
// paths/host/deployment.hpp — running part of a plan on one host, from its start to its end.
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
#include "paths/host/requests/remote_calls.hpp"
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

/// Running part of a plan on one host. It runs the host's wrappers and stages for threads of this
/// host and for other hosts.
///
/// Each deployment counts the releases and the traffic of its own paths. Each deployment has
/// deadlines, failures and an end of its own.
///
/// The deployment owns its parts and determines the order in which they begin and end. PlanInstance
/// has the elements, wrappers and stages. Dispatcher runs operations of other hosts. RemoteCalls
/// sends operations to other hosts. Services counts the work that must end before the deployment
/// ends. PathReleases counts the paths that must be released before the deployment ends.
/// TrafficCounts adds up the traffic.
///
/// Owns:   its parts and connections. Borrows the host.
/// Thread-safe.
/// Blocks: operations block as their wrappers do.
/// Paper:  Bongo et al. 2004, §III-A: the PATHS server. Here it is linked into the application.
class Deployment : public HostView {
 public:
  /// `index` is the index of the host in this plan. `numbers` contains the numbers that the plan's
  /// hosts have in the run; nullptr for the config's plan. The deployment accepts hellos of peers
  /// as soon as it is constructed.
  Deployment(Host& host, Acceptor& acceptor, std::shared_ptr<const DeploymentId> call,
             std::shared_ptr<const Plan> plan, std::uint32_t index, HostNumbers numbers,
             const WrapperKinds& kinds, std::shared_ptr<const Peers> peers);
  ~Deployment();

  /// Returns the label that was passed to deploy(); "" for the config's plan.
  const std::string& label() const { return call_->label; }
  /// Returns the number of the call of Host::deploy() that made this deployment. The number is the
  /// same on all hosts of the plan.
  std::uint64_t number() const { return call_->number; }

  Host& host() const { return host_; }
  /// Returns an element of this deployment. In the host's space the element has the name
  /// LABEL/NAME, or NAME if the label is empty.
  /// Throws: UsageError if there is no such element.
  std::shared_ptr<pastset::Element> element(std::string_view name);
  /// Returns the name in the host's space of the plan's element `element`.
  std::string name_in_space(std::string_view element) const;
  /// Returns the shared elements of this deployment on this host and on other hosts of the machine.
  SharedElements& shared_elements() const { return *shared_elements_; }

  const PlanInstance& instance() const { return *instance_; }
  Connections& connections() { return connections_; }
  Dispatcher& dispatcher() { return *dispatcher_; }
  RemoteCalls& remote_calls() { return remote_calls_; }
  Services& services() { return services_; }
  PathReleases& releases() { return releases_; }
  TrafficCounts& traffic() const { return *traffic_; }

  /// Connects to the peers, then starts the wrappers. Every host of the plan must call start(), in
  /// any order.
  ///
  /// For the config's plan, start() does not wait for other hosts. On the steady clock a host that
  /// has not arrived within the deadline counts as lost.
  ///
  /// Blocks: for a plan other than the config's, until all peers have arrived. The peers are the
  ///         hosts that paths connect directly with this host.
  /// Throws: TravelError, for a plan other than the config's, if a peer did not arrive or made a
  ///         different call of deploy(). The other hosts receive the failure. After the exception
  ///         the caller may only destroy the deployment.
  void start();
  /// Ends the deployment. Serves other hosts until every path through this host has been released,
  /// then stops the wrappers and disconnects from peers. The paths of a lost host count as
  /// released. So do the paths of a host that was silent for the length of the deadline. Gateways
  /// end last, because paths of other hosts lead through them.
  ///
  /// First, finish() waits until the paths of threads are released. The caller ensures that the
  /// threads of this host release their paths. Second, it releases the paths of this host's
  /// prefetches, because no thread on this host needs these paths any more. Third, it waits for
  /// prefetches of other hosts that read elements of this host. Such a prefetch reads the remaining
  /// tuples, and then gets the error that this host has ended.
  ///
  /// Calls `before_goodbyes` when no path needs this host any more. Other hosts count this host as
  /// present until `before_goodbyes` has returned. Returns a message that names the hosts for which
  /// this host stopped waiting; "" if there are none. Any thread or fiber may call finish(), but
  /// only once.
  ///
  /// Blocks: until all paths through this host are released and all peers are disconnected.
  /// Throws: UsageError if the end of the deployment had begun before.
  std::string finish(const std::function<void()>& before_goodbyes = {});
  /// Ends the deployment early. Peers count this host as lost. If the plan is not the config's, the
  /// peers also receive the reason `why`. Does nothing if finish() has begun.
  /// Blocks: until the operations that this host runs for other hosts have ended.
  void abandon(const std::string& why);
  EndedThreads& ended_threads() { return ended_threads_; }

  /// Sets the function `work` that finish() calls before it stops any part of the deployment. At
  /// that time all paths of threads through this host are released. `work` should stop code that
  /// keeps sending requests to other hosts.
  /// Requires: finish() has not been called yet.
  void before_end(std::function<void()> work) { before_end_ = std::move(work); }

  /// Returns the deadline of a wait that begins while the host ends. If the run has failed, the
  /// deadline is earlier.
  runtime::Deadline end_deadline();

  /// Requests a call of Wrapper::end_late() at `until`. A stage calls this function when an
  /// operation begins to wait there without blocking a thread or fiber.
  void expect(base::Nanos until);

 private:
  void peer_gone(std::uint32_t peer, const std::string& reason, bool has_closed);
  bool leave(const std::string& why);
  void end_services();

  Host& host_;
  // Recorder for a plan that is not the config's. Such a deployment cannot use the host's recorder,
  // because the same stage number means a different stage in each plan.
  eventspace::Recorder records_;
  Acceptor& acceptor_;
  const std::shared_ptr<const DeploymentId> call_;
  std::unique_ptr<Multiplexer::SubTransport> share_made_;  // nullptr once connections_ owns it
  Multiplexer::SubTransport& share_;
  const std::unique_ptr<SharedElements> shared_elements_;
  std::unique_ptr<PlanInstance> instance_;
  PathReleases releases_;
  Services services_;
  Connections connections_;
  const std::unique_ptr<TrafficCounts> traffic_;
  RemoteCalls remote_calls_{*this};
  const std::unique_ptr<Dispatcher> dispatcher_;
  /// Context that fails operations at their deadline; nullptr on the virtual clock, unless the plan
  /// sets a deadline.
  std::unique_ptr<DeadlineMonitor> deadline_monitor_;
  runtime::Task meeting_;  // task that waits until all peers have arrived
  runtime::Task beats_;    // task that sends heartbeats and detects silent peers
  std::function<void()> before_end_;
  EndedThreads ended_threads_;
  std::atomic<bool> is_ending_{false};
};

}  // namespace paths
