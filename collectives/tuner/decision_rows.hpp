// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/decision_rows.hpp — rows of a table of decisions, from the result of a search.
#pragma once
#include <vector>

#include "collectives/tuner/decision_table.hpp"
#include "collectives/tuner/tables.hpp"

namespace tuner {

/// Returns the rows of a table as decisions. A row can cover several sizes of the table. The row
/// has the evidence of the first measured size that it covers. If no size of the row was measured,
/// it has the evidence of its first size.
/// Requires: the names of the families come from schedules_of().
std::vector<Decision> decisions_of(const Table& table);

/// Converts the decisions of an earlier table to rows, for TableTask::before.
std::vector<Row> rows_before(const std::vector<Decision>& decisions);

/// Returns `rows` with the pinned rows of `old` inserted. For the sizes that a pinned row covers,
/// the pinned row replaces the other rows.
std::vector<Decision> keep_pinned(const std::vector<Decision>& old, std::vector<Decision> rows);

}  // namespace tuner
