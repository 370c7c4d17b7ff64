// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/analysis.hpp — from streams of records to a report.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "eventspace/analysis/report/report.hpp"
#include "eventspace/record.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

struct AnalysisOptions {
  /// For rounds of which not all records have come: when they are more, the oldest are given up.
  std::size_t open_rounds_bytes = std::size_t{256} << 20;
  /// Of single computations; when they are more, the older half is judged by what is known then.
  std::size_t computations = 6'000'000;
  /// For distributions while they are exact; afterwards within 1%.
  std::size_t exact_bytes = std::size_t{64} << 20;
  /// The times of all hosts are of one clock, so that those of two hosts may be compared.
  bool has_common_clock = false;
};

/// Why:    one pass over traces that are larger than memory. Rounds are put together as their
///         records come, judged when whole, and dropped.
/// Order:  records of a host as they were made; hosts in chunks of any size, such that they advance
///         about together.
/// Memory: bounded by the options and the size of the structure, whatever the length of the run.
/// Owns:   nothing of the structure, which must live as long.
class Analysis {
 public:
  explicit Analysis(const Structure& structure, const AnalysisOptions& options = {});
  ~Analysis();
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  void add(std::uint32_t host, std::span<const EventRecord> records);
  Report finish();  ///< once, when there are no more records

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace eventspace
