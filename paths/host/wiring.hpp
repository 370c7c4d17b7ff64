// SPDX-License-Identifier: Apache-2.0
// paths/host/wiring.hpp — what one plan made on a host: its wrappers, stages, paths, and their end.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pastset/element.hpp"
#include "paths/host/ended_threads.hpp"
#include "paths/host/patience.hpp"
#include "paths/plan/plan.hpp"
#include "paths/plan/site.hpp"
#include "paths/wire/connections.hpp"
#include "paths/wire/reception.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/runtime.hpp"

namespace paths {

class Admission;
class Host;
class SharedElements;

/// What a host sent to other clusters for one graph; the bytes of a `traffic` answer's entries.
struct HostTraffic {
  std::uint64_t host = 0;  ///< index in the plan
  Traffic wan;
};

/// A host's share of a plan, wired and served: the paper's PATHS server, which is linked into the
/// application (Bongo et al. 2004, §III-A). Releases, goodbyes, deadlines, failures and traffic are
/// each wiring's own.
///
/// Owns:    its wrappers, stages and connections; borrows the host.
/// Sharing: any context may call anything; operations block as their wrappers say.
class Wiring : public Site {
 public:
  /// `index` is the host's in this plan, `numbers` are those of all its hosts in the run. Greetings
  /// are taken from then on.
  Wiring(Host& host, Reception& reception, std::shared_ptr<const WiringCall> call,
         std::shared_ptr<const Plan> plan, std::uint32_t index, HostNumbers numbers,
         const WrapperKinds& kinds, std::shared_ptr<const Peers> peers);
  ~Wiring();

  /// What this host's call of wire() was given, "" of the config's plan, and its number.
  const std::string& label() const { return call_->label; }
  std::uint64_t number() const { return call_->number; }

  Host& host() const { return host_; }
  /// An element of this wiring, which lives in the host's space: as LABEL/NAME, unless the label is
  /// empty. Throws UsageError when there is none of that name.
  std::shared_ptr<pastset::Element> element(std::string_view name);
  /// Of this wiring, here and on other hosts of this machine.
  SharedElements& shared_elements() const { return *shared_elements_; }
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
  /// A thread of this host failed; peers hear of it at the end.
  void note_failure(const std::string& failure) { connections_.note_failure(failure); }
  /// What failed first of what this host knows: a thread of its own or of others, or a peer that
  /// was lost. After finish(); for hosts without threads, to whom nobody else says it.
  std::string first_failure() const { return connections_.failure(); }

  /// Threads of this host that have ended.
  EndedThreads& ended_threads() { return ended_threads_; }

  /// Has finish() call this when every thread's path through here was released, before anything is
  /// stopped: for what asks other hosts all the time. Before finish().
  void before_end(std::function<void()> work) { before_end_ = std::move(work); }

  /// Sends `operation` to stage `stage` on another host, whose reply `responder` gets. Blocks until
  /// then if the operation owns the context. Throws TravelError if the host is gone or late, and
  /// Stop; the caller still has the responder then.
  void call(std::uint32_t to_host, StageId stage, Operation&& operation, Responder& responder);
  /// The same without an answer: one frame. Does not block; a push waiting for credits is replaced
  /// by a newer one of the same path, unless it is to be kept.
  void push(std::uint32_t to_host, StageId stage, Operation operation);
  /// What the clock of a host that our paths lead to shows, and ours before and after. Blocks.
  /// Throws like call().
  struct ClockReading {
    std::uint32_t peer = 0;
    base::Nanos asked{0}, shown{0}, answered{0};
  };
  ClockReading read_clock(std::uint32_t peer);
  /// Hosts that our paths lead to directly.
  std::vector<std::uint32_t> peers_below() const;

  /// Begins a started operation at `stage`, which needs no context. `state` receives the outcome.
  void begin(const Stage& stage, Operation operation, OperationState& state);
  /// By a stage: something waits there without a context, until then (Wrapper::end_late()).
  void expect(base::Nanos until);

  /// Ends a path that a wrapper of this host began; once, finish() at the latest.
  void release_background(std::uint32_t path, Failure failure);
  /// Starts work of this host in a service context of its own. finish() and abandon() wait for it,
  /// so the caller may detach it.
  runtime::Task spawn_service(std::string_view role, std::function<void()> work);

  /// The stage of the plan, if it is on this host; null otherwise.
  const Stage* stage(StageId id) const;

  /// What this host sent for a graph's paths: to other clusters (each frame counts once, on the
  /// host where it crosses), and in all. Nothing for a name that is no graph.
  Traffic wan_traffic(std::string_view graph) const;
  Traffic traffic(std::string_view graph) const;

  /// What went over lanes for a graph.
  void sent_over_lanes(std::uint32_t graph, const Traffic& wan);

  /// The paths of the plan that begin on this host.
  const std::vector<std::uint32_t>& paths() const { return plan_->shares[index_].paths; }
  /// Types that threads may move and read on `path`. Requires: a path of threads of this host.
  const PathValues& values_of(std::uint32_t path) const;
  /// Adds this host's entry to the answer of a `traffic` operation.
  void add_traffic(const Operation& asked, Result& result) const;
  /// Called by Path: a thread's path of this host was released.
  void path_released();

 private:
  Traffic wan_traffic_of(std::uint32_t graph) const;
  Result call(std::uint32_t to_host, StageId stage, Operation&& operation);
  void begin_call(std::uint32_t to_host, StageId stage, Operation&& operation,
                  Responder& responder);
  class Service;     // one operation of another host, in a context or without one
  class Standing;    // a call that another host makes again and again
  struct Releases {  // of paths that pass through this host
    std::uint64_t expected = 0;
    std::uint64_t seen = 0;
  };
  void wire(const Plan::Share& share, const WrapperKinds& kinds);
  void meet();
  void end_elements();
  template <class Act>
  void each_element(const char* what, Act act);
  bool leave(const std::string& why);
  std::string name_in_space(std::string_view element) const;
  void serve(ConnectionId connection, Frame&& frame);
  void serve(ConnectionId connection, ShortFrame&& frame);
  bool stand(ConnectionId connection, const Frame& request);
  bool runs_at_once(const Frame& frame, const Stage& entered, bool is_alone) const;
  Service& take_service();
  void ended_without_context();
  void carry_out(ConnectionId connection, Frame& frame);
  void decline(ConnectionId connection, const Frame& frame);
  void peer_gone(std::uint32_t peer, const std::string& reason, bool has_parted);
  bool is_over() const;
  Frame reply_to(const Frame& request) const;
  Outcome run(const Frame& request);
  void respond(ConnectionId connection, const Frame& request, Outcome&& outcome);
  Failure wrong_answer(std::uint32_t host, StageId stage, const OperationHead& asked,
                       const Result& answer);
  void count_release(std::uint32_t path, runtime::Wakes& wakes);
  void service_ended(std::uint64_t number);
  bool has_services() const { return !services_.empty() || !serving_.empty() || begun_ > 0; }
  base::Nanos end_late(base::Nanos now);
  void give_up();
  void cancel_services();
  void end_services();
  /// Blocks until every path that leads here was released, which peers do that live.
  void wait_for(const Releases& releases, const char* what);
  bool services_end_in_time();
  Host& host_;
  eventspace::Recorder records_;  // of a further wiring, whose places are its own
  Reception& reception_;
  const std::shared_ptr<const WiringCall> call_;
  std::unique_ptr<Multiplexer::Share> share_made_;  // until the connections have it
  Multiplexer::Share& share_;
  const std::unique_ptr<SharedElements> shared_elements_;
  std::vector<std::shared_ptr<pastset::Element>> elements_;
  std::vector<std::unique_ptr<Wrapper>> wrappers_;
  std::unordered_map<StageId, Stage> stages_;  // nodes do not move
  std::vector<const PathValues*> values_;      // one for each of paths(), null without threads
  Connections connections_;
  std::unique_ptr<Patience> patience_;  // none on the virtual clock
  runtime::Task meeting_;               // of the peers
  std::function<void()> before_end_;
  EndedThreads ended_threads_;

  mutable runtime::Mutex mutex_;
  runtime::WaitList changed_;  // the counts below
  Releases thread_releases_;
  Releases background_releases_;
  std::set<std::uint32_t> released_paths_;      // of this host's wrappers
  const std::unique_ptr<Admission> admission_;  // at the entrances from other hosts
  std::unordered_map<std::uint64_t, runtime::TaskCanceller> services_;  // that have not ended
  std::vector<std::unique_ptr<Service>> serving_;  // those that run; their order means nothing
  std::vector<std::unique_ptr<Service>> resting_;  // to run again
  std::unordered_map<std::uint64_t, std::unique_ptr<Standing>> standing_;  // by connection, number
  std::uint64_t next_service_ = 0;
  std::uint64_t begun_ = 0;            // without a context: of this host, and of standing calls
  std::atomic<bool> gives_up_{false};  // what waits without a context
  bool waits_again_ = false;           // something has begun to, meanwhile
  bool is_ending_ = false;
  std::unordered_map<std::uint32_t, Traffic> over_lanes_;  // to other clusters, by graph
};

}  // namespace paths
