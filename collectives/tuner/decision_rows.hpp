// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/decision_rows.hpp — rows of a table from the choices of a search.
#pragma once
#include <vector>

#include "collectives/tuner/decision_table.hpp"

namespace tuner {

/// The choice of a search for one size.
struct TunedSize {
  Bytes size = 0;
  Decision choice;  ///< its `up_to` has no meaning
};

/// Returns the rows for these choices. Neighbouring sizes with the same schedule, whose lengths
/// differ by at most a factor of 2, share a row. A row ends at the geometric mean of its largest
/// size and the next one.
/// Requires: the sizes ascend, and there is at least one.
std::vector<Decision> rows_of(const std::vector<TunedSize>& sizes);

/// Returns `rows`, but with the pinned rows of `old` for the sizes that they had.
std::vector<Decision> keep_pinned(const std::vector<Decision>& old, std::vector<Decision> rows);

}  // namespace tuner
