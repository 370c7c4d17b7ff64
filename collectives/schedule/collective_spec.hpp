// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/collective_spec.hpp — what a group is to do together.
#pragma once
#include <memory>
#include <string>
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

/// How many elements each block of a collective has; all participants know all of them.
class Counts {
 public:
  static Counts each(Count count, std::size_t blocks);
  /// Throws: std::invalid_argument if their sum is no 64-bit number.
  static Counts listed(const std::vector<Count>& counts);

  std::size_t blocks() const { return blocks_; }
  Count total() const { return block(blocks_ - 1).end(); }
  /// Where it lies in the vector of all of them.
  Range block(std::size_t index) const {
    if (begins_.empty()) return {index * each_, each_};
    return {begins_[index], begins_[index + 1] - begins_[index]};
  }
  Count largest() const { return each_; }

 private:
  std::size_t blocks_ = 1;
  Count each_ = 0;             // the largest where they differ
  std::vector<Count> begins_;  // where they differ, and where the last one ends
};

/// A collective on a group. Counts have one block, the vector, for broadcast, reduce, allreduce,
/// scan and exscan; one for each participant in the order of ranks for gather, scatter, allgather
/// and reduce_scatter; for alltoall one for each pair, by sources and then by targets. A barrier is
/// an allreduce of one token, an element without bytes.
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

/// Where what they give and get lies.
Range in_range(const CollectiveSpec& task,
               Rank me);  ///< of `in`, or of `out` at the root of a broadcast
Range out_range(const CollectiveSpec& task, Rank me);  ///< of `out`; empty for who gets nothing
/// Of alltoall: what `source` gives `target`, in the one's `in` and in the other's `out`.
Range given(const CollectiveSpec& task, Rank source, Rank target);
/// The blocks of `out` at `target`, by source.
std::vector<Range> taken(const CollectiveSpec& task, Rank target);

}  // namespace collectives
