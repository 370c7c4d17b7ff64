// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/collective_spec.hpp — kind, group, counts and root of a collective.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "collectives/schedule/topology.hpp"

namespace collectives {

enum class Collective {
  broadcast,
  reduce,
  allreduce,
  barrier,
  gather,
  scatter,
  allgather,
  reduce_scatter,
  alltoall,
  scan,
  exscan,
};
inline constexpr Collective all_collectives[] = {
    Collective::broadcast, Collective::reduce,  Collective::allreduce, Collective::barrier,
    Collective::gather,    Collective::scatter, Collective::allgather, Collective::reduce_scatter,
    Collective::alltoall,  Collective::scan,    Collective::exscan};

std::string_view name_of(Collective collective);
bool has_root(Collective collective);
bool is_reduction(Collective collective);

/// Number of elements in each block of a collective. All participants know all counts.
class Counts {
 public:
  static Counts each(Count count, std::size_t blocks);
  /// Returns counts that can differ from block to block. `counts` has the number of elements of
  /// each block.
  /// Throws: std::invalid_argument if the sum exceeds 64 bits.
  static Counts listed(const std::vector<Count>& counts);

  std::size_t blocks() const { return blocks_; }
  Count total() const { return block(blocks_ - 1).end(); }
  /// Returns the range of the block in the vector of all blocks.
  Range block(std::size_t index) const {
    if (begins_.empty()) return {index * each_, each_};
    return {begins_[index], begins_[index + 1] - begins_[index]};
  }
  Count largest() const { return each_; }

 private:
  std::size_t blocks_ = 1;
  Count each_ = 0;  // count of each block, or the largest count if the counts differ
  // Begin of each block, then the end of the last block; empty if all counts are equal.
  std::vector<Count> begins_;
};

/// A collective on a group. The number of blocks in `counts` depends on the collective:
/// - broadcast, reduce, allreduce, scan, exscan: one block, the vector;
/// - gather, scatter, allgather, reduce_scatter: one block per participant, in rank order;
/// - alltoall: one block per ordered pair of participants, sorted by source and then by target;
/// - barrier: one block with one token, an element without bytes. A barrier is an allreduce of this
///   token.
struct CollectiveSpec {
  Collective collective = Collective::barrier;
  std::shared_ptr<const Topology> topology;
  Counts counts;
  Rank root = 0;

  const Topology& group() const { return *topology; }
  Rank size() const { return topology->size(); }
  Range vector() const { return {0, counts.total()}; }
};

CollectiveSpec make_spec(Collective collective, std::shared_ptr<const Topology> topology,
                         Count count, Rank root = 0);

/// Returns the contribution of `me`: a range of `in`, or of `out` at the root of a broadcast.
Range in_range(const CollectiveSpec& task, Rank me);
/// Returns the range of the result in `out`; empty if `me` gets no result.
Range out_range(const CollectiveSpec& task, Rank me);
/// Returns the block that `source` sends to `target` in an alltoall: a range of the `in` of
/// `source`.
Range given(const CollectiveSpec& task, Rank source, Rank target);
/// Returns the blocks that `target` receives in an alltoall: ranges of its `out`, indexed by
/// source.
std::vector<Range> taken(const CollectiveSpec& task, Rank target);

}  // namespace collectives
