// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/collective_spec.cpp — counts, and layouts of contributions and results.
#include "collectives/schedule/collective_spec.hpp"

#include <limits>
#include <stdexcept>

namespace collectives {

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::broadcast: return "broadcast";
    case Collective::reduce: return "reduce";
    case Collective::allreduce: return "allreduce";
    case Collective::barrier: return "barrier";
    case Collective::gather: return "gather";
    case Collective::scatter: return "scatter";
    case Collective::allgather: return "allgather";
    case Collective::reduce_scatter: return "reduce_scatter";
    case Collective::alltoall: return "alltoall";
    case Collective::scan: return "scan";
    case Collective::exscan: return "exscan";
  }
  return "?";
}

bool has_root(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce ||
         collective == Collective::gather || collective == Collective::scatter;
}

bool is_reduction(Collective collective) {
  return collective == Collective::reduce || collective == Collective::allreduce ||
         collective == Collective::barrier || collective == Collective::reduce_scatter ||
         collective == Collective::scan || collective == Collective::exscan;
}

Counts Counts::each(Count count, std::size_t blocks) {
  if (blocks == 0) throw std::invalid_argument("expected counts, found none");
  if (count > std::numeric_limits<Count>::max() / blocks)
    throw std::invalid_argument("the counts are together more than 64 bits can hold");
  Counts counts;
  counts.blocks_ = blocks;
  counts.each_ = count;
  return counts;
}

Counts Counts::listed(const std::vector<Count>& list) {
  Counts counts = each(0, list.size());
  counts.begins_.push_back(0);
  for (const Count count : list) {
    if (count > std::numeric_limits<Count>::max() - counts.begins_.back())
      throw std::invalid_argument("the counts are together more than 64 bits can hold");
    counts.begins_.push_back(counts.begins_.back() + count);
    counts.each_ = std::max(counts.each_, count);
  }
  return counts;
}

CollectiveSpec make_spec(Collective collective, std::shared_ptr<const Topology> topology,
                         Count count, Rank root) {
  const std::size_t participants = topology->size();
  CollectiveSpec task{collective, std::move(topology), {}, root};
  switch (collective) {
    case Collective::gather:
    case Collective::scatter:
    case Collective::allgather:
    case Collective::reduce_scatter: task.counts = Counts::each(count, participants); break;
    case Collective::alltoall:
      task.counts = Counts::each(count, participants * participants);
      break;
    case Collective::barrier: task.counts = Counts::each(1, 1); break;
    default: task.counts = Counts::each(count, 1);
  }
  return task;
}

Range in_range(const CollectiveSpec& task, Rank me) {
  switch (task.collective) {
    case Collective::broadcast: return me == task.root ? task.vector() : Range{};
    case Collective::scatter: return me == task.root ? task.vector() : Range{};
    case Collective::gather:
    case Collective::allgather: return {0, task.counts.block(me).count};
    case Collective::alltoall: {
      const std::size_t row = std::size_t{me} * task.size();
      return {0, task.counts.block(row + task.size() - 1).end() - task.counts.block(row).offset};
    }
    default: return task.vector();
  }
}

Range out_range(const CollectiveSpec& task, Rank me) {
  switch (task.collective) {
    case Collective::reduce:
    case Collective::gather: return me == task.root ? task.vector() : Range{};
    case Collective::scatter:
    case Collective::reduce_scatter: return {0, task.counts.block(me).count};
    case Collective::exscan: return me == 0 ? Range{} : task.vector();
    case Collective::alltoall: {
      Range all;
      for (Rank source = 0; source < task.size(); ++source)
        all.count += given(task, source, me).count;
      return all;
    }
    default: return task.vector();
  }
}

Range given(const CollectiveSpec& task, Rank source, Rank target) {
  const std::size_t row = std::size_t{source} * task.size();
  const Range block = task.counts.block(row + target);
  return {block.offset - task.counts.block(row).offset, block.count};
}

std::vector<Range> taken(const CollectiveSpec& task, Rank target) {
  std::vector<Range> blocks(task.size());
  Count offset = 0;
  for (Rank source = 0; source < task.size(); ++source) {
    blocks[source] = {offset, given(task, source, target).count};
    offset += blocks[source].count;
  }
  return blocks;
}

}  // namespace collectives
