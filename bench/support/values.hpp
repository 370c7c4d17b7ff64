// SPDX-License-Identifier: Apache-2.0
// bench/support/values.hpp — what each thread contributes in each iteration.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/payload.hpp"
#include "bench/support/collective.hpp"

namespace bench {

/// Contributions for every thread and iteration (counted from 0).
///
/// best:  every contribution proves the condition by itself, so that a cluster knows without the
///        others; but in the last iteration the condition turns, which needs every contribution.
/// worst: the condition turns in every iteration, so that nothing is ever proved by a part.
/// Both are made from the declared condition, and are the same whatever the algorithm. Without a
/// condition that a part can establish, every contribution is zero.
///
/// A file holds a table of numbers: a row for an iteration, a column for each thread's rank or one
/// for all, separated by blanks, commas or semicolons; what follows a # is a comment. The first row
/// follows the last.
class Values {
 public:
  /// `which` is "best", "worst" or a file. Throws std::invalid_argument when the condition cannot
  /// turn, and base::ConfigError with all that is wrong with a file.
  Values(const Collective& collective, const std::string& which, std::uint64_t iterations,
         std::uint32_t threads);

  base::Payload of(std::uint32_t rank, std::uint64_t iteration) const;
  /// For rounds before the first iteration: one that all clusters must wait for, so that they
  /// begin together. Of a file, its first row.
  base::Payload warming_up(std::uint32_t rank) const;

 private:
  enum class Set : std::uint8_t { best, worst, table };
  void choose(const Collective& collective);
  void read_table(const std::string& file, std::uint32_t threads);
  base::Payload turning(std::uint32_t rank) const;
  base::Payload cell(std::uint32_t rank, std::uint64_t iteration) const;

  Set set_ = Set::best;
  std::uint64_t iterations_;
  base::Scalar scalar_;
  base::Payload proving_;         // of every thread
  base::Payload turning_;         // of rank 0
  base::Payload turning_others_;  // of the others
  std::vector<std::byte> table_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
};

}  // namespace bench
