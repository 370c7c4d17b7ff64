// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/transfers.hpp — number of simultaneous transfers between clusters.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "eventspace/analysis/input/rounds.hpp"
#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/analysis/metrics/step_curve.hpp"
#include "eventspace/analysis/report/transfer_report.hpp"
#include "eventspace/transfer_record.hpp"

namespace eventspace {

/// Counts for each ordered pair of clusters how many transfers are under way at the same time. If
/// the trace has records of the emulated link between the two clusters, the transfers in these
/// records are counted. Otherwise, messages are counted if the trace has records of both their
/// ends.
///
/// Why:   Allgathers over several clusters differ in how they keep the links between clusters busy
///        (Gupta and Vadhiyar 2007, figure 9).
/// Order: Transfers may be added in any order. Their begins and ends are kept in memory. When
///        `changes_max` of them are kept, the older half is evaluated. If a transfer that began in
///        the evaluated time is added later, the curve and the maximum lack the part of the
///        transfer in that time.
/// Clock: All hosts must have one clock. Otherwise no transfers are counted.
class Transfers {
 public:
  Transfers(const Shape& shape, bool has_common_clock, std::size_t changes_max);

  void see(std::int64_t begin_nanos, std::int64_t end_nanos);  ///< includes a span in the run
  /// Returns the begin of the run, as far as the records show it; 0 if there are none.
  std::int64_t run_begin_nanos() const { return begin_nanos_ > end_nanos_ ? 0 : begin_nanos_; }
  /// Requires: the transfer's hosts are in the structure of the trace (not checked).
  void add(const Transfer& transfer);
  void add_link(const EventRecord& record);  ///< adds a message on a path over an emulated link
  void add(const Round& round);
  void add_message(std::uint32_t from_host, std::uint32_t to_host, std::int64_t begin_nanos,
                   std::int64_t end_nanos, std::uint64_t bytes);
  TransfersReport finish();

 private:
  enum class Source : std::uint8_t { link, ends };
  struct Sums {
    std::uint64_t messages = 0, bytes = 0;
    std::int64_t first_nanos = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_nanos = std::numeric_limits<std::int64_t>::min();
    std::int64_t used_nanos = 0;
    std::int64_t arrival_nanos = 0;  // sum of the transfers' times from begin to arrival
    bool has_any() const { return first_nanos <= last_nanos; }
    void add(const Sums& more);
  };
  /// Figures of the transfers from one cluster to another.
  struct Path {
    Path(std::uint32_t from_cluster, std::uint32_t to_cluster, std::uint64_t streams_there,
         std::size_t points_max)
        : from(from_cluster),
          to(to_cluster),
          streams(streams_there),
          curve(points_max, streams_there) {}
    std::uint32_t from, to;
    std::uint64_t streams;
    bool takes_streams = false;
    std::array<Sums, 2> sums;  // sums for each Source
    StepCurve curve;
    Source source() const { return sums[0].has_any() ? Source::link : Source::ends; }
    const Sums& counted() const { return sums[static_cast<std::size_t>(source())]; }
  };
  struct Change {
    std::int64_t at_nanos = 0;
    std::uint32_t path = 0;
    Source source = Source::link;
    bool is_begin = false;
  };
  std::uint32_t path_between(std::uint32_t from, std::uint32_t to);
  std::uint32_t path_of(std::uint32_t from_host, std::uint32_t to_host);
  void add(std::uint32_t path, Source source, std::int64_t begin_nanos, std::int64_t end_nanos,
           std::int64_t arrived_nanos, std::uint64_t bytes, bool ends_message);
  void judge(std::size_t changes);
  TransferReport report_of(const Sums& sums, const StepCurve& curve, std::uint64_t streams) const;
  TransferBasis basis_of(const Path& path) const;
  bool crosses(std::uint32_t from_host, std::uint32_t to_host) const;

  const Shape& shape_;
  const bool is_on_;
  const std::size_t changes_max_;
  const std::size_t points_max_;  // maximum number of points in the curve of a Path
  // Index in paths_ for each pair of clusters.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
  std::vector<Path> paths_;
  // For each Path, the Source whose records are counted. The first judge() after the Path's first
  // transfer chooses the Source.
  std::vector<Source> judged_by_;
  std::vector<Change> changes_;
  std::int64_t judged_to_ = std::numeric_limits<std::int64_t>::min();
  StepCurve all_{transfer_points_max};
  std::int64_t begin_nanos_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_nanos_ = std::numeric_limits<std::int64_t>::min();
  std::uint64_t late_ = 0;
};

}  // namespace eventspace
