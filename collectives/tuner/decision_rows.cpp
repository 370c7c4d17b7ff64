// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/decision_rows.cpp — rows of a table of decisions, from the result of a search.
#include "collectives/tuner/decision_rows.hpp"

#include <algorithm>
#include <utility>

#include "collectives/algorithms/all.hpp"

namespace tuner {
namespace {

/// Returns the decision for a row, without its evidence.
Decision decision_of(const Row& row) {
  const auto [name, words] = collectives::split_at_colon(row.family);
  Decision decision;
  decision.up_to = row.up_to;
  decision.algorithm = &collectives::algorithm_named(name);
  decision.parameters = decision.algorithm->read(words);
  for (const collectives::Parameter& parameter : decision.algorithm->parameters)
    if (parameter.is_piece) decision.length = row.length;
  return decision;
}

/// Returns how far the median time of the chosen configuration's runs is above the minimum time of
/// these runs, in percent of the minimum.
double spread_percent(const SizeChoice& choice) {
  for (const Sampled& one : choice.evidence.sampled) {
    if (one.configuration != choice.evidence.chosen || one.samples.empty()) continue;
    std::vector<base::Nanos> sorted = one.samples;
    std::sort(sorted.begin(), sorted.end());
    const auto least = static_cast<double>(std::max<std::int64_t>(sorted.front().count(), 1));
    const base::Nanos above = sorted[(sorted.size() - 1) / 2] - sorted.front();
    return 100.0 * static_cast<double>(above.count()) / least;
  }
  return 0;
}

Evidence evidence_of(const SizeChoice& choice) {
  return {.time = choice.measured.value_or(base::Nanos(0)),
          .predicted = choice.predicted,
          .next = choice.next,
          .next_time = choice.next_measured,
          .runs = choice.evidence.runs,
          .spread = spread_percent(choice)};
}

/// Appends `row` to `rows`. If `row` and the last row of `rows` have the same schedule and are not
/// pinned, extends the last row instead.
void append(std::vector<Decision>& rows, const Decision& row) {
  if (!rows.empty() && !row.is_pinned && !rows.back().is_pinned &&
      rows.back().length == row.length && rows.back().use() == row.use())
    rows.back().up_to = row.up_to;
  else
    rows.push_back(row);
}

}  // namespace

std::vector<Decision> decisions_of(const Table& table) {
  std::vector<Decision> decisions;
  auto choice = table.choices.begin();
  for (const Row& row : table.rows) {
    Decision decision = decision_of(row);
    const SizeChoice* evidence = nullptr;
    for (; choice != table.choices.end() && choice->bytes <= row.up_to; ++choice)
      if (evidence == nullptr || (!evidence->measured && choice->measured)) evidence = &*choice;
    if (evidence != nullptr) {
      decision.why = evidence_of(*evidence);
      if (evidence->is_from_larger) decision.note = "taken because a larger size took less time";
    }
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

std::vector<Row> rows_before(const std::vector<Decision>& decisions) {
  std::vector<Row> rows;
  for (const Decision& one : decisions)
    rows.push_back({one.up_to, one.use(), one.length.value_or(0)});
  return rows;
}

std::vector<Decision> keep_pinned(const std::vector<Decision>& old, std::vector<Decision> rows) {
  Bytes above = 0;  // smallest size that the next row of `old` covers
  for (const Decision& pinned : old) {
    const Bytes first = above;
    if (pinned.up_to != Decision::no_limit) above = pinned.up_to + 1;
    if (!pinned.is_pinned) continue;
    std::vector<Decision> kept;
    Bytes begin = 0;  // smallest size that the next row of `rows` covers
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
