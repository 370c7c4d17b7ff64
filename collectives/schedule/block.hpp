// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/block.hpp — blocks: ranges of elements in a participant's buffers.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace collectives {

using Rank = std::uint32_t;   ///< number of a participant in its group, from 0, in config order
using Count = std::uint64_t;  ///< number of elements, whatever their type
/// Number of a channel. Messages between two participants arrive in order within a channel.
using Channel = std::uint32_t;

/// `count` elements beginning at `offset`.
struct Range {
  Count offset = 0;
  Count count = 0;
  Count end() const { return offset + count; }
  friend auto operator<=>(const Range&, const Range&) = default;
};

/// Divides `whole` into `pieces` pieces and returns piece `index`. If the division leaves a
/// remainder, the first pieces are one element longer.
inline Range piece_of(Range whole, Count pieces, Count index) {
  const Count each = whole.count / pieces;
  const Count longer = whole.count % pieces;
  return {whole.offset + index * each + std::min(index, longer), each + (index < longer ? 1 : 0)};
}
/// Divides `whole` into `pieces` pieces, as piece_of() does, and returns all of them.
std::vector<Range> cut(Range whole, Count pieces);
/// Divides `whole` into `pieces` pieces, as piece_of() does. Returns the index of the piece that
/// contains element `offset`.
Count piece_at(Range whole, Count pieces, Count offset);
/// Returns the elements that both ranges contain; empty if there are none.
Range overlap(Range left, Range right);

/// Kind of buffer in which a participant keeps elements. `in` and `out` are the buffers of the
/// collective. The other kinds are scratch buffers, one kind for each purpose.
enum class Storage : std::uint32_t {
  in,         ///< contribution of the participant; never written
  out,        ///< result; at the root of a broadcast also the contribution
  part,       ///< sum of a piece over some participants, such as a cluster
  received,   ///< piece from another member; Buffer::index is the sender's rank
  across,     ///< piece from another cluster; Buffer::index is the number of the cluster
  forwarded,  ///< piece to forward to another participant
  child,      ///< data from a child in a tree; Buffer::index is the child's rank
  folded,     ///< intermediate sum; Buffer::index is the number of the sum
  subtree,    ///< blocks of other participants, on their way through this one
  /// Blocks under way in Bruck's alltoall; Buffer::index is the number of hops so far modulo 2.
  slot,
  hand,  ///< first element of a message of Rounds; Buffer::index 0 = outgoing, 1 = incoming
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

std::string text(Buffer buffer);       ///< text form: "out", "rt0"
std::string text(const Block& block);  ///< text form: "out[2:4]"

/// Blocks of one message, in the order in which the message contains them. Blocks need not be
/// adjacent in memory, so one message can contain the blocks of a whole subtree or cluster.
class Ref {
 public:
  Ref() = default;
  Ref(Block block) { add(block); }  // NOLINT: a block is the shortest list of blocks
  /// Adds a block. Ignores an empty block; extends the last block if the new block continues it.
  void add(Block block);
  void append(const Ref& more) {
    for (const Block& block : more.blocks_) add(block);
  }
  void clear() { blocks_.clear(); }
  /// Splits the blocks into messages of at most `segment` elements (0 = one message).
  std::vector<Ref> in_segments(Count segment) const;
  const std::vector<Block>& blocks() const { return blocks_; }
  Count count() const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace collectives
