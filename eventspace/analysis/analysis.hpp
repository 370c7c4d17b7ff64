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
  /// Memory for incomplete rounds; beyond it the oldest are given up.
  std::size_t open_rounds_bytes = std::size_t{256} << 20;
  /// Memory for single computations; beyond it the older half is judged with what is known by then.
  std::size_t computations = 6'000'000;
  /// Memory for exact distributions; beyond it they are approximate, within 1%.
  std::size_t exact_bytes = std::size_t{64} << 20;
  /// Memory for beginnings and ends of what crosses between clusters; beyond it the older half is
  /// judged with what is known by then.
  std::size_t transfer_changes = 4'000'000;
  /// All hosts share one clock, so times of two hosts may be compared.
  bool has_common_clock = false;
};

/// Why:    one pass over traces that are larger than memory (Bongo et al. 2004, §III-B). A round is
///         assembled as its records arrive, judged once complete, and dropped.
/// Order:  each host's records in the order they were made; hosts interleaved in chunks of any
/// size,
///         so that all advance at about the same pace.
/// Memory: bounded by the options and the size of the structure, whatever the length of the run.
/// Owns:   its tables; borrows the structure, which must outlive it.
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
