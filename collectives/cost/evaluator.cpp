// SPDX-License-Identifier: Apache-2.0
// collectives/cost/evaluator.cpp — discrete-event simulation of hosts, links and messages.
#include "collectives/cost/evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <stdexcept>
#include <tuple>

#include "base/errors.hpp"
#include "base/link_model/streams.hpp"
#include "collectives/cost/admission.hpp"
#include "collectives/cost/events.hpp"
#include "collectives/cost/meeting.hpp"

namespace pricing {
namespace {

using base::Nanos;
using collectives::Action;
using collectives::Rank;

// Bytes that a frame uses up of the sender's credit, in addition to its payload.
constexpr Bytes frame_overhead = 128;

struct Message {
  Rank source = 0, target = 0;
  Bytes bytes = 0;
  // Unique number of the message. The index of an ended message is used again; by this number, late
  // events of the ended message are recognized.
  std::uint64_t serial = 0;
  std::uint64_t step = 0;  // number of the sending step at the source
  Slot sending = 0, receiving = 0;
  std::uint32_t frames = 1, frames_out = 0, frames_in = 0;
  // Credit that is not yet returned to the sender: that of frames which arrived while the receiving
  // step still waited for earlier steps.
  Bytes credit_used = 0;
  bool can_be_received = false;
  bool is_granted = false;
  bool is_prepared = false;  // whether the host has spent its time for this message
  bool has_port = false;     // whether the message occupies a sending port of its source
  bool is_sent = false, is_received = false;
  // Times on the link: `entered` of the first byte, `left` of the last byte.
  Nanos entered = Nanos::max(), left{0};
};

/// A message that its sending step has handed over. The number of the step is copied here, because
/// comparisons in the heap need it often.
struct Ready {
  std::uint64_t step;
  MessageIndex message;
  /// Reversed, because std::push_heap keeps the largest element on top.
  friend bool operator<(const Ready& left, const Ready& right) { return left.step > right.step; }
};

/// Messages that leave a host through the same part of the network: its outgoing side (own_side),
/// or a link, given by its index. Their host has prepared them, and they have frames to send.
struct Outlet {
  std::size_t way;
  std::vector<Ready> messages;  // a heap: oldest step first
  bool is_busy = false;         // whether a frame occupies the part now
};

struct Host {
  explicit Host(Admission steps) : admission(std::move(steps)) {}
  Admission admission;
  std::vector<Outlet> outlets;
  Nanos works_until{0};
  std::vector<Slot> free;            // steps that no longer wait for earlier steps
  std::vector<Ready> ready;          // messages to prepare, as a heap: oldest step first
  std::vector<MessageIndex> parked;  // messages that lack credit or a grant
  std::vector<Bytes> credit;         // remaining credit for each target
  struct Class {
    std::size_t sending = 0;             // number of sending ports in use
    std::size_t granted = 0;             // messages that have a grant and have not arrived
    std::deque<MessageIndex> receiving;  // receiving steps without a grant, in order
    // Steps that still need a port, if ports are taken in the order of the steps.
    std::deque<std::uint64_t> in_order;
  };
  // [0]: ports for messages of the own cluster, or for all messages. [1]: ports for messages of
  // other clusters.
  std::array<Class, 2> ports;
  bool is_touched = false;
};

/// The outgoing and the receiving side of a host's network interface, towards its cluster's
/// network.
struct Sides {
  tuning::LinkInstance outgoing, receiving;
};
// Value of Outlet::way for the outgoing side of the host. All other values are indices of links.
constexpr std::size_t own_side = std::numeric_limits<std::size_t>::max();

/// A frame that waits for a free stream of its link.
struct Streamed {
  MessageIndex message;
  std::uint32_t number;  // position of the frame in its message
  Bytes credit;          // credit that the frame has used
};
using Streams = tuning::Streams<Streamed>;

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
  [[noreturn]] void throw_stuck() const;
  // Sending.
  void choose(Rank me);
  Outlet& outlet_of(const Message& message);
  void offer(MessageIndex index);
  void hand_over(Rank me);
  void prepare(MessageIndex index);
  void park(Rank me);
  // Ports.
  bool has_receiving_ports() const { return execution_.ports.receiving > 0; }
  bool has_free_port(const Host::Class& ports) const {
    return execution_.ports.sending == 0 || ports.sending < execution_.ports.sending;
  }
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
  bool has_turn(const Host::Class& ports, std::uint64_t step) const {
    return ports.in_order.empty() || step <= ports.in_order.front();
  }
  void end_turn(Host::Class& ports, std::uint64_t step) const {
    if (!ports.in_order.empty() && ports.in_order.front() == step) ports.in_order.pop_front();
  }
  std::uint64_t receiving_step(const Message& message) const {
    // The receiver has not granted the message, so its receiving step may not be admitted yet.
    if (!message.is_granted) return 0;
    return hosts_[message.target].admission[message.receiving].number;
  }
  bool can_start_half_duplex(const Message& message) const;
  void start_half_duplex();
  void take_port(Message& message);
  void free_port_at(Nanos time, const Message& message);
  void end_grant(const Message& message);
  bool may_move(const Message& message) const;
  void send_frame(Rank me, Outlet& outlet);
  Bytes frame_bytes(const Message& message, std::uint32_t frame) const;
  // Events.
  void fold(Rank me, Slot slot);
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
  std::vector<Sides> sides_;  // hosts, and exits that are not participants
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
  // Created when first used. If there are many clusters, most links are never used.
  std::vector<std::unique_ptr<Taken>> links_;
  Messages<Message> messages_;
  std::uint64_t serial_ = 0;
  Meeting meeting_;
  Events events_;
  std::vector<Rank> touched_;
  Price price_;
};

Evaluation::Evaluation(std::vector<collectives::Program> programs, Bytes element_bytes,
                       const Network& network, const Execution& execution)
    : network_(network),
      execution_(execution),
      window_(window_of(execution.window, programs.size())),
      element_bytes_(element_bytes) {
  hosts_.reserve(programs.size());
  for (Rank rank = 0; rank < programs.size(); ++rank) {
    Host& host = hosts_.emplace_back(Admission(std::move(programs[rank]), window_));
    if (has_credit()) host.credit.assign(programs.size(), execution.credit);
  }
  for (std::size_t host = 0; host < network.outgoing.size(); ++host)
    sides_.push_back({tuning::LinkInstance(network.outgoing[host]),
                      tuning::LinkInstance(network.receiving[host])});
  links_.resize(network.links.size());
  price_.sent.resize(hosts_.size());
  price_.received.resize(hosts_.size());
  price_.links.resize(network.clusters() * network.clusters());
}

std::optional<Price> Evaluation::run(Nanos limit) {
  for (Rank rank = 0; rank < hosts_.size(); ++rank) touch(rank);
  while (true) {
    std::sort(touched_.begin(), touched_.end());
    for (const Rank rank : touched_) work(rank);
    if (execution_.ports.is_half_duplex) start_half_duplex();
    for (const Rank rank : touched_) choose(rank);
    for (const Rank rank : touched_) hosts_[rank].is_touched = false;
    touched_.clear();
    if (events_.empty()) break;
    now_ = events_.next_time();
    if (now_ >= limit) return std::nullopt;
    while (!events_.empty() && events_.next_time() == now_) happen(events_.pop());
  }
  for (const Host& host : hosts_)
    if (!host.admission.is_done()) throw_stuck();
  return std::move(price_);
}

void Evaluation::throw_stuck() const {
  std::string who;
  for (Rank rank = 0; rank < hosts_.size(); ++rank)
    if (!hosts_[rank].admission.is_done())
      who += fmt::format("{}{} with {} steps", who.empty() ? "" : ", ", rank,
                         hosts_[rank].admission.unfinished());
  throw std::invalid_argument(
      fmt::format("the schedule blocks forever with a window of {} steps: {} wait for messages "
                  "that never arrive",
                  window_, who));
}

// --- steps ---

void Evaluation::work(Rank me) {
  Host& host = hosts_[me];
  do {
    admit(me);
    for (std::size_t next = 0; next < host.free.size(); ++next) do_step(me, host.free[next]);
    host.free.clear();
    admit(me);
  } while (!host.free.empty());
  if (has_receiving_ports()) grant_in_order(me);
}

void Evaluation::admit(Rank me) {
  Host& host = hosts_[me];
  while (const std::optional<Slot> slot = host.admission.admit()) {
    const Action action = host.admission[*slot].action;
    if (action == Action::send || action == Action::receive) begin_message(me, *slot);
    if (host.admission.is_free(*slot)) host.free.push_back(*slot);
  }
}

void Evaluation::begin_message(Rank me, Slot slot) {
  Admitted& step = hosts_[me].admission[slot];
  const bool is_sender = step.action == Action::send;
  const Stream stream =
      is_sender ? Stream{me, step.peer, step.channel} : Stream{step.peer, me, step.channel};
  std::optional<MessageIndex> index = meeting_.meet(stream, is_sender);
  if (!index) {
    index = messages_.add();
    Message& message = messages_[*index];
    message.serial = serial_++;
    message.source = stream.source;
    message.target = stream.target;
    message.bytes = step.elements * element_bytes_;
    const Bytes whole = std::max<Bytes>(message.bytes, 1);
    const Bytes frames = (whole - 1) / network_.frame + 1;
    if (frames > std::numeric_limits<std::uint32_t>::max())
      throw std::invalid_argument(
          fmt::format("a message of {} bytes has too many frames to count", message.bytes));
    message.frames = static_cast<std::uint32_t>(frames);
    meeting_.wait(stream, is_sender, *index);
  }
  step.message = *index;
  Message& message = messages_[*index];
  (is_sender ? message.sending : message.receiving) = slot;
  if (is_sender) message.step = step.number;
  Host::Class& ports = ports_at(me, message);
  if (execution_.ports.are_in_order && (is_sender || execution_.ports.is_half_duplex))
    ports.in_order.push_back(step.number);
  if (!is_sender && has_receiving_ports()) ports.receiving.push_back(*index);
}

/// Executes a step that waits for no earlier step.
void Evaluation::do_step(Rank me, Slot slot) {
  Host& host = hosts_[me];
  const Admitted& step = host.admission[slot];
  if (step.action == Action::send) {
    host.ready.push_back({step.number, step.message});
    return std::push_heap(host.ready.begin(), host.ready.end());
  }
  if (step.action == Action::reduce && network_.fold_bytes_per_second > 0) return fold(me, slot);
  if (step.action != Action::receive) return finish(me, slot);
  Message& message = messages_[step.message];
  message.can_be_received = true;
  if (message.frames_in == message.frames) return finish_receiving(step.message);
  if (has_receiving_ports() || !has_credit()) return;
  give_back(message);
  push({.time = now_ + network_.latency(me, message.source),
        .kind = Kind::granted,
        .source = message.source,
        .item = step.message,
        .frame = 0,
        .step = message.serial});
}

void Evaluation::fold(Rank me, Slot slot) {
  Host& host = hosts_[me];
  const Admitted& step = host.admission[slot];
  const auto bytes = static_cast<double>(step.elements * element_bytes_);
  const Nanos took(std::llround(bytes / network_.fold_bytes_per_second * 1e9));
  host.works_until = std::max(host.works_until, now_) + took;
  push({host.works_until, Kind::folded, me, static_cast<std::uint32_t>(slot), 0, step.number});
}

void Evaluation::finish(Rank me, Slot slot) {
  hosts_[me].admission.finish(slot, hosts_[me].free);
  price_.time = now_;
  touch(me);
}

void Evaluation::finish_receiving(MessageIndex index) {
  Message& message = messages_[index];
  give_back(message);
  if (has_receiving_ports()) end_grant(message);
  if (execution_.lists_crossings && network_.crosses(message.source, message.target))
    price_.crossings.push_back({message.source, message.target, message.entered, message.left});
  if (network_.message_cost > Nanos(0)) {
    Host& host = hosts_[message.target];
    host.works_until = std::max(host.works_until, now_) + network_.message_cost;
    return push({host.works_until, Kind::taken, message.source, index, 0, message.step});
  }
  message.is_received = true;
  finish(message.target, message.receiving);
  recycle(index);
}

void Evaluation::recycle(MessageIndex index) {
  if (messages_[index].is_sent && messages_[index].is_received) messages_.recycle(index);
}

// --- sending ---

bool Evaluation::may_move(const Message& message) const {
  if (message.is_granted) return true;
  if (has_receiving_ports()) return false;
  if (!has_credit()) return true;
  return hosts_[message.source].credit[message.target] >=
         frame_bytes(message, message.frames_out) + frame_overhead;
}

/// Sets the messages aside that lack a grant or credit.
void Evaluation::park(Rank me) {
  Host& host = hosts_[me];
  for (Outlet& outlet : host.outlets) {
    std::erase_if(outlet.messages, [&](const Ready& ready) {
      Message& message = messages_[ready.message];
      if (may_move(message)) return false;
      host.parked.push_back(ready.message);
      if (message.has_port) --ports_at(me, message).sending;
      message.has_port = false;
      return true;
    });
    std::make_heap(outlet.messages.begin(), outlet.messages.end());
  }
}

void Evaluation::hand_over(Rank me) {
  Host& host = hosts_[me];
  std::vector<Ready> wait_for_ports;
  while (!host.ready.empty()) {
    const Ready first = host.ready.front();
    const Host::Class& ports = ports_at(me, messages_[first.message]);
    const bool has_port = has_free_port(ports) && has_turn(ports, first.step);
    if (!has_port && !execution_.ports.are_apart) break;
    std::pop_heap(host.ready.begin(), host.ready.end());
    host.ready.pop_back();
    if (!has_port) {
      wait_for_ports.push_back(first);
    } else if (may_move(messages_[first.message])) {
      prepare(first.message);
    } else {
      host.parked.push_back(first.message);
    }
  }
  for (const Ready& ready : wait_for_ports) {
    host.ready.push_back(ready);
    std::push_heap(host.ready.begin(), host.ready.end());
  }
}

/// Spends the host's time for a message, once for each message. Then the message can be sent.
void Evaluation::prepare(MessageIndex index) {
  Message& message = messages_[index];
  take_port(message);
  if (message.is_prepared || network_.message_cost == Nanos(0)) return offer(index);
  Host& host = hosts_[message.source];
  host.works_until = std::max(host.works_until, now_) + network_.message_cost;
  push({host.works_until, Kind::prepared, message.source, index, 0, message.step});
}

void Evaluation::offer(MessageIndex index) {
  Message& message = messages_[index];
  message.is_prepared = true;
  std::vector<Ready>& messages = outlet_of(message).messages;
  messages.push_back({message.step, index});
  std::push_heap(messages.begin(), messages.end());
}

/// Sends a frame through each free outlet that has one. The oldest step goes first.
void Evaluation::choose(Rank me) {
  Host& host = hosts_[me];
  if (has_credit()) park(me);
  if (!execution_.ports.is_half_duplex) hand_over(me);
  while (true) {
    Outlet* oldest = nullptr;
    for (Outlet& outlet : host.outlets)
      if (!outlet.is_busy && !outlet.messages.empty() &&
          (oldest == nullptr || oldest->messages.front() < outlet.messages.front()))
        oldest = &outlet;
    if (oldest == nullptr) return;
    send_frame(me, *oldest);
  }
}

/// Returns where a message leaves its host. A message from an exit to another cluster enters the
/// link at once. Any other message passes the outgoing side of the host first.
Outlet& Evaluation::outlet_of(const Message& message) {
  std::vector<Outlet>& outlets = hosts_[message.source].outlets;
  const bool enters_link = !network_.exits.empty() && network_.is_exit(message.source) &&
                           network_.crosses(message.source, message.target);
  const std::size_t way =
      enters_link ? network_.link_index(message.source, message.target) : own_side;
  const auto found = std::find_if(outlets.begin(), outlets.end(),
                                  [&](const Outlet& outlet) { return outlet.way == way; });
  return found != outlets.end() ? *found : outlets.emplace_back(Outlet{.way = way, .messages = {}});
}

Bytes Evaluation::frame_bytes(const Message& message, std::uint32_t frame) const {
  return std::min(network_.frame, message.bytes - frame * network_.frame);
}

/// Sends a frame of the oldest message that leaves through the outlet.
void Evaluation::send_frame(Rank me, Outlet& outlet) {
  const MessageIndex index = outlet.messages.front().message;
  Message& message = messages_[index];
  const std::uint32_t frame = message.frames_out++;
  const Bytes bytes = frame_bytes(message, frame);
  const bool pays = has_credit() && !has_receiving_ports() && !message.is_granted;
  if (pays) hosts_[me].credit[message.target] -= bytes + frame_overhead;
  outlet.is_busy = true;
  if (message.frames_out == message.frames) {
    std::pop_heap(outlet.messages.begin(), outlet.messages.end());
    outlet.messages.pop_back();
  }
  Event head{.time = now_,
             .kind = Kind::at_link,
             .source = me,
             .item = index,
             .frame = frame,
             .step = message.step,
             .bytes = pays ? bytes + frame_overhead : 0};
  Nanos free_again;
  if (outlet.way == own_side) {
    const auto passage = sides_[me].outgoing.carry(now_, Nanos(0), bytes);
    free_again = passage.free_again;
    head.time = passage.head;
    head.lag = passage.lag;
    const bool crosses = network_.crosses(me, message.target);
    head.kind = !crosses ? Kind::at_host : network_.exit_of(me) ? Kind::at_exit : Kind::at_link;
    push(head);
  } else {
    free_again = enter_link(head);
  }
  push({free_again, Kind::frame_out, me, index, frame, message.step});
}

// --- ports ---

/// Grants the messages of receiving steps in the order of the steps, as long as a step waits for no
/// earlier step and a port is free.
void Evaluation::grant_in_order(Rank me) {
  Host& host = hosts_[me];
  for (std::size_t of_class = 0; of_class < host.ports.size(); ++of_class) {
    Host::Class& ports = host.ports[of_class];
    while (!ports.receiving.empty() && ports.granted < execution_.ports.receiving_of(of_class)) {
      const MessageIndex index = ports.receiving.front();
      Message& message = messages_[index];
      if (!message.can_be_received) break;
      ports.receiving.pop_front();
      ++ports.granted;
      const Nanos way =
          execution_.ports.are_grants_carried ? network_.latency(me, message.source) : Nanos(0);
      push({.time = now_ + way,
            .kind = Kind::granted,
            .source = message.source,
            .item = index,
            .frame = 0,
            .step = message.serial});
    }
  }
}

bool Evaluation::can_start_half_duplex(const Message& message) const {
  const Host::Class& source = ports_at(message.source, message);
  const Host::Class& target = ports_at(message.target, message);
  return may_move(message) && has_free_port(source) && has_free_port(target) &&
         has_turn(source, message.step) && has_turn(target, receiving_step(message));
}

/// Starts each message for which both hosts have a free port, until there is no such message.
void Evaluation::start_half_duplex() {
  while (true) {
    std::vector<std::tuple<std::uint64_t, Rank, MessageIndex>> candidates;
    for (const Host& host : hosts_)
      for (const Ready& ready : host.ready) {
        const Message& message = messages_[ready.message];
        if (can_start_half_duplex(message))
          candidates.emplace_back(std::max(message.step, receiving_step(message)), message.source,
                                  ready.message);
      }
    if (candidates.empty()) return;
    const MessageIndex first = std::get<2>(*std::min_element(candidates.begin(), candidates.end()));
    Host& source = hosts_[messages_[first].source];
    std::erase_if(source.ready, [&](const Ready& ready) { return ready.message == first; });
    std::make_heap(source.ready.begin(), source.ready.end());
    prepare(first);
    touch(messages_[first].source);
  }
}

void Evaluation::end_grant(const Message& message) {
  Host::Class& ports = ports_at(message.target, message);
  --ports.granted;
  if (execution_.ports.is_half_duplex) --ports.sending;
  touch(message.target);
}

void Evaluation::take_port(Message& message) {
  Host::Class& source = ports_at(message.source, message);
  end_turn(source, message.step);
  if (execution_.ports.is_half_duplex) {
    Host::Class& target = ports_at(message.target, message);
    end_turn(target, receiving_step(message));
    ++target.sending;
  }
  if (execution_.ports.sending == 0) return;
  message.has_port = true;
  ++source.sending;
}

void Evaluation::free_port_at(Nanos time, const Message& message) {
  push({.time = time + execution_.ports.cost,
        .kind = Kind::port_free,
        .source = message.source,
        .item = static_cast<std::uint32_t>(class_of(message)),
        .frame = 0,
        .step = message.step});
}

// --- events ---

void Evaluation::happen(const Event& event) {
  switch (event.kind) {
    case Kind::prepared: return offer(event.item), touch(event.source);
    case Kind::frame_out: return end_frame(event);
    case Kind::arrived: return arrive(event);
    case Kind::taken: {
      Message& message = messages_[event.item];
      message.is_received = true;
      finish(message.target, message.receiving);
      return recycle(event.item);
    }
    case Kind::folded: return finish(event.source, event.item);
    case Kind::granted:
      if (messages_[event.item].serial != event.step) return;
      messages_[event.item].is_granted = true;
      return unpark(hosts_[event.source]), touch(event.source);
    case Kind::credited:
      hosts_[event.source].credit[event.item] += event.bytes;
      return unpark(hosts_[event.source]), touch(event.source);
    case Kind::port_free:
      --hosts_[event.source].ports[event.item].sending;
      return touch(event.source);
    case Kind::link_free: return serve_streams(event.item);
    case Kind::stream_free: {
      const Rank target = event.frame;
      link_at(event.item).streams.end_of_stream({event.source, target}, now_);
      return serve_streams(event.item);
    }
    case Kind::at_link: enter_link(event); return;
    case Kind::at_exit:
    case Kind::at_entry:
    case Kind::at_host: return pass_side(event);
  }
}

void Evaluation::unpark(Host& host) {
  for (const MessageIndex index : host.parked) {
    host.ready.push_back({messages_[index].step, index});
    std::push_heap(host.ready.begin(), host.ready.end());
  }
  host.parked.clear();
}

void Evaluation::end_frame(const Event& event) {
  touch(event.source);
  Message& message = messages_[event.item];
  outlet_of(message).is_busy = false;
  if (event.frame + 1 < message.frames) return;
  const bool crosses = network_.crosses(message.source, message.target);
  if (message.has_port && !(execution_.ports.blocks && crosses)) free_port_at(now_, message);
  const Flow flow{1, message.bytes};
  for (Flow* sum : {&price_.all, &price_.sent[message.source], &price_.received[message.target],
                    &price_.links[network_.link_index(message.source, message.target)],
                    crosses ? &price_.across : nullptr}) {
    if (sum == nullptr) continue;
    sum->messages += flow.messages;
    sum->bytes += flow.bytes;
  }
  message.is_sent = true;
  finish(event.source, message.sending);
  recycle(event.item);
}

/// Returns the time at which the link has taken over the frame. The link also takes over frames
/// that must wait for a stream.
Nanos Evaluation::enter_link(const Event& event) {
  const Message& message = messages_[event.item];
  const std::size_t link = network_.link_index(message.source, message.target);
  const Bytes bytes = frame_bytes(message, event.frame);
  if (network_.links[link].has_streams()) {
    link_at(link).streams.offer(
        {message.source, message.target},
        {{event.item, event.frame, event.bytes}, bytes, event.time, event.time + event.lag});
    serve_streams(link);
    return event.time;
  }
  Event entering = event;
  tuning::LinkInstance& instance = link_at(link).instance;
  entering.time = std::max(event.time, instance.free_at());
  const auto passage = instance.carry(event.time, event.lag, bytes);
  leave_link(entering, passage);
  return passage.free_again;
}

/// Handles a frame that leaves its link. If messages keep their sending port until they have left
/// the link (Ports::blocks), the last frame of a message frees the port.
void Evaluation::leave_link(Event event, const tuning::LinkInstance::Passage& passage) {
  Message& message = messages_[event.item];
  message.entered = std::min(message.entered, event.time);
  message.left = std::max(message.left, passage.head + passage.lag);
  const auto entry = network_.exit_of(message.target);
  event.time = passage.head;
  event.lag = passage.lag;
  event.kind = !entry ? Kind::at_host : *entry == message.target ? Kind::arrived : Kind::at_entry;
  if (event.kind == Kind::arrived) event.time += event.lag;
  push(event);
  if (!message.has_port || !execution_.ports.blocks || event.frame + 1 < message.frames) return;
  const std::size_t link = network_.link_index(message.source, message.target);
  const Nanos latency = network_.links[link].model.at(now_).latency;
  free_port_at(passage.head + passage.lag - latency, message);
}

void Evaluation::serve_streams(std::size_t link) {
  Taken& taken = link_at(link);
  while (const std::optional<Streams::Start> start = taken.streams.start(now_, taken.instance)) {
    const Streamed& frame = start->item;
    const Message& message = messages_[frame.message];
    const auto number = static_cast<std::uint32_t>(link);
    push({start->passage.free_again, Kind::link_free, 0, number, 0, 0});
    push({start->stream_free, Kind::stream_free, message.source, number, message.target, 0});
    leave_link({.time = now_,
                .kind = Kind::at_link,
                .source = message.source,
                .item = frame.message,
                .frame = frame.number,
                .step = message.step,
                .bytes = frame.credit},
               start->passage);
  }
}

void Evaluation::pass_side(Event event) {
  const Message& message = messages_[event.item];
  tuning::LinkInstance& side =
      event.kind == Kind::at_exit    ? sides_[*network_.exit_of(message.source)].receiving
      : event.kind == Kind::at_entry ? sides_[*network_.exit_of(message.target)].outgoing
                                     : sides_[message.target].receiving;
  const auto passage = side.carry(event.time, event.lag, frame_bytes(message, event.frame));
  event.time = passage.head;
  event.lag = passage.lag;
  event.kind = event.kind == Kind::at_exit    ? Kind::at_link
               : event.kind == Kind::at_entry ? Kind::at_host
                                              : Kind::arrived;
  if (event.kind == Kind::arrived) event.time += event.lag;
  push(event);
}

void Evaluation::arrive(const Event& event) {
  Message& message = messages_[event.item];
  ++message.frames_in;
  message.credit_used += event.bytes;
  if (!message.can_be_received) return;
  touch(message.target);
  if (message.frames_in == message.frames) return finish_receiving(event.item);
  give_back(message);
}

/// Returns credit to the sender of a message. The credit is that of frames which arrived while the
/// receiving step still waited for earlier steps. It is returned when the step has consumed their
/// bytes.
void Evaluation::give_back(Message& message) {
  if (message.credit_used == 0) return;
  push({.time = now_ + network_.latency(message.target, message.source),
        .kind = Kind::credited,
        .source = message.source,
        .item = message.target,
        .frame = 0,
        .step = 0,
        .bytes = message.credit_used});
  message.credit_used = 0;
}

}  // namespace

std::optional<Price> evaluate(std::vector<collectives::Program> programs, Bytes element_bytes,
                              const Network& network, const Execution& execution, Nanos limit) {
  return Evaluation(std::move(programs), element_bytes, network, execution).run(limit);
}

std::vector<collectives::Program> programs_of(const collectives::Algorithm& algorithm,
                                              const collectives::CollectiveSpec& task,
                                              const collectives::Parameters& parameters) {
  std::vector<collectives::Program> programs;
  programs.reserve(task.size());
  for (Rank me = 0; me < task.size(); ++me)
    programs.push_back(algorithm.program(task, parameters, me));
  return programs;
}

Price price(const collectives::Algorithm& algorithm, const collectives::CollectiveSpec& task,
            const collectives::Parameters& parameters, Bytes element_bytes, const Network& network,
            const Execution& execution) {
  const bool is_barrier = task.collective == collectives::Collective::barrier;
  return *evaluate(programs_of(algorithm, task, parameters), is_barrier ? 0 : element_bytes,
                   network, execution);
}

}  // namespace pricing
