// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/cell_numbers.cpp — extent of each buffer and numbers of its cells.
#include "collectives/schedule/cell_numbers.hpp"

namespace collectives {

CellNumbers::CellNumbers(const CollectiveSpec& task, const Schedule& schedule) {
  for (Rank rank = 0; rank < schedule.size(); ++rank) {
    const std::size_t begin = all_.size();
    begins_.push_back(begin);
    const Range given = in_range(task, rank);
    all_.push_back({in, given.end()});
    all_.push_back({out, std::max(given.end(), out_range(task, rank).end())});
    const Steps& steps = schedule[rank];
    for (std::size_t index = 0; index < steps.size(); ++index)
      for (const Block& block : steps[index].blocks) touch(begin, block);
    for (std::size_t at = begin; at < all_.size(); ++at) {
      all_[at].first = count_;
      count_ += all_[at].count;
    }
  }
  begins_.push_back(all_.size());
}

void CellNumbers::touch(std::size_t begin, const Block& block) {
  std::size_t at = begin;
  while (at < all_.size() && all_[at].buffer != block.buffer) ++at;
  if (at == all_.size()) all_.push_back({block.buffer});
  all_[at].count = std::max(all_[at].count, block.cells.end());
}

}  // namespace collectives
