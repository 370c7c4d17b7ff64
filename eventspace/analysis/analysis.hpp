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
  /// Maximum number of bytes for incomplete rounds. When it is exceeded, the oldest rounds are
  /// dropped.
  std::size_t open_rounds_bytes = std::size_t{256} << 20;
  /// Maximum number of computations in memory. When it is exceeded, the older half is classified as
  /// slow, late or noisy by the mean values so far, and removed.
  std::size_t computations = 6'000'000;
  /// Maximum number of bytes for exact distributions. Beyond it, quantiles are approximate, within
  /// 1%.
  std::size_t exact_bytes = std::size_t{64} << 20;
  /// Maximum number of begins and ends of transfers between clusters in memory. When it is
  /// exceeded, the older half is evaluated immediately instead of at the end of the analysis.
  std::size_t transfer_changes = 4'000'000;
  /// Maximum number of records of operations that are kept for the division of time, about 90 bytes
  /// each. If the run has more, the division covers only the first part of the run.
  std::size_t divided_operations = 12'000'000;
  /// Maximum number of parts in the timeline of the page. A part is a time of one thread with one
  /// operation and one cause. 0 = no timeline.
  std::size_t timeline_parts = 0;
  /// Questions about the run after changes, such as a faster link. The report contains the answers.
  Questions questions = {};
  /// Least cost of a finding, as a share of the run's time. Cheaper ones are not named.
  double name_from_share = eventspace::name_from_share;
  /// Whether all hosts share one clock, so that times of two hosts may be compared.
  bool has_common_clock = false;
};

/// Computes a report in one pass, so that traces may be larger than memory. A round is assembled
/// from its records as they arrive. When the round is complete, its figures are computed and it is
/// dropped.
///
/// Order:  The records of a host must arrive in the order in which they were made. Hosts may
///         interleave in chunks of any size, as long as all advance at about the same pace.
/// Memory: Bounded by the options and the size of the structure, independent of the length of the
/// run.
/// Owns:   Its tables. Borrows the structure, which must outlive it.
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
