// SPDX-License-Identifier: Apache-2.0
// groups/execution/execution.hpp — execution of one participant's steps of a schedule
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/cost/admission.hpp"
#include "collectives/cost/ports.hpp"
#include "collectives/schedule/algorithm.hpp"
#include "collectives/schedule/numbering.hpp"
#include "groups/calls/fold.hpp"
#include "groups/calls/memory.hpp"
#include "groups/execution/patience.hpp"
#include "groups/execution/step_memory.hpp"
#include "groups/execution/tracing.hpp"
#include "paths/messages/group.hpp"
#include "runtime/completion.hpp"
#include "runtime/handle.hpp"

namespace groups {

/// Size of the largest message that is usually sent by credit, without waiting for a grant.
inline constexpr std::size_t little_bytes = 4096;

/// Identity of one operation of one group.
struct OperationName {
  /// Number of the operation in its group; also the channel of its messages.
  std::uint64_t number = 0;
  /// Digest of the schedule, this call and all calls before it; must be equal on all hosts.
  std::uint64_t signature_digest = 0;
  std::string_view group;  ///< name of the group; must outlive this object
  collectives::Collective collective = collectives::Collective::barrier;
  std::string text() const;  ///< text for error messages: "operation 7 of group world, allreduce"
};

/// A participant's rank in the schedule (`me`), and the limits that the schedule assumes.
struct ExecutionPlan {
  collectives::Rank me = 0;
  const collectives::Topology* topology = nullptr;
  /// Limits on simultaneous messages. The executor ignores Ports::is_half_duplex, Ports::blocks and
  /// Ports::cost, because real hosts send and receive at the same time. The executor applies the
  /// limit on sending only if Ports::are_in_order. If not, it passes all ready messages to the
  /// lanes at once.
  pricing::Ports ports = {};
};

struct ExecutionLimits {
  std::size_t window = 0;  ///< maximum number of unfinished steps; 0 = pricing::window_of() chooses
  Patience patience = {};
};

/// One host's part of an operation. The objects to which a Share refers must outlive it.
struct Share {
  const OperationName& name;
  ExecutionPlan plan;
  Memory& memory;
  Fold& fold;
  ExecutionLimits limits;
  ShareTrace* trace = nullptr;  ///< nullptr unless the run is traced
  /// Whether values of `in` must be checked before they are sent or copied. Values that are folded
  /// are checked in any case.
  bool is_in_unchecked = false;
  /// For each rank of the schedule, the number in the group of the participant with that rank.
  /// Empty if rank and number are equal for all participants.
  std::span<const std::uint32_t> participants = {};
};

/// Rates of a host's folds and copies on the virtual clock. tuning::work_time() computes the times
/// of folds and copies from these rates. 0 = folds or copies take no time.
struct WorkRates {
  double fold_bytes_per_second = 0, copy_bytes_per_second = 0;
};

/// Returns the rates of the given host of the run. On the steady clock the rates are 0, because
/// work takes real time there.
WorkRates work_rates_of(const paths::Plan& plan, std::uint32_t host,
                        const runtime::Runtime& runtime);

/// Executes one participant's steps of a schedule (its program), and sends the messages over lanes.
/// Admits the steps in order, up to a limit of unfinished steps. Performs an admitted step as soon
/// as no earlier unfinished step conflicts with it. run() returns after the last step, when the
/// borrowed memory is no longer in use. One object can execute several operations, one after the
/// other, and reuses its memory.
///
/// Blocks: run() blocks the calling thread or fiber, which also does the folds and copies.
/// Throws: TravelError for failures of hosts and links, base::BadValue for values that cannot be
///         folded, and runtime::Stop if the calling thread or fiber is cancelled. After an
///         exception the caller must leave the message group before it frees the borrowed memory.
class Execution {
 public:
  /// `lanes` connects the group's hosts; nullptr if there is only one host. `hosts` contains the
  /// host number in the run for each participant. All arguments must outlive this object.
  Execution(runtime::Runtime& runtime, paths::MessageGroup* lanes,
            const std::vector<std::uint32_t>& hosts, const WorkRates& rates)
      : runtime_(runtime), lanes_(lanes), hosts_(hosts), rates_(rates), waits_(runtime) {}
  void run(const Share& share, collectives::Program program);
  struct Sent {
    std::uint64_t messages = 0, bytes = 0;
  };
  /// Returns the number of messages and bytes that the last operation sent to each participant.
  const std::map<collectives::Rank, Sent>& sent() const { return sent_; }
  /// Returns the number of steps for which the object keeps memory.
  std::size_t size() const { return kept_.size(); }

 private:
  using Slot = pricing::Slot;
  static constexpr Slot none = ~Slot{0};
  struct Step {
    std::vector<collectives::Block> blocks;
    paths::NamedMessage message;
    // Handle of a sent message, or of a fold or copy that takes simulated time.
    runtime::Handle<void> sending;
    runtime::Handle<paths::Received> receiving;
    bool is_free = false;     // whether no earlier unfinished step conflicts with this step
    std::uint64_t bytes = 0;  // size of a message, fold or copy; set only if traced
    std::int64_t began_nanos = 0;
  };
  std::size_t wait_for_any();
  void admit();
  void keep(Slot slot);
  void begin(Slot slot);
  void send_ready();
  void send(Slot slot);
  void receive(Slot slot);
  /// Steps that wait until the limit on simultaneous messages permits them, in schedule order.
  struct Ports {
    std::deque<Slot> steps;
    std::size_t taken = 0;
  };
  // [0]: messages with hosts of the own cluster, or with all hosts if ports are not separate
  // (Ports::are_apart). [1]: messages with hosts of other clusters.
  using PortsApart = std::array<Ports, 2>;
  Ports& ports_of(PortsApart& ports, Slot slot) { return ports[is_across(slot) ? 1 : 0]; }
  bool is_across(Slot slot) const;
  const pricing::Ports& ports() const { return share_->plan.ports; }
  bool has_receiving_ports() const { return lanes_ != nullptr && ports().receiving > 0; }
  void receive_in_order();
  bool has_sending_ports() const { return ports().are_in_order && ports().sending > 0; }
  void send_in_order();
  template <class T>
  void wait_for(const runtime::Handle<T>& handle, Slot slot);
  void finish(std::size_t member);
  void take(Slot slot);
  bool is_large(std::size_t bytes) const;
  void trace(Slot slot);
  [[noreturn]] void throw_late() const;

  runtime::Runtime& runtime_;
  paths::MessageGroup* const lanes_;
  const std::vector<std::uint32_t>& hosts_;
  const WorkRates rates_;
  const Share* share_ = nullptr;  // null if no operation runs
  pricing::Admission steps_;
  std::vector<Step> kept_;   // data of the unfinished steps, indexed by slot
  std::vector<Slot> free_;   // steps that can be performed now
  std::vector<Slot> ready_;  // steps whose messages are sent when no further step can be admitted
  PortsApart sending_, receiving_;
  // Index in waits_ of the oldest unfinished wait. of_.front() is the step of that wait.
  std::size_t first_wait_ = 0;
  // Step of each wait from index first_wait_ on; `none` if the wait has ended.
  std::deque<Slot> of_;
  collectives::Numbering streams_;       // number of each stream (peer and channel)
  std::vector<std::uint64_t> ordinals_;  // number of the next message, indexed by stream
  std::map<collectives::Rank, Sent> sent_;
  StepMemory memory_;
  runtime::WaitSet waits_;
};

/// Keeps the Execution object of the last operation for reuse, if that operation was small. After a
/// large operation the object is freed, because the allocation of a new object takes only a small
/// part of the time of a large operation.
///
/// Thread-safe: yes.
class Executions {
 public:
  /// The arguments are passed to each Execution.
  Executions(runtime::Runtime& runtime, const std::vector<std::uint32_t>& hosts,
             const WorkRates& rates)
      : runtime_(runtime), hosts_(hosts), rates_(rates) {}
  std::unique_ptr<Execution> take(paths::MessageGroup* lanes);
  void give_back(std::unique_ptr<Execution> execution);

 private:
  runtime::Runtime& runtime_;
  const std::vector<std::uint32_t>& hosts_;
  const WorkRates rates_;
  runtime::Mutex mutex_;
  std::unique_ptr<Execution> idle_;
};

}  // namespace groups
