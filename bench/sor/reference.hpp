// SPDX-License-Identifier: Apache-2.0
// bench/sor/reference.hpp — the solver written down plainly, to compare with.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "bench/sor/data_set.hpp"

namespace bench {

/// Which thread has which rows, and where it is: for the order in which changes are added up.
struct ReferenceThread {
  std::size_t cluster = 0, host = 0;
  std::size_t row_begin = 0, row_end = 0;
};

/// One thread, one array, scalar numbers; shares with the parallel solver the data set, and no
/// line of what computes. Adds up all changes of an iteration as every algorithm does: of each
/// thread, of the threads of a host, of the hosts of a cluster, of the clusters.
class ReferenceSolver {
 public:
  /// `threads` in order of their rank.
  ReferenceSolver(const DataSet& data, double omega, std::vector<ReferenceThread> threads);

  /// Answers the sum of all changes.
  double iterate();
  /// Of the last iteration, by rank.
  std::span<const double> changes() const { return changes_; }
  std::span<const double> row(std::size_t row) const;

 private:
  void relax_row(std::size_t row, std::size_t colour);
  double change_of(const ReferenceThread& thread) const;
  double sum_of_changes() const;

  std::size_t size_;
  double omega_;
  std::vector<ReferenceThread> threads_;
  std::vector<double> cells_;
  std::vector<double> row_changes_[2];
  std::vector<double> changes_;
};

}  // namespace bench
