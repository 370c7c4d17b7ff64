// SPDX-License-Identifier: Apache-2.0
// bench/sor/reference.hpp — simple sequential solver for comparison
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "bench/sor/data_set.hpp"

namespace bench {

/// Rows and location of a thread. Rows and locations determine the order in which ReferenceSolver
/// adds changes.
struct ReferenceThread {
  std::size_t cluster = 0, host = 0;
  std::size_t row_begin = 0, row_end = 0;
};

/// A solver with one thread, one array and scalar numbers. It shares the data set with the parallel
/// solver, but no code of the computation. It adds the changes of an iteration in the canonical
/// order: first within each thread, then within each host, then within each cluster, and last over
/// the clusters.
class ReferenceSolver {
 public:
  /// Requires: `threads` is in order of rank.
  ReferenceSolver(const DataSet& data, double omega, std::vector<ReferenceThread> threads);

  /// Does one iteration. Returns the sum of all changes.
  double iterate();
  /// Returns each thread's sum of changes in the last iteration, indexed by rank.
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
