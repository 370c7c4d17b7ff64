// SPDX-License-Identifier: Apache-2.0
// collectives/cost/evaluator.cpp — discrete-event simulation of hosts, links and messages: steps.
#include "collectives/cost/evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/errors.hpp"
#include "collectives/cost/evaluation.hpp"

namespace pricing {
namespace simulation {
namespace {

/// Reports a deadlock: there are unfinished steps, but no further events.
/// Throws: std::invalid_argument with the participants that have unfinished steps.
[[noreturn]] void throw_stuck(const std::vector<Host>& hosts, std::size_t window) {
  std::string who;
  for (Rank rank = 0; rank < hosts.size(); ++rank)
    if (!hosts[rank].admission.is_done())
      who += fmt::format("{}{} with {} steps", who.empty() ? "" : ", ", rank,
                         hosts[rank].admission.unfinished());
  throw std::invalid_argument(
      fmt::format("the schedule blocks forever with a window of {} steps: {} wait for messages "
                  "that never arrive",
                  window, who));
}

}  // namespace

Evaluation::Evaluation(std::vector<collectives::Program> programs, Bytes element_bytes,
                       const Network& network, const Execution& execution)
    : state_(network, execution),
      ports_(state_, programs.size()),
      window_(window_of(execution.window, programs.size())),
      element_bytes_(element_bytes) {
  hosts_.reserve(programs.size());
  for (Rank rank = 0; rank < programs.size(); ++rank) {
    Host& host = hosts_.emplace_back(Admission(std::move(programs[rank]), window_));
    if (state_.has_credit()) host.credit.assign(programs.size(), execution.credit);
  }
  price_.sent.resize(hosts_.size());
  price_.received.resize(hosts_.size());
  price_.links.resize(network.clusters() * network.clusters());
}

std::optional<Price> Evaluation::run(Nanos limit) {
  for (Rank rank = 0; rank < hosts_.size(); ++rank) touch(rank);
  while (true) {
    std::sort(touched_.begin(), touched_.end());
    for (const Rank rank : touched_) work(rank);
    if (state_.execution.ports.is_half_duplex) start_half_duplex();
    for (const Rank rank : touched_) choose(rank);
    for (const Rank rank : touched_) hosts_[rank].is_touched = false;
    touched_.clear();
    receive_frames();
    state_.processors.begin_work(state_.now);
    const Nanos next = state_.next_time();
    if (next == Nanos::max()) break;
    state_.now = next;
    if (state_.now >= limit) return std::nullopt;
    state_.processors.end_work(state_.now);
    while (!state_.events.empty() && state_.events.next_time() == state_.now) {
      Event event = state_.events.pop();
      state_.processors.note_end(event);
      happen(event);
    }
  }
  for (const Host& host : hosts_)
    if (!host.admission.is_done()) throw_stuck(hosts_, window_);
  return std::move(price_);
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
  std::sort(host.work.begin(), host.work.end(), [&](Slot left, Slot right) {
    return host.admission[left].number < host.admission[right].number;
  });
  for (const Slot slot : host.work) request_work(me, slot);
  host.work.clear();
  if (ports_.has_grants()) ports_.grant_in_order(me);
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
    index = state_.messages.add();
    Message& message = state_.messages[*index];
    message.serial = serial_++;
    message.source = stream.source;
    message.target = stream.target;
    message.bytes = step.elements * element_bytes_;
    const Bytes whole = std::max<Bytes>(message.bytes, 1);
    const Bytes frames = (whole - 1) / state_.network.frame + 1;
    if (frames > std::numeric_limits<std::uint32_t>::max())
      throw std::invalid_argument(
          fmt::format("a message of {} bytes has too many frames to count", message.bytes));
    message.frames = static_cast<std::uint32_t>(frames);
    meeting_.wait(stream, is_sender, *index);
  }
  step.message = *index;
  Message& message = state_.messages[*index];
  (is_sender ? message.sending : message.receiving) = slot;
  (is_sender ? message.step : message.receiving_step) = step.number;
  ports_.list_step(me, *index, is_sender);
}

/// Begins a step that waits for no earlier step. Ends the step at once if it needs no time and no
/// message.
void Evaluation::do_step(Rank me, Slot slot) {
  Host& host = hosts_[me];
  const Admitted& step = host.admission[slot];
  if (step.action == Action::send) return host.add_ready({step.number, step.message});
  if (step.action != Action::receive) {
    if (state_.processors.rate(step.action) <= 0) return finish(me, slot);
    if (!state_.processors.has_frame_costs()) return request_work(me, slot);
    const Bytes bytes = step.elements * element_bytes_;
    if (state_.processors.work_time(me, step.action, bytes) == Nanos(0)) return finish(me, slot);
    return host.work.push_back(slot);
  }
  Message& message = state_.messages[step.message];
  message.can_be_received = true;
  if (message.frames_in == message.frames) return finish_receiving(step.message);
  if (ports_.has_grants() || !state_.has_credit()) return;
  give_back(message);
  state_.events.push({.time = state_.now + state_.network.latency(me, message.source),
                      .kind = Kind::granted,
                      .source = message.source,
                      .item = step.message,
                      .frame = 0,
                      .step = message.serial});
}

/// Requests the time of a reduction or a copy from the host's processor. The step ends when the
/// event Kind::computed happens.
void Evaluation::request_work(Rank me, Slot slot) {
  const Admitted& step = hosts_[me].admission[slot];
  const Nanos time = state_.processors.work_time(me, step.action, step.elements * element_bytes_);
  state_.processors.request(
      me, time, {state_.now, Kind::computed, me, static_cast<std::uint32_t>(slot), 0, step.number},
      tuning::WorkKind::step);
}

void Evaluation::finish(Rank me, Slot slot) {
  hosts_[me].admission.finish(slot, hosts_[me].free);
  price_.time = state_.now;
  touch(me);
}

void Evaluation::finish_receiving(MessageIndex index) {
  Message& message = state_.messages[index];
  give_back(message);
  if (ports_.has_grants()) {
    ports_.end_grant(message);
    touch(message.target);
  }
  if (state_.execution.lists_crossings && state_.network.crosses(message.source, message.target))
    price_.crossings.push_back({message.source, message.target, message.entered, message.left});
  if (state_.network.message_cost > Nanos(0) && !state_.processors.has_frame_costs()) {
    return state_.processors.request(
        message.target, state_.network.message_cost,
        {state_.now, Kind::taken, message.source, index, 0, message.step},
        tuning::WorkKind::receipt);
  }
  message.is_received = true;
  finish(message.target, message.receiving);
  recycle(index);
}

void Evaluation::recycle(MessageIndex index) {
  if (state_.messages[index].is_sent && state_.messages[index].is_received)
    state_.messages.recycle(index);
}

}  // namespace simulation

std::optional<Price> evaluate(std::vector<collectives::Program> programs, Bytes element_bytes,
                              const Network& network, const Execution& execution,
                              base::Nanos limit) {
  return simulation::Evaluation(std::move(programs), element_bytes, network, execution).run(limit);
}

std::vector<collectives::Program> programs_of(const collectives::Algorithm& algorithm,
                                              const collectives::CollectiveSpec& task,
                                              const collectives::Parameters& parameters) {
  std::vector<collectives::Program> programs;
  programs.reserve(task.size());
  for (collectives::Rank me = 0; me < task.size(); ++me)
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
