// SPDX-License-Identifier: Apache-2.0
// bench/sor/half_row.hpp — relaxation of the points of one colour in one row
#pragma once
#include <cstddef>
#include <cstdint>

namespace bench {

/// Contiguous points of one colour in a row, and their neighbours of the other colour. The
/// neighbours of point k are above[k], below[k], and in its own row side[k] and side[k + 1].
struct HalfRow {
  double* own;
  const double* above;
  const double* below;
  const double* side;
  std::size_t count;
};

/// Number of partial sums of changes. Point k belongs to sum k modulo this number.
inline constexpr std::size_t change_lanes = 8;

/// Choice of vector instructions. `widest`: the widest that this processor has. `narrowest`: only
/// those that every processor of this architecture has.
enum class Vectors : std::uint8_t { widest, narrowest };

/// Sets each point to old + omega * ((((above + below) + left) + right) / 4 - old). Returns the sum
/// of all |new - old|. Each of the partial sums s0 to s7 adds its points in order of k. The total
/// is ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)). The result has the same bits on every
/// machine and with all vectors.
double relax(const HalfRow& points, double omega, Vectors vectors = Vectors::widest);

/// Relaxes two half rows together. Values and sums are the same as if `lower` was relaxed first and
/// then `upper`. `upper` is in the row above `lower` and has the opposite colour: lower.above is
/// upper.own, and upper.below is lower.own. Cells that both half rows use are read only once.
struct Changes {
  double lower = 0, upper = 0;
};
Changes relax_both(const HalfRow& lower, const HalfRow& upper, double omega,
                   Vectors vectors = Vectors::widest);

}  // namespace bench
