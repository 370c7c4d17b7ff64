// SPDX-License-Identifier: Apache-2.0
// bench/sor/half_row.hpp — relaxes the points of one colour in one row.
#pragma once
#include <cstddef>
#include <cstdint>

namespace bench {

/// Points of one colour in a row, side by side, and where their neighbours are, which have the
/// other colour: point k has above[k], below[k], and side[k] and side[k + 1] in its own row.
struct HalfRow {
  double* own;
  const double* above;
  const double* below;
  const double* side;
  std::size_t count;
};

/// Points whose changes are added up apart from each other, by k modulo this.
inline constexpr std::size_t change_lanes = 8;

/// With which vectors: those of this processor, or what every processor of its kind has.
enum class Vectors : std::uint8_t { widest, narrowest };

/// old + omega * ((((above + below) + left) + right) / 4 - old) for each point; answers the sum of
/// all |new - old|: each lane's by itself in order of k, then
/// ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)). The same bits on every machine, whatever its vectors.
double relax(const HalfRow& points, double omega, Vectors vectors = Vectors::widest);

/// Two half rows at once, with the values and sums of one after the other: `lower`, then the half
/// of the other colour in the row above it, so that lower.above is upper.own and upper.below is
/// lower.own. Cells that both need are read once, and what comes from memory comes evenly.
struct Changes {
  double lower = 0, upper = 0;
};
Changes relax_both(const HalfRow& lower, const HalfRow& upper, double omega,
                   Vectors vectors = Vectors::widest);

}  // namespace bench
