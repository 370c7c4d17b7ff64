// SPDX-License-Identifier: Apache-2.0
// bench/collective/times_row.hpp — times of one collective of one size, as text and JSON
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "bench/collective/collective_options.hpp"
#include "collectives/cost/evaluator.hpp"

namespace bench {

/// Times of one collective of one size.
struct TimesRow {
  collectives::Collective collective;
  std::uint64_t bytes = 0;
  std::vector<std::string> algorithms = {};  ///< names of the schedules, indexed by root
  /// Measured times: those of all iterations with the first root, then those with the next root,
  /// and so on. Empty with `prices_only`.
  std::vector<base::Nanos> times = {};
  /// For each iteration: the time of a computation with a call under way, divided by the time of a
  /// call alone.
  std::vector<double> overlapped = {};
  std::vector<pricing::Price> prices = {};  ///< predicted times, indexed by root
  base::Nanos bound{0};                     ///< lower bound; the mean over roots
  base::Nanos price() const;                ///< predicted time; the mean over roots
  std::string algorithm() const;            ///< name; if roots differ, the number of names
  /// Returns the sum of the count `what` of traffic between clusters, over all roots.
  std::uint64_t wan(std::uint64_t pricing::Flow::*what) const;
};

/// Prints the names of the columns.
void print_head(const CollectiveOptions& options, collectives::Collective collective,
                std::uint32_t members);
void print_row(const CollectiveOptions& options, const TimesRow& row);
nlohmann::ordered_json json_of(const TimesRow& row);

double milliseconds(base::Nanos time);
/// Returns a percentile of the times, by the nearest-rank method. Requires: `times` is not empty.
base::Nanos percentile(std::vector<base::Nanos> times, std::size_t percent);

}  // namespace bench
