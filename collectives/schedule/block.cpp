// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/block.cpp — division of ranges, and text form of blocks.
#include "collectives/schedule/block.hpp"

#include <fmt/format.h>

namespace collectives {

std::vector<Range> cut(Range whole, Count pieces) {
  std::vector<Range> all;
  all.reserve(pieces);
  for (Count index = 0; index < pieces; ++index) all.push_back(piece_of(whole, pieces, index));
  return all;
}

Count piece_at(Range whole, Count pieces, Count offset) {
  const Count each = whole.count / pieces;
  const Count longer = whole.count % pieces;
  const Count into = offset - whole.offset;
  if (into < longer * (each + 1)) return into / (each + 1);
  return longer + (into - longer * (each + 1)) / each;
}

Range overlap(Range left, Range right) {
  const Count from = std::max(left.offset, right.offset);
  const Count to = std::min(left.end(), right.end());
  return {from, to > from ? to - from : 0};
}

std::string text(Buffer buffer) {
  switch (buffer.storage) {
    case Storage::in: return "in";
    case Storage::out: return "out";
    case Storage::part: return "part";
    case Storage::received: return fmt::format("rt{}", buffer.index);
    case Storage::across: return fmt::format("w{}", buffer.index);
    case Storage::forwarded: return "fw";
    case Storage::child: return fmt::format("t{}", buffer.index);
    case Storage::folded: return fmt::format("f{}", buffer.index);
    case Storage::subtree: return "sub";
    case Storage::slot: return fmt::format("slot{}", buffer.index);
    case Storage::hand: return fmt::format("hand{}", buffer.index);
  }
  return "?";
}

std::string text(const Block& block) {
  return fmt::format("{}[{}:{}]", text(block.buffer), block.cells.offset, block.cells.end());
}

void Ref::add(Block block) {
  if (block.cells.count == 0) return;
  if (!blocks_.empty()) {
    Block& last = blocks_.back();
    if (last.buffer == block.buffer && last.cells.end() == block.cells.offset) {
      last.cells.count += block.cells.count;
      return;
    }
  }
  blocks_.push_back(block);
}

std::vector<Ref> Ref::in_segments(Count segment) const {
  if (segment == 0) return {*this};
  std::vector<Ref> segments(1);
  Count room = segment;
  for (Block rest : blocks_) {
    while (rest.cells.count > 0) {
      const Count count = std::min(room, rest.cells.count);
      segments.back().add({rest.buffer, {rest.cells.offset, count}});
      rest.cells = {rest.cells.offset + count, rest.cells.count - count};
      room -= count;
      if (room > 0) continue;
      segments.emplace_back();
      room = segment;
    }
  }
  return segments;
}

Count Ref::count() const {
  Count count = 0;
  for (const Block& block : blocks_) count += block.cells.count;
  return count;
}

}  // namespace collectives
