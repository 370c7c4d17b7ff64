// SPDX-License-Identifier: Apache-2.0
// collectives/cost/evaluation.hpp — state of the simulation that predicts the time of a schedule.
#pragma once
#include <array>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/link_model/streams.hpp"
#include "collectives/cost/admission.hpp"
#include "collectives/cost/evaluator.hpp"
#include "collectives/cost/events.hpp"
#include "collectives/cost/meeting.hpp"
#include "collectives/cost/processors.hpp"

/// The parts of evaluate(). Only the sources of this folder use them.
namespace pricing::simulation {

using base::Nanos;
using collectives::Action;
using collectives::Rank;

/// Bytes that a frame uses up of the sender's credit, in addition to its payload.
inline constexpr Bytes frame_overhead = 128;

struct Message {
  Rank source = 0, target = 0;
  Bytes bytes = 0;
  // Unique number of the message. Later messages reuse the index of an ended message. By this
  // number, a late event of the ended message is recognised and ignored.
  std::uint64_t serial = 0;
  std::uint64_t step = 0;  // number of the sending step in the program of the source
  Slot sending = 0, receiving = 0;
  std::uint32_t frames = 1, frames_out = 0, frames_in = 0;
  // Bytes of credit to return to the sender when the receiving step no longer waits for earlier
  // steps. Frames that arrived before that have used this credit.
  Bytes credit_used = 0;
  bool can_be_received = false;
  bool is_granted = false;
  bool is_prepared = false;  // whether the source's processor has done its work for the message
  bool has_port = false;     // whether the message occupies a sending port of its source
  bool is_sent = false, is_received = false;
  // When the first byte entered the link between the clusters, and when the last byte left it.
  Nanos entered = Nanos::max(), left{0};
};

/// A message that is ready to be sent, because its sending step waits for no earlier step. The
/// number of the step is copied here, because comparisons in the heap need it often.
struct Ready {
  std::uint64_t step;
  MessageIndex message;
  /// Reversed, because std::push_heap keeps the largest element on top.
  friend bool operator<(const Ready& left, const Ready& right) { return left.step > right.step; }
};

/// Queue of a host's messages that have frames to send and leave through the same part of the
/// network, `way`. This part is the host's outgoing side (own_side) or a link (index of the link).
struct Outlet {
  std::size_t way;
  std::vector<Ready> messages;  // messages with frames to send, as a heap: oldest step first
  // True while no further frame can be chosen: if frames have costs, while the host prepares one;
  // otherwise while a frame occupies this part of the network.
  bool is_busy = false;
  // Bytes of the frames that were chosen but have not left the host; used if frames have costs.
  Bytes in_hand = 0;
};

struct Host {
  explicit Host(Admission steps) : admission(std::move(steps)) {}
  Admission admission;
  std::vector<Outlet> outlets;
  std::vector<Slot> free;            // steps to execute: they wait for no earlier step
  std::vector<Slot> work;            // folds and copies that must be requested of the processor
  std::vector<Ready> ready;          // messages to prepare, as a heap: oldest step first
  std::vector<MessageIndex> parked;  // messages that lack credit or a grant
  std::vector<Bytes> credit;         // unused credit, in bytes, for each target
  struct Class {
    std::size_t sending = 0;  // number of sending ports in use
    std::size_t granted = 0;  // number of messages that have a grant and have not arrived
    // Messages without a grant, in the order of their receiving steps.
    std::deque<MessageIndex> receiving;
    // Steps that still need a port, oldest first. Used only with Ports::are_in_order.
    std::deque<std::uint64_t> in_order;
    /// Whether a port is free. `limit` is the number of ports; 0 = unlimited.
    bool has_free_port(std::size_t limit) const { return limit == 0 || sending < limit; }
    bool has_turn(std::uint64_t step) const { return in_order.empty() || step <= in_order.front(); }
    void end_turn(std::uint64_t step) {
      if (!in_order.empty() && in_order.front() == step) in_order.pop_front();
    }
  };
  // Index 0: ports for messages of the own cluster, or for all messages if ports are not separate.
  // Index 1: ports for messages of other clusters.
  std::array<Class, 2> ports;
  bool is_touched = false;
};

/// The outgoing and the receiving side of a host's network interface, towards its cluster's
/// network.
struct Sides {
  tuning::LinkInstance outgoing, receiving;
};
/// Value of Outlet::way that stands for the host's outgoing side. All other values are indexes of
/// links.
inline constexpr std::size_t own_side = std::numeric_limits<std::size_t>::max();

/// A frame that waits for a free stream of its link.
struct Streamed {
  MessageIndex message;
  std::uint32_t number;  // index of the frame in its message
  Bytes credit;          // credit in bytes that the frame has used
};
using Streams = tuning::Streams<Streamed>;

/// State and functions of one simulation. The functions are in three sources: steps in
/// evaluator.cpp, sending and ports in sending.cpp, links and arrivals in arrivals.cpp.
class Evaluation {
 public:
  Evaluation(std::vector<collectives::Program> programs, Bytes element_bytes,
             const Network& network, const Execution& execution);
  std::optional<Price> run(Nanos limit);

 private:
  // Steps.
  void work(Rank me);
  void admit(Rank me);
  void begin_message(Rank me, Slot slot);
  void do_step(Rank me, Slot slot);
  void finish(Rank me, Slot slot);
  void finish_receiving(MessageIndex index);
  void recycle(MessageIndex index);
  // Sending.
  void choose(Rank me);
  Outlet& outlet_of(const Message& message);
  void offer(MessageIndex index);
  void hand_over(Rank me);
  void prepare(MessageIndex index);
  void park(Rank me);
  // Ports.
  bool has_receiving_ports() const { return execution_.ports.receiving > 0; }
  std::size_t class_of(const Message& message) const {
    return execution_.ports.are_apart && network_.crosses(message.source, message.target) ? 1 : 0;
  }
  Host::Class& ports_at(Rank rank, const Message& message) {
    return hosts_[rank].ports[class_of(message)];
  }
  const Host::Class& ports_at(Rank rank, const Message& message) const {
    return hosts_[rank].ports[class_of(message)];
  }
  void grant_in_order(Rank me);
  std::uint64_t receiving_step(const Message& message) const {
    // Without a grant, the receiving step of the message is possibly not admitted, and has no
    // number.
    if (!message.is_granted) return 0;
    return hosts_[message.target].admission[message.receiving].number;
  }
  void start_half_duplex();
  void take_port(Message& message);
  void free_port_at(Nanos time, const Message& message);
  void end_grant(const Message& message);
  bool may_move(const Message& message) const;
  void send_frame(Rank me, Outlet& outlet);
  // Costs of hosts.
  bool has_frame_costs() const { return processors_.has_frame_costs(); }
  void request_work(Rank me, Slot slot);
  void receive_frames();
  void pass_exit(Event event);
  Outlet* oldest_outlet(Host& host) const;
  void depart(const Event& frame, Outlet& outlet);
  Bytes frame_bytes(const Message& message, std::uint32_t frame) const;
  // Events.
  void happen(const Event& event);
  void end_frame(const Event& event);
  void arrive(const Event& event);
  void unpark(Host& host);
  void pass_side(Event event);
  Nanos enter_link(const Event& event);
  void leave_link(Event event, const tuning::LinkInstance::Passage& passage);
  void serve_streams(std::size_t link);
  void give_back(Message& message);
  void push(const Event& event) { events_.push(event); }
  void touch(Rank rank) {
    if (hosts_[rank].is_touched) return;
    hosts_[rank].is_touched = true;
    touched_.push_back(rank);
  }
  bool has_credit() const { return execution_.credit != unlimited; }
  const Network& network_;
  const Execution& execution_;
  const std::size_t window_;
  Bytes element_bytes_;
  Nanos now_{0};
  std::vector<Host> hosts_;
  std::vector<Sides> sides_;  // sides of all hosts, then of exits that are not participants
  struct Taken {
    Taken(const Link& link, std::size_t striping) : instance(link.model), streams(link, striping) {}
    tuning::LinkInstance instance;
    Streams streams;  // unused if the link has no streams
  };
  Taken& link_at(std::size_t link) {
    std::unique_ptr<Taken>& taken = links_[link];
    if (taken == nullptr) taken = std::make_unique<Taken>(network_.links[link], network_.striping);
    return *taken;
  }
  // Links between clusters, indexed like Network::links; nullptr until first used. If there are
  // many clusters, most links are never used.
  std::vector<std::unique_ptr<Taken>> links_;
  Processors processors_;
  Messages<Message> messages_;
  std::uint64_t serial_ = 0;
  Meeting meeting_;
  Events events_;
  std::vector<Rank> touched_;
  // Frames that arrived at this instant; their targets have not received them yet.
  std::vector<Event> arrived_;
  Price price_;
};

}  // namespace pricing::simulation
