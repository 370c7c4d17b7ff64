// SPDX-License-Identifier: Apache-2.0
// collectives/cost/port_table.cpp — order in which messages take ports and get grants; release of
// ports.
#include "collectives/cost/port_table.hpp"

namespace pricing::simulation {

void PortTable::list_step(Rank me, MessageIndex index, bool is_sender) {
  const Ports& rules = state_.execution.ports;
  const Message& message = state_.messages[index];
  Class& ports = at(me, message);
  if (rules.are_in_order && (is_sender || rules.is_half_duplex))
    ports.in_order.push_back(is_sender ? message.step : message.receiving_step);
  if (!is_sender && has_grants()) ports.receiving.push_back(index);
}

void PortTable::take(Message& message) {
  const Ports& rules = state_.execution.ports;
  Class& source = at(message.source, message);
  source.end_turn(message.step);
  if (rules.is_half_duplex) {
    Class& target = at(message.target, message);
    target.end_turn(granted_step(message));
    ++target.sending;
  }
  if (rules.sending == 0) return;
  message.has_port = true;
  ++source.sending;
}

void PortTable::give_up(Message& message) {
  if (message.has_port) --at(message.source, message).sending;
  message.has_port = false;
}

void PortTable::free_at(Nanos time, const Message& message) {
  state_.events.push({.time = time + state_.execution.ports.cost,
                      .kind = Kind::port_free,
                      .source = message.source,
                      .item = static_cast<std::uint32_t>(class_of(message)),
                      .frame = 0,
                      .step = message.step});
}

void PortTable::grant_in_order(Rank me) {
  const Ports& rules = state_.execution.ports;
  for (std::size_t of_class = 0; of_class < hosts_[me].size(); ++of_class) {
    Class& ports = hosts_[me][of_class];
    while (!ports.receiving.empty() && ports.granted < rules.receiving_of(of_class)) {
      const MessageIndex index = ports.receiving.front();
      const Message& message = state_.messages[index];
      if (!message.can_be_received) break;
      ports.receiving.pop_front();
      ++ports.granted;
      const Nanos way =
          rules.are_grants_carried ? state_.network.latency(me, message.source) : Nanos(0);
      state_.events.push({.time = state_.now + way,
                          .kind = Kind::granted,
                          .source = message.source,
                          .item = index,
                          .frame = 0,
                          .step = message.serial});
    }
  }
}

void PortTable::end_grant(const Message& message) {
  Class& ports = at(message.target, message);
  --ports.granted;
  if (state_.execution.ports.is_half_duplex) --ports.sending;
}

}  // namespace pricing::simulation
