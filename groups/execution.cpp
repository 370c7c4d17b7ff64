// SPDX-License-Identifier: Apache-2.0
// groups/execution.cpp — admission and execution of schedule steps, and their messages.
#include "groups/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "base/errors.hpp"
#include "base/link_model/host_costs.hpp"
#include "base/units.hpp"

namespace groups {
namespace {

using collectives::Action;
using collectives::Block;
using Pieces = std::vector<std::span<std::byte>>;

/// Calls `use(pieces)` repeatedly with the next piece of each list, until a list ends. The pieces
/// of one call have the same size, and each is contiguous.
template <std::size_t n, class Use>
void side_by_side(const std::array<const Pieces*, n>& lists, const Use& use) {
  std::array<std::size_t, n> piece{}, done{};
  std::array<std::span<std::byte>, n> now;
  for (;;) {
    std::size_t bytes = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < n; ++i) {
      if (piece[i] == lists[i]->size()) return;
      now[i] = (*lists[i])[piece[i]].subspan(done[i]);
      bytes = std::min(bytes, now[i].size());
    }
    for (std::size_t i = 0; i < n; ++i) {
      now[i] = now[i].first(bytes);
      done[i] += bytes;
      if (done[i] == (*lists[i])[piece[i]].size()) ++piece[i], done[i] = 0;
    }
    use(now);
  }
}

/// Size of the largest message that is usually sent by credit, without waiting for a grant.
constexpr std::size_t little_bytes = 4096;

/// Size of the largest message that is copied as a whole before it is sent. All peers that get the
/// same data share the copy.
constexpr std::size_t whole_bytes = std::size_t{64} << 10;

std::size_t size_of(const Pieces& pieces) {
  std::size_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.size();
  return bytes;
}

bool is_message(Action action) { return action == Action::send || action == Action::receive; }

/// Returns the index in the vector of the first value of an operand that is part of `in`; nullopt
/// if no operand is.
std::optional<collectives::Count> first_index(const std::vector<Block>& operands) {
  for (const Block& block : operands)
    if (block.buffer == collectives::in) return block.cells.offset;
  return std::nullopt;
}

}  // namespace

WorkRates work_rates_of(const paths::Plan& plan, std::uint32_t host,
                        const runtime::Runtime& runtime) {
  if (!runtime.is_virtual() || plan.costs == nullptr) return {};
  const double speed = plan.hosts[host].speed;
  return {plan.costs->fold_bytes_per_second() * speed, plan.costs->copy_bytes_per_second() * speed};
}

std::string OperationName::text() const {
  return fmt::format("operation {} of group {}, {}", number, group, name_of(collective));
}

void Execution::run(const Share& share, collectives::Program program) {
  share_ = &share;
  steps_.restart(std::move(program), pricing::window_of(share.limits.window, hosts_.size()));
  streams_.clear();
  ordinals_.clear();
  sent_.clear();
  of_.clear();
  checked_ = {};
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
  gathered_ = {};
}

/// Stores what is needed to perform the latest admitted step later.
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
    case Action::reduce: fold(step); break;
    case Action::copy: copy(step); break;
  }
  if (share_->trace) step.bytes = size_of(into_);
  const bool is_fold = steps_[slot].action == Action::reduce;
  const base::Nanos time =
      tuning::work_time(size_of(into_) + size_of(left_) + (is_fold ? size_of(right_) : 0),
                        is_fold ? rates_.fold_bytes_per_second : rates_.copy_bytes_per_second);
  if (time > base::Nanos(0) && lanes_ != nullptr) {
    step.sending = lanes_->work(time, steps_[slot].number);
    return wait_for(step.sending, slot);
  }
  if (time > base::Nanos(0)) runtime_.sleep_for(time);
  if (share_->trace) trace(slot);
  steps_.finish(slot, free_);
}

/// Passes all ready messages to the lanes, the oldest step first. The lanes choose which frame
/// leaves next. They must get all messages, because a message may wait for a grant that arrives
/// only after another one was sent. If messages take ports in program order (Ports::are_in_order),
/// send_in_order() passes them instead.
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

void Execution::find_all(const Step& step) {
  into_.clear();
  for (const Block& block : step.blocks) share_->memory.find(block, into_);
}

void Execution::send(Slot slot) {
  Step& step = kept_[slot];
  const std::uint32_t peer = hosts_[steps_[slot].peer];
  for (const Block& block : step.blocks) check_given(block);
  find_all(step);
  const std::size_t bytes = size_of(into_);
  if (share_->trace) step.began_nanos = share_->trace->now(), step.bytes = bytes;
  Sent& sent = sent_[steps_[slot].peer];
  ++sent.messages, sent.bytes += bytes;
  const bool is_lent = is_large(bytes) && lanes_->is_paced(peer);
  step.sending = is_lent ? lanes_->send(peer, step.message, paths::LentMemory(into_))
                         : lanes_->send(peer, step.message, gathered(step));
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
  find_all(step);
  const std::size_t bytes = size_of(into_);
  step.message.is_little = bytes <= little_bytes;
  step.receiving =
      lanes_->receive(hosts_[steps_[slot].peer], step.message,
                      is_large(bytes) ? paths::LentMemory(into_) : paths::LentMemory());
  wait_for(step.receiving, slot);
}

/// Starts receiving steps in order. Stops before a step that conflicts with an earlier one, or if
/// no port is free.
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
  return bytes > whole_bytes && share_->memory.has_values();
}

/// Returns the message of a sending step as one contiguous copy. All peers that get the same data
/// share the copy.
const base::Payload& Execution::gathered(const Step& step) {
  if (!gathered_.empty() && step.blocks == gathered_blocks_) return gathered_;
  gathered_blocks_ = step.blocks;
  if (!share_->memory.has_values()) return gathered_ = nothing(size_of(into_));
  return gathered_ = base::Payload::filled(size_of(into_), [&](std::span<std::byte> bytes) {
           for (const auto& piece : into_) {
             std::memcpy(bytes.data(), piece.data(), piece.size());
             bytes = bytes.subspan(piece.size());
           }
         });
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
  find_all(step);
  step.bytes = size_of(into_);
  if (received.is_in_place) return;
  const base::Payload& message = received.payload;
  if (step.bytes != message.size())
    throw paths::TravelError(
        "", "", "",
        fmt::format("{}: host {} sent {} bytes where {} were expected", share_->name.text(),
                    lanes_->host_name(hosts_[steps_[slot].peer]), message.size(), step.bytes));
  if (!share_->memory.has_values()) return;
  std::span<const std::byte> bytes = message.bytes();
  for (const auto& piece : into_) {
    std::memcpy(piece.data(), bytes.data(), piece.size());
    bytes = bytes.subspan(piece.size());
  }
}

/// Checks the values of a block of `in` that is sent or copied, if they must be checked. A block
/// that is sent to several peers in succession is checked once.
void Execution::check_given(const Block& block) {
  if (!share_->is_in_unchecked || block.buffer != collectives::in || block == checked_) return;
  left_.clear();
  share_->memory.find(block, left_);
  for (const auto& piece : left_) share_->fold.check(piece);
  checked_ = block;
}

void Execution::fold(const Step& step) {
  for (auto* pieces : {&into_, &left_, &right_}) pieces->clear();
  share_->memory.find(step.blocks[0], into_);
  share_->memory.find(step.blocks[1], left_);
  share_->memory.find(step.blocks[2], right_);
  if (!share_->memory.has_values()) return;
  std::size_t done_bytes = 0;
  try {
    side_by_side<3>({&into_, &left_, &right_}, [&](const auto& now) {
      share_->fold(now[0], now[1], now[2]);
      done_bytes += now[0].size();
    });
  } catch (const base::BadValue& bad) {
    const std::string wrong(bad.wrong());
    const auto first = first_index(step.blocks);
    if (!first || !bad.index()) throw base::BadValue(wrong);
    throw base::BadValue(wrong, *first + done_bytes / share_->fold.element_bytes() + *bad.index());
  }
}

void Execution::copy(const Step& step) {
  check_given(step.blocks[1]);
  for (auto* pieces : {&into_, &left_}) pieces->clear();
  share_->memory.find(step.blocks[0], into_);
  share_->memory.find(step.blocks[1], left_);
  if (!share_->memory.has_values()) return;
  side_by_side<2>({&into_, &left_}, [&](const auto& now) {
    if (!now[0].empty() && now[0].data() != now[1].data())
      std::memmove(now[0].data(), now[1].data(), now[0].size());
  });
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
