// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/input/rounds.cpp — assembly of rounds from the records of many hosts.
#include "eventspace/analysis/input/rounds.hpp"

#include <algorithm>
#include <utility>

namespace eventspace {
namespace {

/// Maximum number of blocks (Ended) that a tree keeps. A real run has fewer blocks, so only damaged
/// sequence numbers reach this limit.
constexpr std::size_t ended_max = std::size_t{1} << 14;

}  // namespace

const Pass* pass_of(const Shape& shape, const Round& round, std::uint32_t probe) {
  if (probe == none) return nullptr;
  const Pass& pass = round.passes[shape.probes[probe].place];
  return pass.is_here ? &pass : nullptr;
}

bool is_answered_above(const Shape& shape, const Round& round) {
  const Tree& tree = shape.trees[round.tree];
  if (!tree.has_periodic || round.here > tree.leaves.size()) return false;
  return std::all_of(tree.probes.begin(), tree.probes.end(), [&](std::uint32_t number) {
    const Probe& probe = shape.probes[number];
    return !round.passes[probe.place].is_here || shape.hops[probe.hop].is_periodic;
  });
}

RoundTable::RoundTable(const Shape& shape, std::size_t bytes_max, Done done)
    : shape_(shape),
      bytes_max_(bytes_max),
      done_(std::move(done)),
      open_(shape.trees.size()),
      last_(shape.probes.size(), Key{~std::uint64_t{0}, 0}) {}

/// Returns the key of a record's round. Each move has a sequence number of its own. Other
/// operations may have the same sequence number as earlier operations. In that case, the first
/// operations with the number at all collectors belong to one round, the second operations to the
/// next round, and so on. The sequence of a successful read is the number of the tuple. A failed
/// read has no tuple, so it has the sequence number that its path gave it, and another key.
RoundTable::Key RoundTable::key_of(std::uint32_t probe, const EventRecord& record) {
  constexpr std::uint64_t is_tuple_number = 0x80;  // larger than the value of each kind
  const std::uint64_t operation = record.sequence << 8 | record.kind |
                                  ((record.flags & event_numbered) != 0 ? is_tuple_number : 0);
  if (record.kind == move_operation) return {operation, 0};
  Key& last = last_[probe];
  last = {operation, last.operation == operation ? last.repeat + 1 : 0};
  return last;
}

std::size_t RoundTable::bytes_of(std::uint32_t tree) const {
  constexpr std::size_t overhead = 160;  // estimated bytes per round in maps and queues
  return sizeof(Round) + sizeof(Pass) * shape_.trees[tree].probes.size() + overhead;
}

Round* RoundTable::round_of(std::uint32_t tree, const Key& key, const EventRecord& record) {
  Open& open = open_[tree];
  const auto found = open.rounds.find(key);
  if (found != open.rounds.end()) return found->second.get();
  if (has_ended(open, record)) return nullptr;
  while (bytes_ > 0 && bytes_ + bytes_of(tree) > bytes_max_) drop_oldest();
  std::unique_ptr<Round> round;
  if (open.spare.empty()) {
    round = std::make_unique<Round>();
  } else {
    round = std::move(open.spare.back());
    open.spare.pop_back();
  }
  round->tree = tree;
  round->sequence = record.sequence;
  round->kind = record.kind;
  round->here = 0;
  round->has_failed = round->is_one_way = false;
  round->passes.assign(shape_.trees[tree].probes.size(), Pass{});
  bytes_ += bytes_of(tree);
  open.by_age.push_back(key);
  return open.rounds.emplace(key, std::move(round)).first->second.get();
}

bool RoundTable::has_ended(const Open& open, const EventRecord& record) {
  if (record.kind != move_operation) return false;
  const auto ended = open.ended.find(record.sequence / Ended::rounds);
  if (ended == open.ended.end()) return false;
  const std::size_t place = record.sequence % Ended::rounds;
  if (!ended->second.any[place]) return false;
  ++(ended->second.complete[place] ? repeated_ : late_);
  return true;
}

void RoundTable::note_ended(Open& open, const Round& round) {
  if (round.kind != move_operation) return;
  const std::uint64_t number = round.sequence / Ended::rounds;
  if (open.ended.size() >= ended_max && !open.ended.contains(number))
    open.ended.erase(open.ended.begin());
  Ended& ended = open.ended[number];
  ended.any.set(round.sequence % Ended::rounds);
  if (round.is_complete()) ended.complete.set(round.sequence % Ended::rounds);
}

void RoundTable::add(std::uint32_t probe, const EventRecord& record, std::int64_t computation_nanos,
                     std::uint32_t arrival) {
  const std::uint32_t tree = shape_.probes[probe].tree;
  if (record.kind != move_operation && shape_.trees[tree].has_joins()) {
    ++passed_by_;
    return;
  }
  const Key key = key_of(probe, record);
  Round* round = round_of(tree, key, record);
  if (round == nullptr) return;
  Pass& pass = round->passes[shape_.probes[probe].place];
  if (pass.is_here) {
    ++repeated_;
    return;
  }
  pass = {record.down_nanos,
          record.up_nanos,
          computation_nanos,
          record.bytes,
          arrival,
          static_cast<std::uint8_t>(record.flags),
          true};
  round->has_failed |= (record.flags & event_failed) != 0;
  round->is_one_way |= (record.flags & event_one_way) != 0;
  if (++round->here != round->passes.size()) return;
  hand_on(tree, key);
  if (shape_.trees[tree].has_periodic) hand_on_answered(tree, record.sequence);
}

/// If wrappers of the kind `periodic` replied to a round before the sequence `before`, passes this
/// round to `done`. No more records of such rounds follow, because all threads have continued with
/// later operations, and the records of each thread are in order.
void RoundTable::hand_on_answered(std::uint32_t tree, std::uint64_t before) {
  std::vector<Key> answered;
  for (const auto& [key, round] : open_[tree].rounds)
    if (round->sequence < before && is_answered_above(shape_, *round)) answered.push_back(key);
  std::sort(answered.begin(), answered.end(),
            [](const Key& a, const Key& b) { return a.operation < b.operation; });
  for (const Key& key : answered) hand_on(tree, key);
}

void RoundTable::hand_on(std::uint32_t tree, const Key& key) {
  Open& open = open_[tree];
  const auto found = open.rounds.find(key);
  std::unique_ptr<Round> round = std::move(found->second);
  open.rounds.erase(found);
  bytes_ -= bytes_of(tree);
  note_ended(open, *round);
  done_(*round);
  if (open.spare.size() < 8) open.spare.push_back(std::move(round));
  forget_ended(open);
}

/// Removes ended rounds from the queue. Rounds end roughly in the order in which they began, so
/// usually only the front is removed. If a round at the front never ends, the whole queue is
/// cleaned occasionally.
void RoundTable::forget_ended(Open& open) {
  while (!open.by_age.empty() && !open.rounds.contains(open.by_age.front()))
    open.by_age.pop_front();
  if (open.by_age.size() < 2 * open.rounds.size() + 1024) return;
  std::erase_if(open.by_age, [&](const Key& key) { return !open.rounds.contains(key); });
}

/// Drops the oldest round of the tree whose open rounds use the most memory.
void RoundTable::drop_oldest() {
  std::uint32_t tree = 0;
  std::size_t most = 0;
  for (std::uint32_t one = 0; one < open_.size(); ++one) {
    const std::size_t bytes = open_[one].rounds.size() * bytes_of(one);
    if (bytes > most) tree = one;
    most = std::max(most, bytes);
  }
  forget_ended(open_[tree]);
  const Key key = open_[tree].by_age.front();
  hand_on(tree, key);
}

void RoundTable::finish() {
  for (std::uint32_t tree = 0; tree < open_.size(); ++tree) {
    std::vector<Key> left;
    for (const auto& [key, round] : open_[tree].rounds) left.push_back(key);
    std::sort(left.begin(), left.end(), [](const Key& a, const Key& b) {
      return std::pair(a.operation, a.repeat) < std::pair(b.operation, b.repeat);
    });
    for (const Key& key : left) hand_on(tree, key);
  }
}

}  // namespace eventspace
