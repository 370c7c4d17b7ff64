// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/decision_rows.hpp — rows of a table of decisions, from the result of a search.
#pragma once
#include <vector>

#include "collectives/tuner/decision_table.hpp"
#include "collectives/tuner/tables.hpp"

namespace tuner {

/// Returns the rows of a table as decisions. A row can cover several sizes of the table. Its
/// evidence comes from the first size that was measured, or from its first size if none was
/// measured.
/// Requires: the names of the families come from schedules_of().
std::vector<Decision> decisions_of(const Table& table);

/// Returns the rows of a table from its decisions, for TableTask::before.
std::vector<Row> rows_before(const std::vector<Decision>& decisions);

/// Returns `rows`, with the pinned rows of `old` in place of all rows for the sizes that pinned
/// rows cover.
std::vector<Decision> keep_pinned(const std::vector<Decision>& old, std::vector<Decision> rows);

}  // namespace tuner
