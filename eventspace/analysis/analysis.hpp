// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/analysis.hpp — analysis of record streams into a report.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "eventspace/analysis/report/predictions.hpp"
#include "eventspace/analysis/report/report.hpp"
#include "eventspace/record.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

struct AnalysisOptions {
  /// Maximum number of bytes for incomplete rounds. When they need more, the oldest rounds are
  /// dropped.
  std::size_t open_rounds_bytes = std::size_t{256} << 20;
  /// Maximum number of computations in memory. When there are more, the mean values so far classify
  /// the older half as slow, late or noisy. The older half is then removed.
  std::size_t computations = 6'000'000;
  /// Maximum number of bytes for exact distributions. If distributions need more, their quantiles
  /// are approximate, within 1%.
  std::size_t exact_bytes = std::size_t{64} << 20;
  /// Maximum number of begins and ends of transfers between clusters in memory. When there are
  /// more, the older half is evaluated immediately instead of at the end of the analysis.
  std::size_t transfer_changes = 4'000'000;
  /// Maximum number of records of operations that are kept for the division of time. Each takes
  /// about 90 bytes. If the run has more records, the division covers only the first part of the
  /// run.
  std::size_t divided_operations = 12'000'000;
  /// Maximum number of parts in the timeline of the page. A part is a span in the time of one
  /// thread, with one operation and one cause. 0 = no timeline.
  std::size_t timeline_parts = 0;
  /// Questions about the run after changes, such as a faster link. The report contains the answers.
  Questions questions = {};
  /// Least cost of a finding that the report names, as a share of the run's time.
  double name_from_share = eventspace::name_from_share;
  /// Whether all hosts share one clock, so that times of two hosts may be compared.
  bool has_common_clock = false;
};

/// Computes a report in one pass, so that traces may be larger than memory. A round is assembled
/// from its records as they arrive. When a round is complete, its figures are computed and the
/// round is dropped.
///
/// Order:  The records of each host must be added in the order in which the host made them. Records
///         of different hosts may alternate in chunks of any size, if all hosts advance at about
///         the same pace.
/// Memory: Bounded by the options and the size of the structure, independent of the length of the
/// run.
/// Owns:   Its tables. Borrows the structure, which must outlive the Analysis.
/// Paper:  Bongo et al. 2004, §III-B.
class Analysis {
 public:
  explicit Analysis(const Structure& structure, const AnalysisOptions& options = {});
  ~Analysis();
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  void add(std::uint32_t host, std::span<const EventRecord> records);
  Report finish();  ///< call once, after the last record

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace eventspace
