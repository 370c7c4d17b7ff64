// SPDX-License-Identifier: Apache-2.0
// groups/execution/execution.cpp — admission and execution of schedule steps, and their messages.
#include "groups/execution/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "base/link_model/host_costs.hpp"
#include "base/units.hpp"
#include "paths/plan/host_view.hpp"

namespace groups {
namespace {

using collectives::Action;

/// Size of the largest message that is copied as a whole before it is sent. All peers that get the
/// same data share the copy.
constexpr std::size_t whole_bytes = std::size_t{64} << 10;

bool is_message(Action action) { return action == Action::send || action == Action::receive; }

}  // namespace

WorkRates work_rates_of(const paths::Plan& plan, std::uint32_t host,
                        const runtime::Runtime& runtime) {
  const tuning::HostCosts* const costs = paths::simulated_costs(plan, runtime);
  if (costs == nullptr) return {};
  const double speed = plan.hosts[host].speed;
  return {costs->fold_bytes_per_second() * speed, costs->copy_bytes_per_second() * speed};
}

std::string OperationName::text() const {
  return fmt::format("operation {} of group {}, {}", number, group, name_of(collective));
}

void Execution::run(const Share& share, collectives::Program program) {
  share_ = &share;
  memory_.restart(share.memory, share.fold, share.is_in_unchecked);
  steps_.restart(std::move(program), pricing::window_of(share.limits.window, hosts_.size()));
  streams_.clear();
  ordinals_.clear();
  sent_.clear();
  of_.clear();
  for (admit(); !steps_.is_done(); admit()) {
    std::optional<std::size_t> member = wait_for_any();
    for (; member; member = waits_.try_any()) finish(*member);
  }
  steps_.restart({}, 0);  // releases the program, which refers to the caller's schedule
}

/// Blocks until a message has been sent or received. Returns the index in waits_ of the message.
/// Throws: TravelError if no message is sent or received for the duration Patience::longest.
std::size_t Execution::wait_for_any() {
  if (const auto member = wait_patiently(waits_, runtime_, share_->limits.patience)) return *member;
  throw_late();
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
  memory_.drop_gathered();
}

/// Stores the data with which begin() can later perform the latest admitted step.
void Execution::keep(Slot slot) {
  if (slot >= kept_.size()) kept_.resize(slot + 1);
  const collectives::Step step = steps_.latest();
  Step& kept = kept_[slot];
  kept.blocks.assign(step.blocks.begin(), step.blocks.end());
  if (!step.is_message()) return;
  const std::uint64_t is_sent = step.action == Action::send ? 1 : 0;
  const std::uint32_t stream =
      streams_.number(is_sent << 63 | std::uint64_t{step.peer} << 32 | step.channel);
  if (stream == ordinals_.size()) ordinals_.push_back(0);
  const std::uint64_t ordinal = ordinals_[stream]++;
  kept.message = {share_->name.number, std::uint64_t{step.channel} << 32 | ordinal,
                  share_->name.signature_digest, share_->name.number << 32 | steps_[slot].number};
  kept.is_free = false;
  kept.message.waits_for_grant = has_receiving_ports();
  kept.message.is_grant_at_once = has_receiving_ports() && !ports().are_grants_carried;
  if (step.action == Action::send && has_sending_ports())
    ports_of(sending_, slot).steps.push_back(slot);
  if (step.action == Action::receive && has_receiving_ports())
    ports_of(receiving_, slot).steps.push_back(slot);
}

bool Execution::is_across(Slot slot) const {
  return ports().are_apart && share_->plan.topology->cluster_of(share_->plan.me) !=
                                  share_->plan.topology->cluster_of(steps_[slot].peer);
}

void Execution::begin(Slot slot) {
  Step& step = kept_[slot];
  if (share_->trace) step.began_nanos = share_->trace->now();
  switch (steps_[slot].action) {
    case Action::send:
      step.is_free = true;
      if (!has_sending_ports()) ready_.push_back(slot);
      return;
    case Action::receive:
      step.is_free = true;
      if (!has_receiving_ports()) receive(slot);
      return;
    case Action::reduce:
    case Action::copy: break;
  }
  const bool is_fold = steps_[slot].action == Action::reduce;
  const std::size_t touched_bytes = is_fold ? memory_.fold(step.blocks) : memory_.copy(step.blocks);
  step.bytes = memory_.size_bytes();
  const base::Nanos time = tuning::work_time(
      touched_bytes, is_fold ? rates_.fold_bytes_per_second : rates_.copy_bytes_per_second);
  if (time > base::Nanos(0) && lanes_ != nullptr) {
    step.sending = lanes_->work(time, steps_[slot].number);
    return wait_for(step.sending, slot);
  }
  if (time > base::Nanos(0)) runtime_.sleep_for(time);
  if (share_->trace) trace(slot);
  steps_.finish(slot, free_);
}

/// Passes all ready messages to the lanes, the oldest step first. The lanes choose which frame
/// leaves next. The lanes must get all messages, because a message may wait for a grant that
/// arrives only after a different message was sent. If the number of messages under way is limited
/// (Ports::are_in_order), send_in_order() passes them instead.
void Execution::send_ready() {
  if (has_sending_ports()) return send_in_order();
  std::sort(ready_.begin(), ready_.end(),
            [this](Slot left, Slot right) { return steps_[left].number < steps_[right].number; });
  for (const Slot slot : ready_) send(slot);
  ready_.clear();
}

void Execution::send_in_order() {
  for (Ports& its : sending_)
    while (!its.steps.empty() && its.taken < ports().sending && kept_[its.steps.front()].is_free) {
      send(its.steps.front());
      its.steps.pop_front();
      ++its.taken;
    }
}

void Execution::send(Slot slot) {
  Step& step = kept_[slot];
  const std::uint32_t peer = hosts_[steps_[slot].peer];
  memory_.check(step.blocks);
  const std::size_t bytes = memory_.find(step.blocks);
  if (share_->trace) step.began_nanos = share_->trace->now(), step.bytes = bytes;
  Sent& sent = sent_[steps_[slot].peer];
  ++sent.messages, sent.bytes += bytes;
  const bool is_lent = is_large(bytes) && lanes_->is_paced(peer);
  step.sending = is_lent ? lanes_->send(peer, step.message, paths::LentMemory(memory_.pieces()))
                         : lanes_->send(peer, step.message, memory_.gather(step.blocks));
  wait_for(step.sending, slot);
}

template <class T>
void Execution::wait_for(const runtime::Handle<T>& handle, Slot slot) {
  const std::size_t member = waits_.add(handle);
  if (of_.empty()) first_wait_ = member;
  of_.push_back(slot);
  ENSURE_EQ(first_wait_ + of_.size(), member + 1);
}

void Execution::receive(Slot slot) {
  Step& step = kept_[slot];
  const std::size_t bytes = memory_.find(step.blocks);
  step.message.is_little = bytes <= little_bytes;
  step.receiving =
      lanes_->receive(hosts_[steps_[slot].peer], step.message,
                      is_large(bytes) ? paths::LentMemory(memory_.pieces()) : paths::LentMemory());
  wait_for(step.receiving, slot);
}

/// Starts the steps that receive a message, in the order of the schedule. Stops before a step that
/// conflicts with an earlier unfinished step, or when no port is free.
void Execution::receive_in_order() {
  for (std::size_t across = 0; across < receiving_.size(); ++across) {
    Ports& its = receiving_[across];
    while (!its.steps.empty() && its.taken < ports().receiving_of(across) &&
           kept_[its.steps.front()].is_free) {
      receive(its.steps.front());
      its.steps.pop_front();
      ++its.taken;
    }
  }
}

/// Returns whether a message of this size is copied frame by frame between the lanes and the
/// caller's memory. Smaller messages are copied as a whole.
bool Execution::is_large(std::size_t bytes) const {
  return bytes > whole_bytes && memory_.has_values();
}

void Execution::finish(std::size_t member) {
  const Slot slot = std::exchange(of_[member - first_wait_], none);
  for (; !of_.empty() && of_.front() == none; ++first_wait_) of_.pop_front();
  Step& step = kept_[slot];
  if (steps_[slot].action != Action::receive) {
    std::exchange(step.sending, {}).wait();
    if (steps_[slot].action == Action::send && has_sending_ports())
      --ports_of(sending_, slot).taken;
  } else {
    take(slot);
    if (has_receiving_ports()) --ports_of(receiving_, slot).taken;
  }
  if (share_->trace) trace(slot);
  steps_.finish(slot, free_);
}

void Execution::take(Slot slot) {
  Step& step = kept_[slot];
  const paths::Received received = std::exchange(step.receiving, {}).wait();
  step.bytes = memory_.find(step.blocks);
  if (received.is_in_place) return;
  const base::Payload& message = received.payload;
  if (step.bytes != message.size())
    throw paths::TravelError(
        "", "", "",
        fmt::format("{}: host {} sent {} bytes where {} were expected", share_->name.text(),
                    lanes_->host_name(hosts_[steps_[slot].peer]), message.size(), step.bytes));
  memory_.scatter(message.bytes());
}

void Execution::trace(Slot slot) {
  const pricing::Admitted& step = steps_[slot];
  eventspace::GroupStep done;
  done.number = static_cast<std::uint32_t>(step.number);
  done.action = step.action == Action::send      ? eventspace::GroupAction::send
                : step.action == Action::receive ? eventspace::GroupAction::receive
                : step.action == Action::reduce  ? eventspace::GroupAction::fold
                                                 : eventspace::GroupAction::copy;
  const auto& participants = share_->participants;
  done.peer = is_message(step.action)
                  ? share_->trace->host(participants.empty() ? step.peer : participants[step.peer])
                  : share_->trace->host();
  done.channel = step.channel;
  done.bytes = kept_[slot].bytes;
  done.begin_nanos = kept_[slot].began_nanos;
  share_->trace->add(done);
}

void Execution::throw_late() const {
  std::vector<std::uint32_t> late;
  std::set<collectives::Rank> peers;
  for (const Slot slot : of_) {
    if (slot == none || !is_message(steps_[slot].action)) continue;
    const collectives::Rank peer = steps_[slot].peer;
    if (peers.insert(peer).second) late.push_back(hosts_[peer]);
  }
  groups::throw_late(share_->name.text(), *lanes_, late, share_->limits.patience.longest);
}

std::unique_ptr<Execution> Executions::take(paths::MessageGroup* lanes) {
  {
    const runtime::Lock lock(mutex_);
    if (idle_ != nullptr) return std::move(idle_);
  }
  return std::make_unique<Execution>(runtime_, lanes, hosts_, rates_);
}

void Executions::give_back(std::unique_ptr<Execution> execution) {
  constexpr std::size_t kept_steps_max = 32;
  if (execution->size() > kept_steps_max) return;
  const runtime::Lock lock(mutex_);
  idle_.swap(execution);
}

}  // namespace groups
