// SPDX-License-Identifier: Apache-2.0
// collectives/cost/least_window.cpp — execution of steps without times, with a window that grows
// until all steps end.
#include "collectives/cost/least_window.hpp"

#include <array>
#include <deque>
#include <utility>

#include "collectives/cost/admission.hpp"
#include "collectives/cost/meeting.hpp"

namespace pricing {
namespace {

using collectives::Action;
using collectives::Rank;

struct PendingMessage {
  Rank source = 0, target = 0;
  Slot sending = 0, receiving = 0;
  bool can_be_sent = false, can_be_received = false;
};

struct Queue {
  std::deque<Slot> steps;  // steps that wait for a port, in program order
  std::size_t taken = 0;
};
// Index 0: queue for messages inside the host's cluster, or for all messages if Ports::are_apart is
// false. Index 1: queue for messages between clusters.
using Queues = std::array<Queue, 2>;

struct WindowedHost {
  explicit WindowedHost(Admission steps) : admission(std::move(steps)) {}
  Admission admission;
  std::vector<Slot> free;
  // Whether each step waits for no earlier step; indexed by slot.
  std::vector<bool> is_free;
  Queues sending, receiving;
  bool is_touched = false;
};

/// Executes the steps of all participants without times. The end of a step never prevents another
/// step, and ports are taken in a fixed order. Therefore the result does not depend on the order in
/// which steps execute. If all steps wait and the window is too small, the simulation increases the
/// window and continues from its current state.
class Simulation {
 public:
  Simulation(std::vector<collectives::Program> programs, const collectives::Topology& topology,
             const Ports& ports, std::size_t window)
      : topology_(topology), ports_(ports), window_(window) {
    hosts_.reserve(programs.size());
    for (collectives::Program& program : programs)
      hosts_.emplace_back(Admission(std::move(program), window));
  }

  std::optional<std::size_t> run() {
    for (;; ++window_) {
      for (Rank rank = 0; rank < hosts_.size(); ++rank) touch(rank);
      while (!touched_.empty()) {
        const Rank rank = touched_.back();
        touched_.pop_back();
        hosts_[rank].is_touched = false;
        work(rank);
      }
      bool is_done = true, can_grow = false;
      for (WindowedHost& host : hosts_) {
        is_done = is_done && host.admission.is_done();
        can_grow = can_grow || host.admission.is_full();
        host.admission.widen(window_ + 1);
      }
      if (is_done) return window_;
      if (!can_grow) return std::nullopt;
    }
  }

 private:
  bool takes_ports(Action action) const {
    return action == Action::send ? ports_.are_in_order && ports_.sending > 0
                                  : ports_.receiving > 0;
  }
  std::size_t class_of(Rank me, const Admitted& step) const {
    const bool is_across = topology_.cluster_of(me) != topology_.cluster_of(step.peer);
    return ports_.are_apart && is_across ? 1 : 0;
  }
  void touch(Rank rank) {
    if (std::exchange(hosts_[rank].is_touched, true)) return;
    touched_.push_back(rank);
  }

  void work(Rank me) {
    WindowedHost& host = hosts_[me];
    do {
      while (const std::optional<Slot> slot = host.admission.admit()) {
        begin(me, *slot);
        if (host.admission.is_free(*slot)) host.free.push_back(*slot);
      }
      for (std::size_t next = 0; next < host.free.size(); ++next) do_step(me, host.free[next]);
      host.free.clear();
      take_ports(me);
    } while (!host.free.empty());
  }

  void begin(Rank me, Slot slot) {
    WindowedHost& host = hosts_[me];
    Admitted& step = host.admission[slot];
    if (slot >= host.is_free.size()) host.is_free.resize(slot + 1);
    host.is_free[slot] = false;
    if (step.action != Action::send && step.action != Action::receive) return;
    const bool is_sender = step.action == Action::send;
    const Stream stream =
        is_sender ? Stream{me, step.peer, step.channel} : Stream{step.peer, me, step.channel};
    std::optional<MessageIndex> index = meeting_.meet(stream, is_sender);
    if (!index) {
      index = messages_.add();
      messages_[*index].source = stream.source;
      messages_[*index].target = stream.target;
      meeting_.wait(stream, is_sender, *index);
    }
    step.message = *index;
    (is_sender ? messages_[*index].sending : messages_[*index].receiving) = slot;
    if (takes_ports(step.action))
      (is_sender ? host.sending : host.receiving)[class_of(me, step)].steps.push_back(slot);
  }

  /// Handles a step that waits for no earlier step. If the step is local, executes it. If the step
  /// is part of a message and needs no port, marks it as ready.
  void do_step(Rank me, Slot slot) {
    WindowedHost& host = hosts_[me];
    const Admitted& step = host.admission[slot];
    host.is_free[slot] = true;
    if (step.action != Action::send && step.action != Action::receive) {
      host.admission.finish(slot, host.free);
      // The number of unfinished steps has decreased, so another step can be admitted.
      return touch(me);
    }
    if (!takes_ports(step.action)) can_move(step);
  }

  void take_ports(Rank me) {
    WindowedHost& host = hosts_[me];
    for (std::size_t of_class = 0; of_class < 2; ++of_class) {
      take_ports(host, host.sending[of_class], ports_.sending);
      take_ports(host, host.receiving[of_class], ports_.receiving_of(of_class));
    }
  }
  void take_ports(WindowedHost& host, Queue& queue, std::size_t most) {
    while (!queue.steps.empty() && queue.taken < most && host.is_free[queue.steps.front()]) {
      const Slot slot = queue.steps.front();
      queue.steps.pop_front();
      ++queue.taken;
      can_move(host.admission[slot]);
    }
  }

  /// Marks the sender or the receiver of the step's message as ready. If both are ready, ends the
  /// message.
  void can_move(const Admitted& step) {
    const MessageIndex index = step.message;
    PendingMessage& message = messages_[index];
    (step.action == Action::send ? message.can_be_sent : message.can_be_received) = true;
    if (!message.can_be_sent || !message.can_be_received) return;
    end(message.source, message.sending);
    end(message.target, message.receiving);
    messages_.recycle(index);
  }

  void end(Rank me, Slot slot) {
    WindowedHost& host = hosts_[me];
    const Admitted& step = host.admission[slot];
    if (takes_ports(step.action))
      --(step.action == Action::send ? host.sending : host.receiving)[class_of(me, step)].taken;
    host.admission.finish(slot, host.free);
    touch(me);
  }

  const collectives::Topology& topology_;
  const Ports& ports_;
  std::size_t window_;
  std::vector<WindowedHost> hosts_;
  Messages<PendingMessage> messages_;
  Meeting meeting_;
  std::vector<Rank> touched_;
};

}  // namespace

std::optional<std::size_t> least_window(std::vector<collectives::Program> programs,
                                        const collectives::Topology& topology, const Ports& ports,
                                        std::size_t from) {
  return Simulation(std::move(programs), topology, ports, from).run();
}

}  // namespace pricing
