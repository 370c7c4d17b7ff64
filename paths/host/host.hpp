// SPDX-License-Identifier: Apache-2.0
// paths/host/host.hpp — process or simulated machine: its elements, connections and deployments.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "eventspace/recorder.hpp"
#include "pastset/space.hpp"
#include "paths/connections/acceptor.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/deployment_watcher.hpp"
#include "paths/links/emulated_links.hpp"
#include "paths/messages/carriers/lane_connections.hpp"
#include "paths/messages/message_endpoint.hpp"
#include "paths/plan/host_view.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Process, or simulated machine, on which plans are deployed. It owns everything that its
/// deployments have in common. As a HostView it represents the host in the config's plan. The
/// indexes of hosts in this plan are the host numbers of the run.
///
/// Owns: space, recorder, transport and deployments. Borrows the runtime.
/// Thread-safe.
class Host : public HostView {
 public:
  /// `peers` is the result of peers_of() for the plan. A host that is alone in its process may pass
  /// nullptr; the constructor then makes the peers. `kinds` outlives this object.
  Host(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t index,
       const WrapperKinds& kinds, std::unique_ptr<Transport> transport,
       std::shared_ptr<const Peers> peers = nullptr);
  ~Host();

  pastset::Space& space() { return space_; }
  /// Returns the emulated links, which delay the frames that this host sends.
  EmulatedLinks& links() { return links_; }
  /// Returns the endpoint for messages to all other hosts of the run.
  MessageEndpoint& lanes() { return *lanes_; }
  /// Sends the messages of this host's lanes through switches in this process.
  /// Requires: called before start().
  void join(Switches& switches);
  /// Returns an element of this host by its name in the space.
  /// Throws: UsageError if there is none.
  std::shared_ptr<pastset::Element> element(std::string_view name);
  /// Returns the deployment of the config's plan.
  Deployment& deployment() { return *deployment_; }
  const Deployment& deployment() const { return *deployment_; }

  /// Deploys a further plan on this host. All hosts of the plan call this with the same label and
  /// plan, in any order. Each host of the plan must have the name of a host of the run. Hosts keep
  /// the addresses of the config. Afterwards any context may construct a Thread of the deployment.
  /// The deployment must outlive its Threads. Deployment::finish() ends it, while other deployments
  /// continue.
  ///
  /// A label has letters, digits, '_', '-' and '.'.
  ///
  /// Calls with different labels may run at the same time, but only one call at a time for each
  /// label. Calls of several hosts with the same label are matched, even if a host skipped a call.
  /// The unmatched call then fails, and the next call succeeds
  /// (paths/connections/deployment_table.hpp).
  ///
  /// Blocks: until this host's peers in the plan are connected, at most for the plan's deadline.
  /// Throws: TravelError if a peer does not arrive, has another plan under the label, or has
  ///         failed. Some peers may then have a deployment, which counts this host as lost.
  ///         UsageError if a host is not in the run, this host is not in the plan, or the label is
  ///         invalid or in use. ConfigError if settings of the plan are wrong.
  std::shared_ptr<Deployment> deploy(const std::string& label, std::shared_ptr<const Plan> plan);

  /// Sets the watcher of the deployments that deploy() makes from now on; nullptr for none. The
  /// watcher outlives them.
  void watch_deployments(DeploymentWatcher* watcher) { watcher_ = watcher; }

  /// Returns the watcher that is notified when a thread of this host ends. The first call makes the
  /// watcher with `make`. The host owns it.
  ThreadWatcher& thread_watcher(std::unique_ptr<ThreadWatcher> (*make)());
  /// Notes that a thread of a deployment of this host has ended. The thread joins no group from
  /// then on.
  void thread_ended(Deployment& deployment, std::uint32_t thread);
  /// Returns why at least one of several threads of this host can no longer join a group; "" if all
  /// of them can. `threads` consists of the label of their deployment, ':', and an
  /// EndedThreads::list_text().
  std::string why_absent(std::string_view threads) const;

  /// Listens, then starts the deployment of the config's plan.
  void start();
  /// Blocks until all hosts of the run have arrived or are lost. Returns immediately unless hosts
  /// are processes and the config has the key `lanes` (MessageEndpoint::await_all()).
  void await_all() { lanes_->await_all(); }
  /// Ends the config's deployment. Abandons further deployments that have not ended, and ends the
  /// lanes. Then disconnects from the peers and stops the transport. Returns a message about
  /// failures of the end; "" if there were none.
  std::string finish();

 private:
  friend class Deployment;
  void forget(const Deployment& deployment);
  /// Notifies the lanes of a host that the config's deployment has found lost.
  void peer_lost(std::uint32_t host, const std::string& reason);
  void tell_of(Deployment& deployment, void (DeploymentWatcher::*what)(Deployment&)) {
    if (DeploymentWatcher* const watcher = watcher_) (watcher->*what)(deployment);
  }
  std::string abandon_left_open();

  eventspace::Recorder recorder_;
  pastset::Space space_;
  EmulatedLinks links_;
  const WrapperKinds& kinds_;
  const std::shared_ptr<const Peers> peers_;
  Acceptor acceptor_;
  std::shared_ptr<Deployment> deployment_;
  Multiplexer::SubTransport* lane_share_ = nullptr;
  std::unique_ptr<MessageEndpoint> lanes_;
  std::unique_ptr<LaneConnections> lane_connections_;
  bool switches_are_here_ = false;
  std::atomic<DeploymentWatcher*> watcher_ = nullptr;
  mutable runtime::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Deployment>> further_;  // not ended; keyed by label
  // Declared last, because the watcher uses the other members until it is destroyed.
  std::unique_ptr<ThreadWatcher> thread_watcher_;
};

}  // namespace paths
