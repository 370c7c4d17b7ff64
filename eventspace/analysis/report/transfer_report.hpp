// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/transfer_report.hpp — figures of data that crossed between clusters.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "eventspace/analysis/report/fields.hpp"

namespace eventspace {

/// Kind of data that counts as a transfer between two clusters, and the time during which the data
/// count.
enum class TransferBasis : std::uint8_t {
  streams,  ///< streams of the link; a stream counts while a frame occupies it
  /// Messages on the link. A message counts from when the link begins to accept it until all of it
  /// has arrived.
  messages,
  ends,  ///< messages, if the link has no records; a message counts from its send to its arrival
};
inline constexpr std::size_t transfer_bases = 3;
inline constexpr std::array<std::string_view, transfer_bases> transfer_basis_names = {
    "streams", "messages", "ends"};
constexpr std::string_view name_of(TransferBasis basis) {
  return name_in(transfer_basis_names, basis);
}

inline constexpr std::size_t transfer_points_max = 1024;

/// Transfers from one cluster to another, or between all clusters together. Times are on one clock
/// and count from the begin of the run.
struct TransferReport {
  struct Point {
    std::int64_t begin_nanos = 0;
    double mean = 0;
    std::uint64_t most = 0;
    friend bool operator==(const Point&, const Point&) = default;
  };
  std::string from, to;  ///< names of the clusters; "" = all clusters together
  TransferBasis basis = TransferBasis::messages;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::int64_t first_nanos = 0;
  std::int64_t last_nanos = 0;
  std::int64_t used_nanos = 0;
  std::uint64_t most = 0;
  double mean = 0;
  double mean_within = 0;
  double mean_until_arrived = 0;
  std::uint64_t streams = 0;  ///< 0 = unlimited or unknown
  double none_share = 1;
  double some_share = 0;
  std::optional<double> all_share;
  /// Curve of the transfers under way: a point for the begin of each step, and a last point for the
  /// end of the curve. The curve has at most transfer_points_max steps.
  std::vector<Point> points;
};

template <class Visitor>
void describe(Visitor& visit, const TransferReport& one) {
  visit.object("transfer_path",
               "Data that crossed from one cluster to another, or on all such paths together.");
  const Presence path = left_out(one.from.empty(), "for all paths together");
  visit.field("from", one.from, units::none, "Cluster that sends.", path);
  visit.field("to", one.to, units::none, "Cluster that receives.", path);
  visit.field(
      "counted", Word{name_of(one.basis), transfer_basis_names}, units::none,
      "`streams`: streams of the link, each while a frame occupies it. `messages`: messages, "
      "from when the link began to take one until all of it had arrived. `ends`: messages "
      "from sending to arrival, as the two hosts saw it.",
      path);
  visit.field("streams", one.streams, units::count, "Streams of the path.",
              left_out(one.from.empty() || one.streams == 0,
                       "if the number is unlimited or unknown, and for all paths together"));
  visit.field("messages", one.messages, units::count, "Messages.");
  visit.field("bytes", one.bytes, units::bytes, "Bytes of all messages.");
  visit.field("first_begin_nanos", one.first_nanos, units::nanos,
              "Begin of the first transfer, from the begin of the run.");
  visit.field("last_end_nanos", one.last_nanos, units::nanos,
              "End of the last transfer, from the begin of the run.");
  visit.field("durations_nanos", one.used_nanos, units::nanos, "Sum of all durations.");
  visit.field("peak", one.most, units::count, "Most at once.");
  visit.field("mean", one.mean, units::at_once, "Mean over the run.");
  visit.field("mean_from_first_to_last", one.mean_within, units::at_once,
              "Mean from the first begin to the last end.");
  visit.field("mean_until_arrived", one.mean_until_arrived, units::at_once,
              "As `mean`, with the latency, during which a stream is free again.");
  visit.field("share_with_none", one.none_share, units::share,
              "Share of the run in which nothing crossed.");
  visit.field("share_with_some", one.some_share, units::share,
              "Share of the run in which something crossed.");
  visit.field("share_with_all", one.all_share.value_or(0), units::share,
              "Share of the run in which all streams were in use.",
              left_out(!one.all_share, "if the number of streams is unlimited or unknown"));
  visit.field(
      "at_once_nanos_mean_max",
      Mapped(one.points,
             [](const TransferReport::Point& point) {
               return std::tuple(point.begin_nanos, point.mean, point.most);
             }),
      units::at_once,
      "Course over the run: rows of begin in ns, and mean and maximum until the next row. At "
      "most 1024 rows and the end; neighbours are merged if there are more.");
}

struct TransfersReport {
  bool has_several_clusters = false;
  bool has_common_clock = false;
  std::int64_t run_nanos = 0;
  TransferReport all;
  std::vector<TransferReport> paths;
  std::uint64_t late = 0;
};

template <class Visitor>
void describe(Visitor& visit, const TransfersReport& transfers) {
  visit.object("transfers", "Data that crossed between clusters, and how much at once.");
  visit.field("common_clock", transfers.has_common_clock, units::none,
              "True if all hosts share one clock. Otherwise the times are unknown.");
  const Presence known = left_out_if_false("common_clock", transfers.has_common_clock);
  visit.field("run_nanos", transfers.run_nanos, units::nanos,
              "Time from the begin of the first record to the end of the last.", known);
  visit.field("late", transfers.late, units::count,
              "Transfers that arrived after their time was judged, to save memory. Their durations "
              "are in the means, but not in the peaks.",
              known);
  visit.field("all", transfers.all, units::none, "All paths together.", known);
  visit.field("paths", transfers.paths, units::none, "Paths that were used or have streams.",
              known);
}

}  // namespace eventspace
