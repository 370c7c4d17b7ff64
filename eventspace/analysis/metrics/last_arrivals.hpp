// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/last_arrivals.hpp — last arrivals at the joins of a round.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "eventspace/analysis/input/rounds.hpp"
#include "eventspace/analysis/input/shape.hpp"

namespace eventspace {

/// The last arrivals at the joins of one round. They decide which thread was critical.
class LastArrivals {
 public:
  explicit LastArrivals(const Shape& shape);

  /// Finds the last arrival of a round at a join. Returns the time of this arrival; nullopt if a
  /// contributor has no record.
  std::optional<std::int64_t> add(const Round& round, std::uint32_t join);
  /// Returns the contributor (Probe) that arrived last at a join, or none.
  std::uint32_t last(std::uint32_t join) const { return last_[join]; }
  /// Returns the leaf of the thread for which the round of the tree `number` waited, or none.
  /// Requires: add() was called for all joins of the tree.
  std::uint32_t critical_leaf(std::uint32_t number) const;
  /// Returns the lead (RoundNote::lead_nanos) of the thread whose path begins at this Probe
  /// (contributor at a collector). Each join on the path has a time between its last two arrivals;
  /// the lead is the least of these times.
  std::int64_t lead_of(std::uint32_t probe) const;

 private:
  const Shape& shape_;
  std::vector<std::uint32_t> last_;
  std::vector<std::int64_t> lead_;  // time between the last two arrivals at each join
};

}  // namespace eventspace
