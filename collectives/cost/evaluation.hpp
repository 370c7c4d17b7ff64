// SPDX-License-Identifier: Apache-2.0
// collectives/cost/evaluation.hpp — hosts of the simulation that predicts the time of a schedule.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "collectives/cost/admission.hpp"
#include "collectives/cost/evaluator.hpp"
#include "collectives/cost/meeting.hpp"
#include "collectives/cost/port_table.hpp"
#include "collectives/cost/state.hpp"
#include "collectives/cost/transit.hpp"

namespace pricing::simulation {

/// Bytes of the sender's credit that each frame uses in addition to its payload.
inline constexpr Bytes frame_overhead = 128;

/// A message that is ready to be sent, because its sending step waits for no earlier step. The
/// number of the step is copied here, because comparisons in the heap need it often.
struct Ready {
  std::uint64_t step;
  MessageIndex message;
  /// Compares in reverse order, so that std::push_heap keeps the message of the oldest step on top.
  friend bool operator<(const Ready& left, const Ready& right) { return left.step > right.step; }
};

/// Queue of a host's messages that still have frames to send. All of them leave the host by the
/// same way (Transit::way_of()): its outgoing side, or a link.
struct Outlet {
  std::size_t way;
  std::vector<Ready> messages;  // messages with frames to send, as a heap: oldest step first
  // Whether the outlet cannot take a further frame now. If frames have costs, this is true while
  // the host prepares a frame for this outlet. Otherwise it is true while a frame occupies the
  // outgoing side or the link.
  bool is_busy = false;
  // Bytes of the frames that the host prepares or has prepared, and that have not left the host.
  // Used only if frames have costs.
  Bytes in_hand = 0;
};

struct Host {
  explicit Host(Admission steps) : admission(std::move(steps)) {}
  Admission admission;
  std::vector<Outlet> outlets;
  std::vector<Slot> free;     // steps that wait for no earlier step and can be executed now
  std::vector<Slot> work;     // folds and copies to request from the host's processor
  std::vector<Ready> ready;   // messages to pass to an outlet, as a heap: oldest step first
  std::vector<Ready> parked;  // messages that lack credit or a grant
  std::vector<Bytes> credit;  // bytes that the host may still send without a grant, by target
  bool is_touched = false;

  Outlet& outlet_by(std::size_t way);
  void add_ready(const Ready& message);
  void unpark();  ///< moves all messages from `parked` to `ready`
};

/// Hosts of one simulation, and their steps. The functions are in three sources: steps in
/// evaluator.cpp, sending in sending.cpp, events and arrivals in arrivals.cpp.
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
  void request_work(Rank me, Slot slot);
  void finish(Rank me, Slot slot);
  void finish_receiving(MessageIndex index);
  void recycle(MessageIndex index);
  // Sending.
  void choose(Rank me);
  void start_half_duplex();
  void hand_over(Rank me);
  void prepare(MessageIndex index);
  void offer(MessageIndex index);
  void park(Rank me);
  bool may_move(const Message& message) const;
  void send_frame(Rank me, Outlet& outlet);
  void depart(const Event& frame, Outlet& outlet);
  // Events.
  void happen(const Event& event);
  void end_frame(const Event& event);
  void receive_frames();
  void arrive(const Event& event);
  void give_back(Message& message);
  void touch(Rank rank) {
    if (hosts_[rank].is_touched) return;
    hosts_[rank].is_touched = true;
    touched_.push_back(rank);
  }

  State state_;
  PortTable ports_;
  Transit transit_{state_, ports_};
  const std::size_t window_;
  Bytes element_bytes_;
  std::vector<Host> hosts_;
  std::uint64_t serial_ = 0;
  Meeting meeting_;
  std::vector<Rank> touched_;
  // Frames that arrived at the current time, and whose targets have not begun to receive them.
  std::vector<Event> arrived_;
  Price price_;
};

}  // namespace pricing::simulation
