// SPDX-License-Identifier: Apache-2.0
// bench/sor/reference.cpp — sequential relaxation, cell by cell
#include "bench/sor/reference.hpp"

#include <cmath>
#include <utility>

namespace bench {

ReferenceSolver::ReferenceSolver(const DataSet& data, double omega,
                                 std::vector<ReferenceThread> threads)
    : size_(data.size()),
      omega_(omega),
      threads_(std::move(threads)),
      cells_(size_ * size_),
      row_changes_{std::vector<double>(size_), std::vector<double>(size_)},
      changes_(threads_.size()) {
  for (std::size_t row = 0; row < size_; ++row)
    data.fill_row(row, std::span(cells_).subspan(row * size_, size_));
}

std::span<const double> ReferenceSolver::row(std::size_t row) const {
  return std::span(cells_).subspan(row * size_, size_);
}

double ReferenceSolver::iterate() {
  for (std::size_t colour = 0; colour < 2; ++colour)
    for (std::size_t row = 1; row + 1 < size_; ++row) relax_row(row, colour);
  for (std::size_t rank = 0; rank < threads_.size(); ++rank)
    changes_[rank] = change_of(threads_[rank]);
  return sum_of_changes();
}

void ReferenceSolver::relax_row(std::size_t row, std::size_t colour) {
  double* const cells = cells_.data() + row * size_;
  double lanes[8] = {};
  for (std::size_t column = 1; column + 1 < size_; ++column) {
    if ((row + column) % 2 != colour) continue;
    const double old = cells[column];
    const double up = cells_[(row - 1) * size_ + column];
    const double down = cells_[(row + 1) * size_ + column];
    const double mean = (up + down + cells[column - 1] + cells[column + 1]) / 4;
    cells[column] = old + omega_ * (mean - old);
    lanes[(column - 1) / 2 % 8] += std::fabs(cells[column] - old);
  }
  row_changes_[colour][row] = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                              ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

double ReferenceSolver::change_of(const ReferenceThread& thread) const {
  double sum = 0;
  for (std::size_t row = thread.row_begin; row < thread.row_end; ++row)
    sum += row_changes_[0][row] + row_changes_[1][row];
  return sum;
}

double ReferenceSolver::sum_of_changes() const {
  double of_all = 0, of_cluster = 0, of_host = 0;
  for (std::size_t rank = 0; rank < threads_.size(); ++rank) {
    of_host += changes_[rank];
    const bool is_last = rank + 1 == threads_.size();
    const bool ends_cluster = is_last || threads_[rank].cluster != threads_[rank + 1].cluster;
    if (ends_cluster || threads_[rank].host != threads_[rank + 1].host)
      of_cluster += std::exchange(of_host, 0);
    if (ends_cluster) of_all += std::exchange(of_cluster, 0);
  }
  return of_all;
}

}  // namespace bench
