// SPDX-License-Identifier: Apache-2.0
// groups/execution/region_execution.cpp — folds and copies of an operation in shared memory
#include "groups/execution/region_execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>

#include "groups/execution/mapped_execution.hpp"
#include "runtime/runtime.hpp"

namespace groups {

using collectives::Collective;
using collectives::Count;
using collectives::Range;

namespace {

/// Size of the largest vector that one member folds for all members.
constexpr std::size_t folded_at_once_bytes_max = std::size_t{16} << 10;

void put(std::span<std::byte> to, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace

void throw_if_abandoned(const RegionOperation& operation) {
  if (operation.is_abandoned)
    throw paths::TravelError("", "", "",
                             fmt::format("{}: a member was stopped", operation.name.text()),
                             paths::FailureCause::ended);
}

/// Returns the bytes of a range of elements in an array.
template <class Byte>
std::span<Byte> RegionExecution::part(std::span<Byte> bytes, Range range) const {
  return bytes.subspan(range.offset * operation_.element_bytes,
                       range.count * operation_.element_bytes);
}

bool RegionExecution::can_work_in_place(Collective collective) {
  // The collectives named here write a chunk of `out` only after they have read the same chunk of
  // `in`.
  return collective == Collective::reduce || collective == Collective::allreduce ||
         collective == Collective::scan || collective == Collective::exscan;
}

bool RegionExecution::run() {
  if (operation_.trace != nullptr) begin_nanos_ = operation_.trace->now();
  if (run_mapped()) return true;
  switch (operation_.task.collective) {
    case Collective::broadcast: broadcast(); break;
    case Collective::reduce: reduce(); break;
    case Collective::allreduce: allreduce(); break;
    case Collective::gather: gather(); break;
    default: exchange();
  }
  return false;
}

/// Carries out the operation by reading mapped arrays, if the members pass such arrays. Returns
/// whether it did.
bool RegionExecution::run_mapped() {
  if (operation_.places == nullptr ||
      !MappedExecution::supports(operation_.task.collective, operation_.out.size()))
    return false;
  const std::function<void()> pass_gate = [this] { exchange_values(); };
  return MappedExecution(operation_, member_, me_, participants_, pass_gate).run();
}

void check_own(const RegionOperation& operation, Range range) {
  if (!operation.is_in_unchecked) return;
  try {
    operation.fold.check(operation.in.subspan(range.offset * operation.element_bytes,
                                              range.count * operation.element_bytes));
  } catch (const base::BadValue& bad) {
    throw OwnBadValue(std::string(bad.wrong()), range.offset + bad.index().value_or(0));
  }
}

std::span<const std::byte> RegionExecution::own(Range range) const {
  return part(std::span<const std::byte>(operation_.in), range);
}

/// Folds values into `into`. `first` is the index, in the vector of the operation, of the first
/// element of the values.
void RegionExecution::fold(std::span<std::byte> into,
                           std::span<const std::span<const std::byte>> values, Count first) {
  try {
    operation_.fold.fold_all(into, values);
  } catch (const base::BadValue& bad) {
    if (!bad.index()) throw;
    throw base::BadValue(std::string(bad.wrong()), first + *bad.index());
  }
}

/// Ends a round: waits until all members have written their values. In the first round of the
/// operation, records the wait in the trace.
void RegionExecution::exchange_values() {
  throw_if_abandoned(operation_);
  runtime::yield_to_services();
  member_.exchange(call());
  record_wait(member_.last_to_arrive());
}

void RegionExecution::broadcast() {
  const std::span<std::byte> out = operation_.out;
  std::size_t at = 0;
  do {
    throw_if_abandoned(operation_);
    if (at > 0) runtime::yield_to_services();
    const std::size_t bytes = std::min(paths::SharedRegion::slot_bytes, out.size() - at);
    member_.broadcast(call(), out.subspan(at, bytes), operation_.task.root);
    record_wait(operation_.task.root);
    at += bytes;
  } while (at < out.size());
}

/// Small vectors: the root folds the values that the members have posted. Large vectors: see
/// reduce_in_chunks().
void RegionExecution::reduce() {
  const std::uint32_t root = operation_.task.root;
  const std::span<const std::byte> in = operation_.in;
  if (in.size() > folded_at_once_bytes_max)
    return reduce_in_chunks(me_ == root ? operation_.out : std::span<std::byte>());
  check_own(operation_.task.vector());
  member_.post(call(), in, root);
  if (me_ != root) return record_wait(me_);
  std::array<std::span<const std::byte>, paths::SharedRegion::members_max> values;
  for (std::uint32_t member = 0; member < member_.members(); ++member)
    values[member] = await_posted(member, in.size());
  record_wait(late_.value_or(root));
  fold(operation_.out, std::span(values).first(member_.members()), 0);
  member_.collect();
}

/// Small vectors: the last member to arrive folds all values. Large vectors: see
/// reduce_in_chunks().
void RegionExecution::allreduce() {
  const std::span<const std::byte> in = operation_.in;
  if (in.size() > folded_at_once_bytes_max) return reduce_in_chunks(operation_.out);
  check_own(operation_.task.vector());
  member_.reduce(call(), in, operation_.out,
                 [this](auto into, auto values) { fold(into, values, 0); });
  record_wait(member_.last_to_arrive());
}

/// The members post their blocks piece by piece. The root copies them.
void RegionExecution::gather() {
  const collectives::Counts& counts = operation_.task.counts;
  const std::uint32_t root = operation_.task.root;
  const Count most = paths::SharedRegion::slot_bytes / operation_.element_bytes;
  for (Count begin = 0; begin == 0 || begin < counts.largest(); begin += most) {
    throw_if_abandoned(operation_);
    if (begin > 0) runtime::yield_to_services();
    const auto piece = [&](std::uint32_t member) {
      const Count all = counts.block(member).count, from = std::min(begin, all);
      return Range{from, std::min(most, all - from)};
    };
    const auto mine = own(piece(me_));
    member_.post(call(), me_ == root ? std::span<const std::byte>() : mine, root);
    if (me_ != root) {
      record_wait(me_);
      continue;
    }
    for (std::uint32_t member = 0; member < member_.members(); ++member) {
      const Range from = piece(member);
      const Range to{counts.block(member).offset + from.offset, from.count};
      put(part(operation_.out, to),
          member == root ? mine : await_posted(member, from.count * operation_.element_bytes));
    }
    record_wait(late_.value_or(root));
    member_.collect();
  }
}

/// Returns the value that a member posts in shared memory for this root. Blocks until the member
/// has posted the value.
std::span<const std::byte> RegionExecution::await_posted(std::uint32_t member, std::size_t bytes) {
  if (!member_.has_posted(member)) late_ = member;
  return member_.posted(call(), member, bytes);
}

/// Folds a large vector chunk by chunk. Each member folds its share of each chunk. Between rounds k
/// and k + 1, a member does three things. It copies the result of chunk k - 1, folds its share of
/// chunk k, and writes its values of chunk k + 1 to the region.
void RegionExecution::reduce_in_chunks(std::span<std::byte> out) {
  const std::size_t element_bytes = operation_.element_bytes;
  const Count all = operation_.task.vector().count,
              most = paths::SharedRegion::chunk_bytes / element_bytes;
  const auto chunk_at = [&](Count begin) { return Range{begin, std::min(most, all - begin)}; };
  Range before;  // range of the chunk that was folded last
  for (Count begin = 0; begin < all; begin += before.count) {
    const Range chunk = chunk_at(begin), share = share_of(chunk.count, me_, member_.members());
    const std::span<std::byte> value = member_.next_value(chunk.count * element_bytes);
    const Range behind{share.end(), chunk.count - share.end()};
    check_own(chunk);
    put(part(value, {0, share.offset}), own({chunk.offset, share.offset}));
    put(part(value, behind), own({chunk.offset + behind.offset, behind.count}));
    exchange_values();
    take_result(before, out);
    fold_share(chunk, share);
    before = chunk;
  }
  exchange_values();
  take_result(before, out);
}

/// Copies the result of a chunk to `out`. Requires: a round has ended since the chunk was folded.
void RegionExecution::take_result(Range chunk, std::span<std::byte> out) const {
  if (!out.empty())
    put(part(out, chunk), member_.result(1, chunk.count * operation_.element_bytes));
}

/// Folds this member's share of a chunk. Reads the other members' values from the region, and its
/// own values from `in`.
void RegionExecution::fold_share(Range chunk, Range share) {
  const std::size_t bytes = chunk.count * operation_.element_bytes;
  std::array<std::span<const std::byte>, paths::SharedRegion::members_max> values;
  for (std::uint32_t member = 0; member < member_.members(); ++member)
    values[member] = part(member_.given(member, bytes), share);
  const Range mine{chunk.offset + share.offset, share.count};
  values[me_] = own(mine);
  fold(part(member_.result(0, bytes), share), std::span(values).first(member_.members()),
       mine.offset);
}

/// Carries out a collective in which each member copies blocks of other members or, in reductions
/// and scans, folds them.
void RegionExecution::exchange() {
  const collectives::CollectiveSpec& task = operation_.task;
  const std::size_t element_bytes = operation_.element_bytes;
  const Chunks chunks(task, me_,
                      paths::SharedRegion::chunk_bytes / std::max<std::size_t>(1, element_bytes));
  const Blocks blocks = blocks_of(task, me_);
  for (Count round = 0; round < chunks.rounds(); ++round) {
    const std::span<std::byte> value = member_.next_value(chunks.chunk(me_) * element_bytes);
    chunks.each_given(round, [&](const Chunks::Piece& piece) {
      check_own(piece.from);
      put(part(value, {piece.to, piece.from.count}), own(piece.from));
    });
    exchange_values();
    std::array<std::span<const std::byte>, paths::SharedRegion::members_max> values;
    Chunks::Piece piece;
    for (std::uint32_t source = blocks.first; source < blocks.last; ++source) {
      piece = chunks.taken(source, round);
      values[source] =
          part(member_.given(source, chunks.chunk(source) * element_bytes), piece.from);
      if (blocks.are_folded) continue;
      const Count begin = blocks.begins.empty() ? 0 : blocks.begins[source];
      put(part(operation_.out, {begin + piece.to, piece.from.count}), values[source]);
    }
    if (!blocks.are_folded) continue;
    const std::span<std::byte> into = part(operation_.out, {piece.to, piece.from.count});
    if (blocks.last == 1)
      put(into, values[0]);
    else if (blocks.last > 1)
      fold(into, std::span(values).first(blocks.last), blocks.first_index + piece.to);
  }
}

/// Returns which blocks member `me` receives, and whether it folds or copies them.
RegionExecution::Blocks RegionExecution::blocks_of(const collectives::CollectiveSpec& task,
                                                   std::uint32_t me) {
  const std::uint32_t members = task.size();
  Blocks all{.first = 0, .last = members};
  switch (task.collective) {
    case Collective::allgather:
      for (std::uint32_t source = 0; source < members; ++source)
        all.begins.push_back(task.counts.block(source).offset);
      return all;
    case Collective::alltoall:
      for (const Range& range : collectives::taken(task, me)) all.begins.push_back(range.offset);
      return all;
    case Collective::scatter: return {.first = task.root, .last = task.root + 1};
    case Collective::reduce_scatter:
      return {.last = members, .are_folded = true, .first_index = task.counts.block(me).offset};
    case Collective::scan: return {.last = me + 1, .are_folded = true};
    case Collective::exscan: return {.last = me, .are_folded = true};
    default: return {};  // a barrier
  }
}

// ---- traces ------------------------------------------------------------------------------------

/// Records the first wait of the operation in the trace, as a message that this host receives from
/// `source`. If this host is the source, records a message to each host that reads its value. Later
/// waits are not recorded.
void RegionExecution::record_wait(std::uint32_t source) {
  if (operation_.trace == nullptr || is_wait_recorded_) return;
  is_wait_recorded_ = true;
  const collectives::CollectiveSpec& task = operation_.task;
  // In these operations only the root reads the values of other members.
  const bool has_one_reader =
      task.collective == Collective::gather ||
      (task.collective == Collective::reduce && operation_.in.size() <= folded_at_once_bytes_max);
  ShareTrace& trace = *operation_.trace;
  eventspace::GroupStep step;
  step.bytes = std::max(operation_.in.size(), operation_.out.size());
  step.begin_nanos = begin_nanos_;
  if (source != me_) {
    step.action = eventspace::GroupAction::receive;
    step.peer = trace.host(participants_[source]);
    trace.add(step);
  } else {
    for (std::uint32_t member = 0; member < member_.members(); ++member) {
      if (member == me_ || (has_one_reader && (me_ == task.root || member != task.root))) continue;
      step.peer = trace.host(participants_[member]);
      trace.add(step);
      ++step.number;
    }
  }
  begin_nanos_ = trace.now();
}

}  // namespace groups
