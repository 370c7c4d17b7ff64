// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/transfer_report.hpp — what crossed between clusters, and how much of
// it at once.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eventspace {

/// What is counted of a path, as long as what.
enum class TransferBasis : std::uint8_t {
  streams,   ///< of its link, as long as each is taken for a frame
  messages,  ///< from when its link began to take one until all of it had arrived
  ends,      ///< messages from sending to arrival, of whose link nothing is known
};
inline constexpr std::size_t transfer_bases = 3;
std::string_view name_of(TransferBasis basis);

/// From one cluster to another, or all of these together. Times are of one clock, from the run's
/// begin on.
struct TransferReport {
  /// From that moment to the next one's.
  struct Point {
    std::int64_t begin_nanos = 0;
    double mean = 0;
    std::uint64_t most = 0;
    friend bool operator==(const Point&, const Point&) = default;
  };
  std::string from, to;  ///< clusters; "" of all
  TransferBasis basis = TransferBasis::messages;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::int64_t first_nanos = 0;   ///< when the first began
  std::int64_t last_nanos = 0;    ///< when the last ended
  std::int64_t used_nanos = 0;    ///< durations of all, added up
  std::uint64_t most = 0;         ///< at once
  double mean = 0;                ///< at once, over the run
  double mean_within = 0;         ///< from first to last
  double mean_until_arrived = 0;  ///< as `mean`, with the latency behind streams
  std::uint64_t streams = 0;      ///< that the path has; 0: any number, or not known
  /// Of the run: in which there was none, at least one, and as many as there are streams.
  double none_share = 1;
  double some_share = 0;
  std::optional<double> all_share;  ///< nothing where `streams` is 0
  std::vector<Point> points;        ///< at most transfer_points_max, and the end
};
inline constexpr std::size_t transfer_points_max = 1024;

struct TransfersReport {
  bool has_several_clusters = false;
  bool has_common_clock = false;  ///< without one nothing is known
  std::int64_t run_nanos = 0;
  TransferReport all;
  std::vector<TransferReport> paths;  ///< those that were used, or have streams
  /// Came when what was at once then had been judged, to save memory: their time is in the means,
  /// and not in what was most.
  std::uint64_t late = 0;
};

}  // namespace eventspace
