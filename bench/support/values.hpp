// SPDX-License-Identifier: Apache-2.0
// bench/support/values.hpp — contributions of each thread in each iteration
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/payload.hpp"
#include "bench/support/collective.hpp"

namespace bench {

/// Contributions of each thread in each iteration (counted from 0).
///
/// best: each contribution alone proves the outcome of the condition, so a cluster decides without
/// the others. In the last iteration the outcome changes, which no part of the contributions
/// proves.
/// worst: the outcome changes in every iteration, so some of the contributions never prove it.
///
/// Both are derived from the declared condition, and do not depend on the algorithm. If no part of
/// the contributions can ever prove the condition, all contributions are zero.
///
/// A file holds a table of numbers. Each row is an iteration; the columns are the ranks, or one
/// column for all threads. Blanks, commas or semicolons separate the numbers; # starts a comment.
/// After the last row, the first one follows.
class Values {
 public:
  /// `which` is "best", "worst" or a file. Throws std::invalid_argument if the outcome of the
  /// condition is the same for all contributions. Throws base::ConfigError with all errors of a
  /// file.
  Values(const Collective& collective, const std::string& which, std::uint64_t iterations,
         std::uint32_t threads);

  base::Payload of(std::uint32_t rank, std::uint64_t iteration) const;
  /// Returns the contribution to warm-up rounds. It makes all clusters wait for each other, so that
  /// they begin the first iteration together. If the contributions come from a file, returns the
  /// contribution in its first row.
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
  // Contribution of each thread to the iterations in which every contribution alone proves the
  // outcome of the condition.
  base::Payload proving_;
  // Contributions to the iterations in which the condition has the opposite outcome.
  base::Payload turning_;         // contribution of rank 0
  base::Payload turning_others_;  // contribution of each other rank
  std::vector<std::byte> table_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
};

}  // namespace bench
