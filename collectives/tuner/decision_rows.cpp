// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/decision_rows.cpp — joining of choices for neighbouring sizes.
#include "collectives/tuner/decision_rows.hpp"

#include <algorithm>
#include <cmath>

namespace tuner {
namespace {

/// Lengths of messages that differ by at most this factor count as alike.
constexpr double alike_factor = 2;

bool are_alike(const Decision& left, const Decision& right) {
  if (left.use() != right.use()) return false;
  const auto one = static_cast<double>(left.length.value_or(0));
  const auto other = static_cast<double>(right.length.value_or(0));
  if (one == 0 || other == 0) return one == other;
  return std::max(one, other) <= alike_factor * std::min(one, other);
}

/// Appends a row, or extends the last one if it has the same schedule.
void append(std::vector<Decision>& rows, const Decision& row) {
  if (!rows.empty() && !row.is_pinned && !rows.back().is_pinned &&
      rows.back().length == row.length && rows.back().use() == row.use())
    rows.back().up_to = row.up_to;
  else
    rows.push_back(row);
}

}  // namespace

std::vector<Decision> rows_of(const std::vector<TunedSize>& sizes) {
  std::vector<Decision> rows;
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    const bool is_last = at + 1 == sizes.size();
    const Bytes limit =
        is_last
            ? Decision::no_limit
            : static_cast<Bytes>(std::sqrt(static_cast<double>(std::max<Bytes>(sizes[at].size, 1)) *
                                           static_cast<double>(sizes[at + 1].size)));
    if (!rows.empty() && are_alike(rows.back(), sizes[at].choice)) {
      rows.back().up_to = limit;
      continue;
    }
    rows.push_back(sizes[at].choice);
    rows.back().up_to = limit;
  }
  return rows;
}

std::vector<Decision> keep_pinned(const std::vector<Decision>& old, std::vector<Decision> rows) {
  Bytes above = 0;  // the first size of the old row
  for (const Decision& pinned : old) {
    const Bytes first = above;
    if (pinned.up_to != Decision::no_limit) above = pinned.up_to + 1;
    if (!pinned.is_pinned) continue;
    std::vector<Decision> kept;
    Bytes begin = 0;  // the first size of the row
    bool has_pinned = false;
    for (const Decision& row : rows) {
      if (begin < first) {
        kept.push_back(row);
        kept.back().up_to = std::min(row.up_to, first - 1);
      }
      if (row.up_to >= first && !has_pinned) {
        kept.push_back(pinned);
        has_pinned = true;
      }
      if (row.up_to > pinned.up_to) kept.push_back(row);
      begin = row.up_to == Decision::no_limit ? row.up_to : row.up_to + 1;
    }
    rows.clear();
    for (const Decision& row : kept) append(rows, row);
  }
  return rows;
}

}  // namespace tuner
