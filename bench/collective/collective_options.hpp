// SPDX-License-Identifier: Apache-2.0
// bench/collective/collective_options.hpp — options of the program `collective`
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

/// Options: the collectives to measure, the number of measurements, and the output.
struct CollectiveOptions {
  std::string collectives;  ///< names separated by commas, such as "broadcast,allreduce"
  std::string sizes = "8:1MiB";
  std::uint64_t iterations = 5;
  std::uint64_t warmup = 1;
  /// Number of consecutive calls in an iteration. The measured time of the iteration is the mean
  /// time of these calls.
  std::uint64_t consecutive = 1;
  bool shows_all = false;
  bool checks = false;
  bool prices_only = false;
  bool overlaps = false;
  /// Whether all threads use the same arrays. If so, results are undefined.
  bool shares_arrays = false;
  bool maps_arrays = false;  ///< whether the arrays are those of Group::mapped_array()
  std::string schedule;  ///< "" = `tuned` if the config has a table of decisions, otherwise `best`
  std::string links = {};  ///< file of measured links that `paths measure` wrote
  std::string operation = "sum";
  std::string root = "0";  ///< rank, or "each"
  std::size_t window = 0;  ///< maximum number of unfinished steps, as in groups::Call
  std::size_t ports = 0;   ///< number of receiving ports, as in groups::Call
  std::string json;
};

}  // namespace bench
