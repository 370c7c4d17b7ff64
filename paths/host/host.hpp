// SPDX-License-Identifier: Apache-2.0
// paths/host/host.hpp — real or simulated process: its elements, connections and deployments.
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

/// Real or simulated process on which plans are deployed. It owns everything that its deployments
/// have in common. Its base class HostView describes the host in the config's plan. The index of a
/// host in the config's plan is also its number in the run.
///
/// Owns: space, recorder, transport and deployments. Borrows the runtime.
/// Thread-safe.
class Host : public HostView {
 public:
  /// `peers` is the result of peers_of() for the plan. If the process has only this host, `peers`
  /// may be nullptr; the constructor then makes the peers. `cores` are the simulated cores that the
  /// host shares with other hosts; nullptr if there are none.
  /// Requires: `kinds` and `cores` outlive this object.
  Host(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t index,
       const WrapperKinds& kinds, std::unique_ptr<Transport> transport,
       std::shared_ptr<const Peers> peers = nullptr, SimulatedCores* cores = nullptr);
  ~Host();

  pastset::Space& space() { return space_; }
  /// Returns the emulated links, which delay the frames that this host sends.
  EmulatedLinks& links() { return links_; }
  /// Returns the endpoint for messages to all other hosts of the run.
  MessageEndpoint& lanes() { return *lanes_; }
  /// Connects this host to the emulated switches of this process. Lane messages from this host to
  /// other clusters then pass the switches.
  /// Requires: start() has not been called yet.
  void join(Switches& switches);
  /// Returns the element that has this name in the host's space.
  /// Throws: UsageError if there is no such element.
  std::shared_ptr<pastset::Element> element(std::string_view name);
  /// Returns the deployment of the config's plan.
  Deployment& deployment() { return *deployment_; }
  const Deployment& deployment() const { return *deployment_; }

  /// Deploys an additional plan on this host. All hosts of the plan call deploy() with the same
  /// label and plan, in any order. Each host of the plan must have the name of a host of the run.
  /// Hosts keep the network addresses of the config. After the call any thread or fiber may
  /// construct a Thread of the deployment. The deployment must outlive its Threads.
  /// Deployment::finish() ends the deployment, while other deployments continue.
  ///
  /// A label consists of letters, digits, '_', '-' and '.'.
  ///
  /// Calls with different labels may run at the same time, but only one call at a time for each
  /// label. Each host numbers its calls with the same label. Calls with the same label and number
  /// on different hosts belong together. If a host skips a call, the calls of the other hosts fail.
  /// The next calls match again (paths/connections/deployment_table.hpp).
  ///
  /// Blocks: until this host's peers in the plan are connected, at most for the plan's deadline.
  /// Throws: TravelError if a peer does not arrive, has a different plan with the label, or has
  ///         failed. Some peers may then have a deployment in which this host counts as lost.
  ///         UsageError if a host of the plan is not in the run, if this host is not in the plan,
  ///         or if the label is invalid or in use. ConfigError if settings of the plan are wrong.
  std::shared_ptr<Deployment> deploy(const std::string& label, std::shared_ptr<const Plan> plan);

  /// Sets the watcher of the deployments that later calls of deploy() make; nullptr = no watcher.
  /// Requires: the watcher outlives these deployments.
  void watch_deployments(DeploymentWatcher* watcher) { watcher_ = watcher; }

  /// Returns the watcher that is notified when a thread of this host ends. The first call makes the
  /// watcher with the function `make`. The host owns the watcher.
  ThreadWatcher& thread_watcher(std::unique_ptr<ThreadWatcher> (*make)());
  /// Notes that a thread of `deployment` has ended, so that no group waits for the thread.
  void thread_ended(Deployment& deployment, std::uint32_t thread);
  /// Returns why at least one of the listed threads of this host can no longer join a group; "" if
  /// all listed threads can join. `threads` is a text such as "LABEL:0-3,7": the label of the
  /// threads' deployment, ':', and the result of EndedThreads::list_text().
  std::string why_absent(std::string_view threads) const;

  /// Begins to listen for connections, then starts the deployment of the config's plan.
  void start();
  /// Blocks until all hosts of the run have arrived or are lost. Returns immediately if the config
  /// does not have the key `lanes`, or if hosts are not processes (MessageEndpoint::await_all()).
  void await_all() { lanes_->await_all(); }
  /// Ends the deployment of the config's plan. Abandons other deployments that have not ended, and
  /// ends the lanes. Then disconnects from the peers and stops the transport. Returns a message
  /// about the first failure during this end; "" if there was no failure.
  std::string finish();

 private:
  friend class Deployment;
  void forget(const Deployment& deployment);
  /// Reports the loss of `host` to the lanes. The config's deployment calls this function when it
  /// has lost `host`.
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
  // Deployments that deploy() has made and that have not ended, keyed by label.
  std::map<std::string, std::shared_ptr<Deployment>> further_;
  // Last member, because the watcher must be destroyed before the members that it uses.
  std::unique_ptr<ThreadWatcher> thread_watcher_;
};

}  // namespace paths
