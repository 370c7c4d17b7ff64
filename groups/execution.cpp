// SPDX-License-Identifier: Apache-2.0
// groups/execution.cpp — admission, hazards, messages under way.
#include "groups/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/errors.hpp"
#include "base/units.hpp"

namespace groups {
namespace {

using collectives::Action;
using collectives::Block;
using Pieces = std::vector<std::span<std::byte>>;

/// Calls `use` with as many bytes of each at a time as lie together in all of them.
template <class Use>
void side_by_side(std::initializer_list<const Pieces*> lists, const Use& use) {
  std::vector<std::size_t> piece(lists.size()), done(lists.size());
  for (;;) {
    std::vector<std::span<std::byte>> now;
    std::size_t bytes = std::numeric_limits<std::size_t>::max(), index = 0;
    for (const Pieces* list : lists) {
      if (piece[index] == list->size()) return;
      now.push_back((*list)[piece[index]].subspan(done[index]));
      bytes = std::min(bytes, now.back().size());
      ++index;
    }
    for (auto& one : now) one = one.first(bytes);
    use(now);
    index = 0;
    for (const Pieces* list : lists) {
      done[index] += bytes;
      if (done[index] == (*list)[piece[index]].size()) ++piece[index], done[index] = 0;
      ++index;
    }
  }
}

/// Where each sends to each in turn, fewer steps than participants might wait for each other.
std::size_t window_of(std::size_t written, std::size_t hosts) {
  return written > 0 ? written : std::max<std::size_t>(256, hosts);
}

std::size_t size_of(const Pieces& pieces) {
  std::size_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.size();
  return bytes;
}

}  // namespace

Execution::Execution(const runtime::Runtime& runtime, paths::LaneGroup* lanes,
                     const std::vector<std::uint32_t>& hosts, const OperationName& name,
                     collectives::Program program, const ExecutionPlan& plan, Memory& memory,
                     Fold& fold, ExecutionLimits limits, ShareTrace* trace)
    : runtime_(runtime),
      lanes_(lanes),
      hosts_(hosts),
      name_(name),
      plan_(plan),
      memory_(memory),
      fold_(fold),
      limits_(limits),
      trace_(trace),
      steps_(std::move(program), window_of(limits.window, hosts.size())),
      waits_(runtime) {}

void Execution::run() {
  for (;;) {
    admit();
    if (steps_.is_done()) return;
    const runtime::Deadline limit{runtime_.now() + limits_.patience, limits_.is_patience_written};
    std::optional<std::size_t> member = waits_.any(limit);
    if (!member) throw_late();
    for (; member; member = waits_.try_any()) finish(*member);
  }
}

void Execution::admit() {
  bool has_admitted = true;
  while (has_admitted) {
    has_admitted = false;
    while (const std::optional<Slot> slot = steps_.admit()) {
      has_admitted = true;
      keep(*slot);
      if (steps_.is_free(*slot)) free_.push_back(*slot);
    }
    for (std::size_t next = 0; next < free_.size(); ++next) begin(free_[next]);
    free_.clear();
  }
  if (has_receiving_ports()) receive_in_order();
  send_ready();
}

/// What is needed of a step when it may be done.
void Execution::keep(Slot slot) {
  if (slot >= kept_.size()) kept_.resize(slot + 1);
  const collectives::Step step = steps_.latest();
  Step& kept = kept_[slot];
  kept.blocks.assign(step.blocks.begin(), step.blocks.end());
  if (!step.is_message()) return;
  const Stream stream{step.action == Action::send, step.peer, step.channel};
  const std::uint64_t ordinal = ordinals_[stream]++;
  kept.message = {name_.number, std::uint64_t{step.channel} << 32 | ordinal, name_.meaning,
                  name_.number << 32 | steps_[slot].number};
  kept.can_be_received = false;
  kept.message.waits_for_grant = has_receiving_ports();
  kept.message.is_grant_at_once = has_receiving_ports() && !plan_.ports.are_grants_carried;
  if (step.action == Action::send && has_sending_ports())
    ports_of(sending_, slot).steps.push_back(slot);
  if (step.action == Action::receive && has_receiving_ports())
    ports_of(receiving_, slot).steps.push_back(slot);
}

bool Execution::is_across(Slot slot) const {
  return plan_.ports.are_apart &&
         plan_.topology->cluster_of(plan_.me) != plan_.topology->cluster_of(steps_[slot].peer);
}

void Execution::begin(Slot slot) {
  Step& step = kept_[slot];
  if (trace_) step.began_nanos = trace_->now();
  switch (steps_[slot].action) {
    case Action::send: ready_[steps_[slot].number] = slot; return;
    case Action::receive:
      step.can_be_received = true;
      if (!has_receiving_ports()) receive(slot);
      return;
    case Action::reduce: fold(step); break;
    case Action::copy: copy(step); break;
  }
  if (trace_) trace(slot);
  steps_.finish(slot, free_);
}

/// All of it: lanes choose frame by frame, the oldest step first. If only some were handed over,
/// these might wait for grants that one of the others would bring about. With ports that are taken
/// in order a plan says that this does not happen.
void Execution::send_ready() {
  if (has_sending_ports()) return send_in_order();
  while (!ready_.empty()) send(ready_.extract(ready_.begin()).mapped());
}

void Execution::send_in_order() {
  for (Ports& ports : sending_)
    while (!ports.steps.empty() && ports.taken < plan_.ports.sending &&
           ready_.erase(steps_[ports.steps.front()].number) > 0) {
      send(ports.steps.front());
      ports.steps.pop_front();
      ++ports.taken;
    }
}

void Execution::send(Slot slot) {
  Step& step = kept_[slot];
  base::Payload message = gathered(step);
  if (trace_) step.began_nanos = trace_->now(), step.bytes = message.size();
  Sent& sent = sent_[steps_[slot].peer];
  ++sent.messages, sent.bytes += message.size();
  step.sending = lanes_->send(hosts_[steps_[slot].peer], step.message, std::move(message));
  of_[waits_.add(step.sending)] = slot;
}

void Execution::receive(Slot slot) {
  Step& step = kept_[slot];
  step.receiving = lanes_->receive(hosts_[steps_[slot].peer], step.message);
  of_[waits_.add(step.receiving)] = slot;
}

/// Receiving steps in their order, as far as they are free of hazards and there are ports.
void Execution::receive_in_order() {
  for (std::size_t across = 0; across < receiving_.size(); ++across) {
    Ports& ports = receiving_[across];
    while (!ports.steps.empty() && ports.taken < receiving_ports(across) &&
           kept_[ports.steps.front()].can_be_received) {
      receive(ports.steps.front());
      ports.steps.pop_front();
      ++ports.taken;
    }
  }
}

/// Copied, so that the caller's memory is free as soon as it is sent, wherever it then lies.
base::Payload Execution::gathered(const Step& step) {
  into_.clear();
  for (const Block& block : step.blocks) memory_.find(block, into_);
  return base::Payload::filled(size_of(into_), [&](std::span<std::byte> bytes) {
    for (const auto& piece : into_) {
      std::memcpy(bytes.data(), piece.data(), piece.size());
      bytes = bytes.subspan(piece.size());
    }
  });
}

void Execution::finish(std::size_t member) {
  const Slot slot = of_.extract(member).mapped();
  Step& step = kept_[slot];
  if (steps_[slot].action == Action::send) {
    std::exchange(step.sending, {}).wait();
    if (has_sending_ports()) --ports_of(sending_, slot).taken;
  } else {
    take(slot);
    if (has_receiving_ports()) --ports_of(receiving_, slot).taken;
  }
  if (trace_) trace(slot);
  steps_.finish(slot, free_);
}

void Execution::take(Slot slot) {
  Step& step = kept_[slot];
  const base::Payload message = std::exchange(step.receiving, {}).wait();
  step.bytes = message.size();
  into_.clear();
  for (const Block& block : step.blocks) memory_.find(block, into_);
  if (size_of(into_) != message.size())
    throw paths::TravelError(
        "", "", "",
        fmt::format("{}: host {} sent {} bytes where {} were expected", name_.text,
                    lanes_->host_name(hosts_[steps_[slot].peer]), message.size(), size_of(into_)));
  std::span<const std::byte> bytes = message.bytes();
  for (const auto& piece : into_) {
    std::memcpy(piece.data(), bytes.data(), piece.size());
    bytes = bytes.subspan(piece.size());
  }
}

void Execution::fold(const Step& step) {
  for (auto* pieces : {&into_, &left_, &right_}) pieces->clear();
  memory_.find(step.blocks[0], into_);
  memory_.find(step.blocks[1], left_);
  memory_.find(step.blocks[2], right_);
  side_by_side({&into_, &left_, &right_}, [&](const auto& now) { fold_(now[0], now[1], now[2]); });
}

void Execution::copy(const Step& step) {
  for (auto* pieces : {&into_, &left_}) pieces->clear();
  memory_.find(step.blocks[0], into_);
  memory_.find(step.blocks[1], left_);
  side_by_side({&into_, &left_}, [&](const auto& now) {
    if (!now[0].empty()) std::memmove(now[0].data(), now[1].data(), now[0].size());
  });
}

/// That a step has ended.
void Execution::trace(Slot slot) {
  const pricing::Admitted& step = steps_[slot];
  const bool is_message = step.action == Action::send || step.action == Action::receive;
  eventspace::GroupStep done;
  done.number = static_cast<std::uint32_t>(step.number);
  done.action = step.action == Action::send      ? eventspace::GroupAction::send
                : step.action == Action::receive ? eventspace::GroupAction::receive
                : step.action == Action::reduce  ? eventspace::GroupAction::fold
                                                 : eventspace::GroupAction::copy;
  done.peer = is_message ? trace_->host(step.peer) : trace_->host();
  done.channel = step.channel;
  done.bytes = is_message ? kept_[slot].bytes : size_of(into_);
  done.begin_nanos = kept_[slot].began_nanos;
  trace_->add(done);
}

void Execution::throw_late() const {
  std::string whom;
  for (const auto& [member, slot] : of_)
    if (steps_[slot].action == Action::receive && whom.size() < 200)
      whom += fmt::format("{}{}", whom.empty() ? "" : ", ",
                          lanes_->host_name(hosts_[steps_[slot].peer]));
  throw paths::TravelError("", "", "",
                           fmt::format("{}: nothing came for {}; waited for hosts {}", name_.text,
                                       base::format_time(limits_.patience), whom));
}

}  // namespace groups
