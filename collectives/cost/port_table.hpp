// SPDX-License-Identifier: Apache-2.0
// collectives/cost/port_table.hpp — use of the sending and receiving ports of simulated hosts.
#pragma once
#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "collectives/cost/state.hpp"

namespace pricing::simulation {

/// Counts the ports of each host that messages occupy, and grants receiving ports to messages. The
/// struct Ports describes the rules.
class PortTable {
 public:
  PortTable(State& state, std::size_t hosts) : state_(state), hosts_(hosts) {}

  /// Returns whether receiving ports are limited, so that each message needs a grant.
  bool has_grants() const { return state_.execution.ports.receiving > 0; }
  /// Appends a step of host `me` that was just admitted to the queues of steps that need a port.
  void list_step(Rank me, MessageIndex index, bool is_sender);
  /// Returns whether the source has a free port for the message, and whether it is the message's
  /// turn.
  bool can_send(const Message& message) {
    return has_free_port(message.source, message, message.step);
  }
  /// Returns whether the target has a free port for the message, and whether it is the message's
  /// turn at the target. This function is used only with half duplex, where sending ports are also
  /// receiving ports.
  bool can_receive(const Message& message) {
    return has_free_port(message.target, message, granted_step(message));
  }
  /// Returns the number of a message's receiving step; 0 if the message has no grant. Without a
  /// grant, the receiving step may not be admitted yet, and then has no number.
  static std::uint64_t granted_step(const Message& message) {
    return message.is_granted ? message.receiving_step : 0;
  }
  void take(Message& message);
  /// Frees the sending port of a message that lacks a grant or credit, if the message has a port.
  void give_up(Message& message);
  /// Adds an event that frees the sending port of a message at `time` + Ports::cost.
  void free_at(Nanos time, const Message& message);
  /// Frees the sending port for which free_at() has made an event.
  void free(const Event& event) { --hosts_[event.source][event.item].sending; }
  /// Grants messages in the order of their receiving steps. Stops at a receiving step that still
  /// waits for an earlier step, or when no receiving port is free.
  void grant_in_order(Rank me);
  void end_grant(const Message& message);

 private:
  struct Class {
    std::size_t sending = 0;  // number of sending ports that messages occupy
    std::size_t granted = 0;  // number of granted messages that have not been received
    // Messages without a grant, in the order of their receiving steps.
    std::deque<MessageIndex> receiving;
    // Numbers of the steps that still need a port, oldest first. Used only with
    // Ports::are_in_order.
    std::deque<std::uint64_t> in_order;
    void end_turn(std::uint64_t step) {
      if (!in_order.empty() && in_order.front() == step) in_order.pop_front();
    }
  };
  std::size_t class_of(const Message& message) const {
    return state_.execution.ports.are_apart &&
                   state_.network.crosses(message.source, message.target)
               ? 1
               : 0;
  }
  Class& at(Rank rank, const Message& message) { return hosts_[rank][class_of(message)]; }
  bool has_free_port(Rank rank, const Message& message, std::uint64_t step) {
    const Class& ports = at(rank, message);
    const std::size_t limit = state_.execution.ports.sending;  // 0 = unlimited
    return (limit == 0 || ports.sending < limit) &&
           (ports.in_order.empty() || step <= ports.in_order.front());
  }

  State& state_;
  // For each host, two classes of ports. Index 0: ports for messages inside the host's cluster, or
  // for all messages if Ports::are_apart is false. Index 1: ports for messages between clusters.
  std::vector<std::array<Class, 2>> hosts_;
};

}  // namespace pricing::simulation
