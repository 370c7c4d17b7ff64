// SPDX-License-Identifier: Apache-2.0
// paths/host/host.hpp — one process, or one simulated machine: its space, its wire, what plans made
// on it.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

/// Where deployments live: whatever belongs to none of them. As a Site it is its place in the
/// config's plan, whose numbers of hosts are those of the run.
///
/// Owns:    space, recorder, transport and deployments; borrows the runtime.
/// Sharing: any context may call anything.
class Host : public HostView {
 public:
  /// `peers` are the plan's (peers_of()); one that is alone in its process has them made here. The
  /// kinds outlive it.
  Host(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t index,
       const WrapperKinds& kinds, std::unique_ptr<Transport> transport,
       std::shared_ptr<const Peers> peers = nullptr);
  ~Host();

  pastset::Space& space() { return space_; }
  /// Over which what leaves here is delayed.
  EmulatedLinks& links() { return links_; }
  /// From here to any other host of the run.
  MessageEndpoint& lanes() { return *lanes_; }
  /// Its lanes go through switches in this process. Before start().
  void join(Switches& switches);
  /// An element of this host, by its name in the space. Throws UsageError when there is none.
  std::shared_ptr<pastset::Element> element(std::string_view name);
  /// What the config's plan made here.
  Deployment& deployment() { return *deployment_; }
  const Deployment& deployment() const { return *deployment_; }

  /// Wires this host's share of a further plan, together with all other hosts of it, each of which
  /// calls this with the same label and plan; nobody leads. Its hosts are hosts of the run, by
  /// name; their addresses are the config's. Then Threads of it may be made, by whatever context is
  /// to be one, and finish() ends it while others go on; it outlives them.
  ///
  /// Blocks until this host's peers in the plan are wired, at most for the plan's deadline. Hosts
  /// may call it for several labels at once, for one label one call after the other; of one label
  /// the calls that belong together find each other also when a host skipped one: what is then left
  /// over fails, and the next call meets (paths/connections/deployment_table.hpp).
  ///
  /// A label is of letters, digits, '_', '-' and '.'.
  ///
  /// Throws TravelError when a peer does not come, has another plan under that label, or its call
  /// failed: of those who called, some may then have a deployment, of which this host is lost.
  /// UsageError when a host is not of the run, this host is not of the plan, or the label is no
  /// such word or in use here. ConfigError when the plan's settings are wrong.
  std::shared_ptr<Deployment> deploy(const std::string& label, std::shared_ptr<const Plan> plan);

  /// Has it told of deployments that deploy() makes from now on; null: nobody. It outlives them.
  void watch_deployments(DeploymentWatcher* watcher) { watcher_ = watcher; }

  /// Returns the one that is notified when a thread of this host ends. The first caller's `make`
  /// makes it. The host owns it.
  ThreadWatcher& thread_watcher(std::unique_ptr<ThreadWatcher> (*make)());
  /// A thread of a deployment of this host has ended: it joins nothing any more.
  void thread_ended(Deployment& deployment, std::uint32_t thread);
  /// Why one of some threads of this host joins no group any more; "": each of them may. `threads`
  /// is the label of their deployment, ':', and an EndedThreads::list_text().
  std::string why_absent(std::string_view threads) const;

  /// Listens, then starts the deployment of the config's plan.
  void start();
  /// Blocks until all hosts of the run have arrived or are gone, if hosts are processes and the
  /// config has the key `lanes` (MessageEndpoint::await_all()).
  void await_all() { lanes_->await_all(); }
  /// Ends that deployment, leaves those that were not ended and ends the lanes; then says goodbye,
  /// and ends the transport. Returns what went wrong at the end.
  std::string finish();

 private:
  friend class Deployment;
  void forget(const Deployment& deployment);
  /// What the config's deployment found of a host: its lanes need not find it again.
  void peer_lost(std::uint32_t host, const std::string& reason);
  void tell_of(Deployment& deployment, void (DeploymentWatcher::*what)(Deployment&)) {
    if (DeploymentWatcher* const watcher = watcher_) (watcher->*what)(deployment);
  }
  std::vector<std::shared_ptr<Deployment>> left_open();
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
  std::map<std::string, std::shared_ptr<Deployment>> further_;  // by label, that have not ended
  std::unique_ptr<ThreadWatcher> thread_watcher_;               // uses the members above
};

}  // namespace paths
