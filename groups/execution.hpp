// SPDX-License-Identifier: Apache-2.0
// groups/execution.hpp — one participant's steps, done as messages come.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/cost/admission.hpp"
#include "collectives/cost/ports.hpp"
#include "collectives/schedule/algorithm.hpp"
#include "collectives/schedule/numbering.hpp"
#include "groups/fold.hpp"
#include "groups/memory.hpp"
#include "groups/tracing.hpp"
#include "paths/messages/group.hpp"
#include "runtime/completion.hpp"

namespace groups {

/// Which operation of which group.
struct OperationName {
  std::uint64_t number = 0;            ///< in its group; the lanes' channel
  std::uint64_t signature_digest = 0;  ///< what all must agree on
  std::string_view group;              ///< outlives it
  collectives::Collective collective = collectives::Collective::barrier;
  std::string text() const;  ///< for messages: "operation 7 of group world, allreduce"
};

/// What one executes for: who it is, and what its schedule plans.
struct ExecutionPlan {
  collectives::Rank me = 0;
  const collectives::Topology* topology = nullptr;
  /// Half duplex, and until when a port is held, are left out: hosts of a run send and receive at
  /// once. Sending ports count where they are taken in order; else links choose, frame by frame.
  pricing::Ports ports = {};
};

struct ExecutionLimits {
  std::size_t window = 0;   ///< unfinished steps admitted, in order; 0: 256, or as many as hosts
  base::Nanos patience{0};  ///< for which nothing may happen
  bool is_patience_written = false;
};

/// The window to use: the written one, or 256 or as many as hosts. In an exchange of all with all
/// fewer steps than hosts might wait for each other.
std::size_t window_of(std::size_t written, std::size_t hosts);

/// A host's share of one operation. What it names outlives it.
struct Share {
  const OperationName& name;
  ExecutionPlan plan;
  Memory& memory;
  Fold& fold;
  ExecutionLimits limits;
  ShareTrace* trace = nullptr;  ///< null where nothing is recorded
  /// Asks the hosts that it waits for whether that can still happen (MessageGroup::ask); may be
  /// empty.
  std::function<void()> ask_hosts = {};
  /// Values are checked when they are sent or copied from `in`; folding checks the others.
  bool is_in_unchecked = false;
};

/// Does what a program says over lanes: admits steps in order up to a window, does what no earlier
/// unfinished step forbids, and ends when all steps are done, so that what it was lent is free. One
/// operation after the other, in memory that it keeps.
///
/// Blocks:  run(), in the context that calls it, which also folds and copies.
/// Throws:  TravelError for what the world does, base::BadValue for values that cannot be folded,
///          what the context is cancelled with. Whoever catches it is done with this, and leaves
///          the lanes' group before the memory goes.
class Execution {
 public:
  /// `lanes`: of the group's hosts, by participant in `hosts`; null where there is but one. All
  /// outlive it.
  Execution(const runtime::Runtime& runtime, paths::MessageGroup* lanes,
            const std::vector<std::uint32_t>& hosts)
      : runtime_(runtime), lanes_(lanes), hosts_(hosts), waits_(runtime) {}
  void run(const Share& share, collectives::Program program);
  struct Sent {
    std::uint64_t messages = 0, bytes = 0;
  };
  /// By participant, of the last operation.
  const std::map<collectives::Rank, Sent>& sent() const { return sent_; }
  /// Steps that it has memory for.
  std::size_t size() const { return kept_.size(); }

 private:
  using Slot = pricing::Slot;
  static constexpr Slot none = ~Slot{0};
  struct Step {
    std::vector<collectives::Block> blocks;
    paths::NamedMessage message;
    paths::Sending sending;
    paths::Receiving receiving;
    bool is_free = false;     // of hazards
    std::uint64_t bytes = 0;  // of a message, where it is traced
    std::int64_t began_nanos = 0;
  };
  std::size_t wait_for_any();
  void admit();
  void keep(Slot slot);
  void begin(Slot slot);
  void send_ready();
  void send(Slot slot);
  void receive(Slot slot);
  /// Steps that wait for a port, in their order.
  struct Ports {
    std::deque<Slot> steps;
    std::size_t taken = 0;
  };
  using PortsApart = std::array<Ports, 2>;  // of its own cluster or of all, of other clusters
  Ports& ports_of(PortsApart& ports, Slot slot) { return ports[is_across(slot) ? 1 : 0]; }
  bool is_across(Slot slot) const;
  std::size_t receiving_ports(std::size_t across) const {
    return across == 1 && ports().receiving_across > 0 ? ports().receiving_across
                                                       : ports().receiving;
  }
  const pricing::Ports& ports() const { return share_->plan.ports; }
  bool has_receiving_ports() const { return lanes_ != nullptr && ports().receiving > 0; }
  void receive_in_order();
  bool has_sending_ports() const { return ports().are_in_order && ports().sending > 0; }
  void send_in_order();
  template <class Handle>
  void wait_for(const Handle& handle, Slot slot);
  void finish(std::size_t member);
  void take(Slot slot);
  void find_all(const Step& step);
  bool is_large(std::size_t bytes) const;
  const base::Payload& gathered(const Step& step);
  void check_given(const collectives::Block& block);
  void fold(const Step& step);
  void copy(const Step& step);
  void trace(Slot slot);
  [[noreturn]] void throw_late() const;

  const runtime::Runtime& runtime_;
  paths::MessageGroup* const lanes_;
  const std::vector<std::uint32_t>& hosts_;
  const Share* share_ = nullptr;  // while it runs
  pricing::Admission steps_;
  std::vector<Step> kept_;   // by slot
  std::vector<Slot> free_;   // to be done
  std::vector<Slot> ready_;  // to be sent, when all is admitted
  PortsApart sending_, receiving_;
  std::size_t first_wait_ = 0;           // member of the waits
  std::deque<Slot> of_;                  // by member from that one on; none: it has ended
  collectives::Numbering streams_;       // of messages from or to a peer on a channel
  std::vector<std::uint64_t> ordinals_;  // of the next message, by stream
  std::map<collectives::Rank, Sent> sent_;
  base::Payload gathered_;  // the message before that was copied, while nothing is written
  std::vector<collectives::Block> gathered_blocks_;
  collectives::Block checked_;  // the last part of `in` that was checked
  runtime::WaitSet waits_;
  std::vector<std::span<std::byte>> into_, left_, right_;  // pieces of blocks
};

}  // namespace groups
