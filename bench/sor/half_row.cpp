// SPDX-License-Identifier: Apache-2.0
// bench/sor/half_row.cpp — relaxation loop, compiled for several widths of vectors
#include "bench/sor/half_row.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace bench {
namespace {

using Lanes = double[change_lanes];

/// Number of cells by which a prefetch is ahead of the relaxation. Only cells that the relaxation
/// of the previous row did not read are prefetched. The prefetcher of the hardware is not
/// sufficient, because it restarts at each page.
constexpr std::size_t cells_ahead = 256;

/// Relaxes the points from `begin` on. Requires: `begin` is a multiple of change_lanes.
void relax_one_by_one(const HalfRow& points, std::size_t begin, double omega, Lanes& lanes) {
  for (std::size_t k = begin; k < points.count; ++k) {
    const double old = points.own[k];
    const double around =
        ((points.above[k] + points.below[k]) + points.side[k]) + points.side[k + 1];
    const double now = old + omega * (around * 0.25 - old);
    points.own[k] = now;
    lanes[k % change_lanes] += std::abs(now - old);
  }
}

template <std::size_t width>
struct Wide {
  using Vector [[gnu::vector_size(width * sizeof(double))]] = double;
  using Bits [[gnu::vector_size(width * sizeof(double))]] = std::int64_t;
};

/// Loads a vector. This function and its callers are inlined into functions that are compiled for
/// one kind of processor. Vectors are never passed by value, because the calling convention for
/// vectors depends on the kind of processor.
template <class Vector>
[[gnu::always_inline]] inline void load(Vector& vector, const double* cells) {
  std::memcpy(&vector, cells, sizeof vector);
}

/// Relaxes the points of the vector `own` and adds their changes to `sum`.
template <std::size_t width, class Vector = typename Wide<width>::Vector>
[[gnu::always_inline]] inline void relax_vector(Vector& own, const Vector& above,
                                                const Vector& below, const double* side,
                                                double omega, Vector& sum) {
  using Bits = typename Wide<width>::Bits;
  constexpr std::int64_t all_but_sign = INT64_MAX;
  Vector left, right;
  load(left, side);
  load(right, side + 1);
  const Vector old = own;
  const Vector around = ((above + below) + left) + right;
  own = old + omega * (around * 0.25 - old);
  sum += reinterpret_cast<Vector>(reinterpret_cast<Bits>(own - old) & all_but_sign);
}

template <std::size_t width, class Vector = typename Wide<width>::Vector>
[[gnu::always_inline]] inline void relax_at(const HalfRow& points, std::size_t at, double omega,
                                            Vector& sum) {
  Vector own, above, below;
  load(own, points.own + at);
  load(above, points.above + at);
  load(below, points.below + at);
  relax_vector<width>(own, above, below, points.side + at, omega, sum);
  std::memcpy(points.own + at, &own, sizeof own);
}

template <std::size_t width, class Vector = typename Wide<width>::Vector>
[[gnu::always_inline]] inline void relax_both_at(const HalfRow& lower, const HalfRow& upper,
                                                 std::size_t at, double omega, Vector& lower_sum,
                                                 Vector& upper_sum) {
  Vector own, below, upper_own, upper_above;
  __builtin_prefetch(lower.own + at + cells_ahead, 1);
  __builtin_prefetch(lower.below + at + cells_ahead);
  load(own, lower.own + at);
  load(below, lower.below + at);
  load(upper_own, upper.own + at);
  load(upper_above, upper.above + at);
  relax_vector<width>(own, upper_own, below, lower.side + at, omega, lower_sum);
  std::memcpy(lower.own + at, &own, sizeof own);
  relax_vector<width>(upper_own, upper_above, own, upper.side + at, omega, upper_sum);
  std::memcpy(upper.own + at, &upper_own, sizeof upper_own);
}

/// The partial sums of changes, in vectors. The vectors are named members, because the compiler
/// might keep an array in memory instead of in registers. With wide vectors, only the first members
/// are used.
template <std::size_t width>
struct Sums {
  typename Wide<width>::Vector first = {}, second = {}, third = {}, fourth = {};

  [[gnu::always_inline]] void put(Lanes& lanes) const {
    constexpr std::size_t bytes = sizeof first;
    std::memcpy(lanes, &first, bytes);
    if constexpr (width <= 4) std::memcpy(lanes + width, &second, bytes);
    if constexpr (width <= 2) std::memcpy(lanes + 2 * width, &third, bytes);
    if constexpr (width <= 2) std::memcpy(lanes + 3 * width, &fourth, bytes);
  }
};

std::size_t whole_groups(const HalfRow& points) {
  return points.count / change_lanes * change_lanes;
}

double sum_of(const Lanes& lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/// Relaxes all points that belong to complete groups of `change_lanes` points.
template <std::size_t width>
[[gnu::always_inline]] inline void relax_groups(const HalfRow& points, double omega, Lanes& lanes) {
  const std::size_t end = whole_groups(points);
  Sums<width> sums;
  for (std::size_t k = 0; k < end; k += change_lanes) {
    relax_at<width>(points, k, omega, sums.first);
    if constexpr (width <= 4) relax_at<width>(points, k + width, omega, sums.second);
    if constexpr (width <= 2) relax_at<width>(points, k + 2 * width, omega, sums.third);
    if constexpr (width <= 2) relax_at<width>(points, k + 3 * width, omega, sums.fourth);
  }
  sums.put(lanes);
}

template <std::size_t width>
[[gnu::always_inline]] inline void relax_groups(const HalfRow& lower, const HalfRow& upper,
                                                double omega, Lanes& lower_lanes,
                                                Lanes& upper_lanes) {
  const std::size_t end = whole_groups(lower);
  Sums<width> down, up;
  for (std::size_t k = 0; k < end; k += change_lanes) {
    relax_both_at<width>(lower, upper, k, omega, down.first, up.first);
    if constexpr (width <= 4)
      relax_both_at<width>(lower, upper, k + width, omega, down.second, up.second);
    if constexpr (width <= 2)
      relax_both_at<width>(lower, upper, k + 2 * width, omega, down.third, up.third);
    if constexpr (width <= 2)
      relax_both_at<width>(lower, upper, k + 3 * width, omega, down.fourth, up.fourth);
  }
  down.put(lower_lanes);
  up.put(upper_lanes);
}

/// The relax functions that are compiled for one kind of processor.
struct Kernels {
  void (*relax)(const HalfRow&, double, Lanes&);
  void (*relax_both)(const HalfRow&, const HalfRow&, double, Lanes&, Lanes&);
};

constexpr Kernels narrowest = {
    [](const HalfRow& points, double omega, Lanes& lanes) {
      relax_groups<2>(points, omega, lanes);
    },
    [](const HalfRow& lower, const HalfRow& upper, double omega, Lanes& lower_lanes,
       Lanes& upper_lanes) { relax_groups<2>(lower, upper, omega, lower_lanes, upper_lanes); }};

#if defined(__x86_64__)
// Each function clears the upper halves of the vector registers at its end. Otherwise each later
// scalar operation would be slower. The compiler does not clear these halves itself in these
// functions.
[[gnu::target("avx2")]] void relax_avx2(const HalfRow& points, double omega, Lanes& lanes) {
  relax_groups<4>(points, omega, lanes);
  __builtin_ia32_vzeroupper();
}
[[gnu::target("avx2")]] void relax_both_avx2(const HalfRow& lower, const HalfRow& upper,
                                             double omega, Lanes& lower_lanes, Lanes& upper_lanes) {
  relax_groups<4>(lower, upper, omega, lower_lanes, upper_lanes);
  __builtin_ia32_vzeroupper();
}
[[gnu::target("avx512f")]] void relax_avx512(const HalfRow& points, double omega, Lanes& lanes) {
  relax_groups<8>(points, omega, lanes);
  __builtin_ia32_vzeroupper();
}
[[gnu::target("avx512f")]] void relax_both_avx512(const HalfRow& lower, const HalfRow& upper,
                                                  double omega, Lanes& lower_lanes,
                                                  Lanes& upper_lanes) {
  relax_groups<8>(lower, upper, omega, lower_lanes, upper_lanes);
  __builtin_ia32_vzeroupper();
}
#endif

Kernels find_widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {relax_avx512, relax_both_avx512};
  if (__builtin_cpu_supports("avx2")) return {relax_avx2, relax_both_avx2};
#endif
  return narrowest;
}

const Kernels& kernels(Vectors vectors) {
  static const Kernels widest = find_widest();
  return vectors == Vectors::widest ? widest : narrowest;
}

}  // namespace

double relax(const HalfRow& points, double omega, Vectors vectors) {
  Lanes lanes;
  kernels(vectors).relax(points, omega, lanes);
  relax_one_by_one(points, whole_groups(points), omega, lanes);
  return sum_of(lanes);
}

Changes relax_both(const HalfRow& lower, const HalfRow& upper, double omega, Vectors vectors) {
  Lanes lower_lanes, upper_lanes;
  kernels(vectors).relax_both(lower, upper, omega, lower_lanes, upper_lanes);
  relax_one_by_one(lower, whole_groups(lower), omega, lower_lanes);
  relax_one_by_one(upper, whole_groups(upper), omega, upper_lanes);
  return {sum_of(lower_lanes), sum_of(upper_lanes)};
}

}  // namespace bench
