// SPDX-License-Identifier: Apache-2.0
// groups/execution/step_memory.cpp — folds and copies between blocks of several pieces
#include "groups/execution/step_memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

namespace groups {
namespace {

using collectives::Block;
using Pieces = std::vector<std::span<std::byte>>;

/// Cuts the pieces of several lists into parts that match in size. Calls `use(parts)` with the next
/// part of each list, until a list ends. The parts of one call have the same size, and each is
/// contiguous.
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

std::size_t size_of(const Pieces& pieces) {
  std::size_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.size();
  return bytes;
}

/// Finds the first operand that is a part of `in`. Returns the index in `in` of the operand's first
/// value; nullopt if no operand is a part of `in`.
std::optional<collectives::Count> first_index(const std::vector<Block>& operands) {
  for (const Block& block : operands)
    if (block.buffer == collectives::in) return block.cells.offset;
  return std::nullopt;
}

}  // namespace

void StepMemory::restart(Memory& memory, Fold& fold, bool is_in_unchecked) {
  memory_ = &memory;
  fold_ = &fold;
  is_in_unchecked_ = is_in_unchecked;
  checked_ = {};
}

std::size_t StepMemory::size_bytes() const { return size_of(into_); }

std::size_t StepMemory::find(const Blocks& blocks) {
  into_.clear();
  for (const Block& block : blocks) memory_->find(block, into_);
  return size_of(into_);
}

const base::Payload& StepMemory::gather(const Blocks& blocks) {
  if (!gathered_.empty() && blocks == gathered_blocks_) return gathered_;
  gathered_blocks_ = blocks;
  if (!has_values()) return gathered_ = nothing(size_of(into_));
  return gathered_ = base::Payload::filled(size_of(into_), [&](std::span<std::byte> bytes) {
           for (const auto& piece : into_) {
             std::memcpy(bytes.data(), piece.data(), piece.size());
             bytes = bytes.subspan(piece.size());
           }
         });
}

void StepMemory::scatter(std::span<const std::byte> message) const {
  if (!has_values()) return;
  for (const auto& piece : into_) {
    std::memcpy(piece.data(), message.data(), piece.size());
    message = message.subspan(piece.size());
  }
}

void StepMemory::check(const Blocks& blocks) {
  for (const Block& block : blocks) check(block);
}

void StepMemory::check(const Block& block) {
  if (!is_in_unchecked_ || block.buffer != collectives::in || block == checked_) return;
  left_.clear();
  memory_->find(block, left_);
  for (const auto& piece : left_) fold_->check(piece);
  checked_ = block;
}

std::size_t StepMemory::fold(const Blocks& blocks) {
  for (auto* pieces : {&into_, &left_, &right_}) pieces->clear();
  memory_->find(blocks[0], into_);
  memory_->find(blocks[1], left_);
  memory_->find(blocks[2], right_);
  const std::size_t bytes = size_of(into_) + size_of(left_) + size_of(right_);
  if (!has_values()) return bytes;
  std::size_t done_bytes = 0;
  try {
    side_by_side<3>({&into_, &left_, &right_}, [&](const auto& now) {
      (*fold_)(now[0], now[1], now[2]);
      done_bytes += now[0].size();
    });
  } catch (const base::BadValue& bad) {
    const std::string wrong(bad.wrong());
    const auto first = first_index(blocks);
    if (!first || !bad.index()) throw base::BadValue(wrong);
    throw base::BadValue(wrong, *first + done_bytes / fold_->element_bytes() + *bad.index());
  }
  return bytes;
}

std::size_t StepMemory::copy(const Blocks& blocks) {
  check(blocks[1]);
  for (auto* pieces : {&into_, &left_}) pieces->clear();
  memory_->find(blocks[0], into_);
  memory_->find(blocks[1], left_);
  const std::size_t bytes = size_of(into_) + size_of(left_);
  if (!has_values()) return bytes;
  side_by_side<2>({&into_, &left_}, [&](const auto& now) {
    if (!now[0].empty() && now[0].data() != now[1].data())
      std::memmove(now[0].data(), now[1].data(), now[0].size());
  });
  return bytes;
}

}  // namespace groups
