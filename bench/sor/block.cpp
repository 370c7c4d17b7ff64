// SPDX-License-Identifier: Apache-2.0
// bench/sor/block.cpp — order in which a block's rows are relaxed
#include "bench/sor/block.hpp"

namespace bench {

Block::Block(const DataSet& data, RowRange rows, double omega, bool above, bool below)
    : rows_(rows),
      omega_(omega),
      above_(above),
      below_(below),
      cells_(data, {rows.begin - 1, rows.end + 1}) {
  changes_.fill(std::vector<double>(rows.size()));
}

double& Block::change_of(std::size_t row, Colour colour) {
  return changes_[static_cast<std::size_t>(colour)][row - rows_.begin];
}

void Block::relax(std::size_t row, Colour colour) {
  change_of(row, colour) = cells_.update(row, colour, omega_);
}

std::size_t Block::relax_border(Colour colour) {
  if (above_) relax(rows_.begin, colour);
  const bool is_other_row = !above_ || rows_.size() > 1;
  if (below_ && is_other_row) relax(rows_.end - 1, colour);
  return (above_ ? 1 : 0) + (below_ && is_other_row ? 1 : 0);
}

std::size_t Block::relax_inside() {
  const std::size_t begin = rows_.begin + (above_ ? 1 : 0);
  const std::size_t end = rows_.end - (below_ ? 1 : 0);
  if (begin >= end) return 0;
  relax(begin, Colour::red);
  for (std::size_t row = begin + 1; row < end; ++row) {
    const Changes changes = cells_.update_both(row, omega_);
    change_of(row, Colour::red) = changes.lower;
    change_of(row - 1, Colour::black) = changes.upper;
  }
  relax(end - 1, Colour::black);
  return 2 * (end - begin);
}

double Block::change(RowRange rows) const {
  double sum = 0;
  for (std::size_t row = rows.begin; row < rows.end; ++row)
    sum += changes_[0][row - rows_.begin] + changes_[1][row - rows_.begin];
  return sum;
}

}  // namespace bench
