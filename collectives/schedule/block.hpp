// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/block.hpp — which elements of which buffer of a participant a step touches.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace collectives {

using Rank = std::uint32_t;     ///< a participant of a group, counted from 0 in the config's order
using Count = std::uint64_t;    ///< elements, whatever their type
using Channel = std::uint32_t;  ///< of a pair of participants: its messages stay in order

/// `count` elements from `offset` on.
struct Range {
  Count offset = 0;
  Count count = 0;
  Count end() const { return offset + count; }
  friend auto operator<=>(const Range&, const Range&) = default;
};

/// The `index`-th of `pieces` pieces of the whole, the first ones an element longer where it does
/// not divide.
inline Range piece_of(Range whole, Count pieces, Count index) {
  const Count each = whole.count / pieces;
  const Count longer = whole.count % pieces;
  return {whole.offset + index * each + std::min(index, longer), each + (index < longer ? 1 : 0)};
}
/// All `pieces` of them.
std::vector<Range> cut(Range whole, Count pieces);
/// Which of them has the element `offset`.
Count piece_at(Range whole, Count pieces, Count offset);
/// What both have, empty where they have nothing.
Range overlap(Range left, Range right);

/// What a participant keeps elements in: what it gives, what it gets, and scratch by its purpose.
enum class Storage : std::uint32_t {
  in,         ///< the participant's contribution; never written
  out,        ///< the result; at the root of a broadcast the contribution, too
  part,       ///< what a cluster or a member has summed up of its piece
  received,   ///< a piece of another member, by rank
  across,     ///< a piece of another cluster, by its number
  forwarded,  ///< a piece to be sent on for somebody else
  child,      ///< what a child in a tree sent, by rank
  folded,     ///< an intermediate sum, numbered
  subtree,    ///< blocks of others on their way
  slot,       ///< the slots of Bruck's exchange, by parity of what they have travelled
  hand,       ///< the first element of a message of a round, out or in
};

struct Buffer {
  Storage storage = Storage::in;
  std::uint32_t index = 0;
  friend auto operator<=>(const Buffer&, const Buffer&) = default;
};
inline constexpr Buffer in{Storage::in};
inline constexpr Buffer out{Storage::out};
inline constexpr Buffer part{Storage::part};

struct Block {
  Buffer buffer;
  Range cells;
  friend auto operator<=>(const Block&, const Block&) = default;
};

std::string text(Buffer buffer);       ///< "out", "rt0"
std::string text(const Block& block);  ///< "out[2:4]"

/// The blocks of a message, in the order in which it holds them: no packing, one message for a
/// subtree or a cluster.
class Ref {
 public:
  Ref() = default;
  Ref(Block block) { add(block); }  // NOLINT: a block is the shortest list of blocks
  /// Nothing if it is empty; at the end of the last block if it goes on there.
  void add(Block block);
  void append(const Ref& more) {
    for (const Block& block : more.blocks_) add(block);
  }
  void clear() { blocks_.clear(); }
  /// In messages of at most that many elements, one after the other; 0: all in one.
  std::vector<Ref> in_segments(Count segment) const;
  const std::vector<Block>& blocks() const { return blocks_; }
  Count count() const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace collectives
