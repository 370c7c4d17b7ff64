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
/// values of other clusters. In the last iteration the condition has the opposite outcome. A part
/// of the contributions cannot prove this outcome.
///
/// worst: the condition has this opposite outcome in every iteration, so each cluster waits for all
/// other clusters.
///
/// The contributions for `best` and `worst` are derived from the declared condition. They do not
/// depend on the algorithm. If a part of the contributions can never prove an outcome of the
/// condition, all contributions are zero.
///
/// A file contains a table of numbers. Each row is for an iteration. There is a column for each
/// rank, or a single column for all threads. Blanks, commas or semicolons separate the numbers; #
/// starts a comment. The iteration after the last row uses the first row again.
class Values {
 public:
  /// `which` is "best", "worst" or a file. Throws std::invalid_argument if the outcome of the
  /// condition is the same for all contributions. Throws base::ConfigError with all errors of a
  /// file.
  Values(const Collective& collective, const std::string& which, std::uint64_t iterations,
         std::uint32_t threads);

  base::Payload of(std::uint32_t rank, std::uint64_t iteration) const;
  /// Returns the contribution to warm-up rounds. With it, all clusters wait for each other, so that
  /// they begin the first iteration together. If the contributions come from a file, returns the
  /// contribution in the first row of the file.
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
  // Contribution of rank 0 to the iterations in which the condition has the opposite outcome.
  base::Payload turning_;
  base::Payload turning_others_;  // contribution of each other rank to the same iterations
  std::vector<std::byte> table_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
};

}  // namespace bench
